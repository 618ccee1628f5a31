"""scikit-learn's own checks: a learner whose samples all have labels is a classifier."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from allsplits import ActiveLearner


def not_meant(estimator):
    return {"check_supervised_y_no_nan": "NaN in y is a missing label, which is what it is for"}


@parametrize_with_checks(
    [ActiveLearner(n_neighbors=(1, 2, 3), tune_leave_out=2), ActiveLearner(1)],
    expected_failed_checks=not_meant,
)
def test_estimator_checks(estimator, check):
    check(estimator)
