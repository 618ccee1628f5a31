"""scikit-learn's own checks of the boosted classifiers, several labels included."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from allsplits import UNNClassifier, UNNClassifierCV

#: (1 + h)/2 is a probability only after it is cut to [0, 1], where certain votes become equal.
CUT_TO_THE_UNIT_INTERVAL = (
    "check_classifier_multioutput",
    "check_classifiers_multilabel_output_format_predict_proba",
)


def expected_failures(estimator):
    if estimator.loss != "squared":
        return {}
    return dict.fromkeys(CUT_TO_THE_UNIT_INTERVAL, "certain votes of the squared loss are equal")


@parametrize_with_checks(
    [
        UNNClassifier(),
        UNNClassifier(n_neighbors=3, theta=0.4),
        UNNClassifier(n_neighbors=3, chooser="longest step", normalize_weights=False),
        UNNClassifier(n_neighbors=3, loss="logistic", chooser="lazy", random_state=0),
        UNNClassifier(n_neighbors=3, loss="squared", chooser="longest step once", tol=1e-6),
        UNNClassifierCV(n_neighbors=(1, 3), theta=(0.5, 1.0), cv=2),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimator_checks(estimator, check):
    check(estimator)
