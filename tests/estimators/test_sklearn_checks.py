"""scikit-learn's own checks of what an estimator must do."""

from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from allsplits import KNeighborsClassifierCV


@parametrize_with_checks(
    [
        KNeighborsClassifierCV(n_neighbors=(1, 2)),
        KNeighborsClassifierCV(n_neighbors=(1, 3, 5), cv=KFold(3)),
        KNeighborsClassifierCV(n_neighbors=range(1, 4), cv=KFold(2), metric=("euclidean", "l1")),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)
