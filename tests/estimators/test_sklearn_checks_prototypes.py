"""scikit-learn's own checks of the prototype classifiers."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from allsplits import CondensedReduced, FastCondensed, IncrementalNNClassifier


@parametrize_with_checks(
    [
        CondensedReduced(),
        CondensedReduced(reduce="paper", shuffle=True, random_state=0),
        FastCondensed(),
        IncrementalNNClassifier(random_state=0),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)
