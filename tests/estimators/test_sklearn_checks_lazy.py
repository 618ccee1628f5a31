"""scikit-learn's own checks of what a regressor must do."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from allsplits import LazyRegressor


@parametrize_with_checks(
    [
        LazyRegressor(),
        LazyRegressor(degrees=(0, 1, 2), combine=3, penalize_intercept=True, metric="manhattan"),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)
