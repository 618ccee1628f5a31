"""scikit-learn's own checks of what a regressor must do."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from allsplits import KNeighborsRegressorCV


@parametrize_with_checks([KNeighborsRegressorCV(n_neighbors=(1, 3, 5), cv=3)])
def test_estimator_checks(estimator, check):
    check(estimator)
