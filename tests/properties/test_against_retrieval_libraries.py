"""Full galleries: the scores of retrieval are those of pytorch-metric-learning and torchmetrics."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, evaluate, retrieval_curve

KNN = KNeighborsClassifier(1)
#: Names of AccuracyCalculator, which are understood as they are.
OF_CALCULATOR = [
    "precision_at_1",
    "r_precision",
    "mean_average_precision",
    "mean_average_precision_at_r",
    "mean_reciprocal_rank",
]
OF_TORCHMETRICS = {
    "map": ("RetrievalMAP", {}),
    "mrr": ("RetrievalMRR", {}),
    "mrr@3": ("RetrievalMRR", {"top_k": 3}),
    "precision@5": ("RetrievalPrecision", {"top_k": 5}),
    "item_recall@7": ("RetrievalRecall", {"top_k": 7}),
    "recall@2": ("RetrievalHitRate", {"top_k": 2}),
    "r_precision": ("RetrievalRPrecision", {}),
    "ndcg": ("RetrievalNormalizedDCG", {}),
    "ndcg@10": ("RetrievalNormalizedDCG", {"top_k": 10}),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 150)
    return rng.normal(size=(150, 4)) + y[:, None] / 3, y


def queries_and_gallery(data):
    X, y = data
    return (X[:100], y[:100]), (X[100:], y[100:])


@pytest.mark.parametrize("scoring", OF_CALCULATOR)
@pytest.mark.parametrize("outside", [False, True])
def test_accuracy_calculator(data, scoring, outside):
    torch = pytest.importorskip("torch", reason="pytorch-metric-learning needs torch")
    calculators = pytest.importorskip(
        "pytorch_metric_learning.utils.accuracy_calculator",
        reason="pytorch-metric-learning is not installed",
    )
    (X, y), (asked, labels) = queries_and_gallery(data)
    options = {"X_test": asked, "y_test": labels} if outside else {}
    found = evaluate(KNN, X, y, cv=FixedSize(100 if outside else 99), scoring=scoring, **options)

    def neighbors(query, k, reference, ref_includes_query):
        order = torch.cdist(query, reference).argsort(dim=1)
        first = 1 if ref_includes_query else 0
        return None, order[:, first : first + k]

    calculator = calculators.AccuracyCalculator(
        include=tuple(OF_CALCULATOR), k=None, knn_func=neighbors, device=torch.device("cpu")
    )
    reference = (torch.tensor(X), torch.tensor(y))
    query = (torch.tensor(asked), torch.tensor(labels)) if outside else reference
    theirs = calculator.get_accuracy(
        *query, *reference, ref_includes_query=not outside
    )[scoring]  # fmt: skip
    # Their reciprocal ranks are in float32.
    off = 1e-7 if scoring == "mean_reciprocal_rank" else 1e-12
    assert found.score == pytest.approx(theirs, abs=off)


@pytest.mark.parametrize("scoring", OF_TORCHMETRICS)
@pytest.mark.parametrize("outside", [False, True])
def test_torchmetrics(data, scoring, outside):
    torch = pytest.importorskip("torch", reason="torchmetrics needs torch")
    retrieval = pytest.importorskip(
        "torchmetrics.retrieval", reason="torchmetrics is not installed"
    )
    (X, y), (asked, labels) = queries_and_gallery(data)
    options = {"X_test": asked, "y_test": labels} if outside else {}
    found = evaluate(KNN, X, y, cv=FixedSize(100 if outside else 99), scoring=scoring, **options)

    query, of_query = (asked, labels) if outside else (X, y)
    distances = np.linalg.norm(query[:, None] - X[None], axis=2)
    numbers, others = np.indices(distances.shape)
    keep = np.ones_like(distances, dtype=bool) if outside else numbers != others
    name, parameters = OF_TORCHMETRICS[scoring]
    metric = getattr(retrieval, name)(**parameters)
    theirs = metric(
        torch.tensor(1 / (1 + distances[keep])),
        torch.tensor((of_query[:, None] == y[None])[keep]),
        indexes=torch.tensor(numbers[keep]),
    )
    assert found.score == pytest.approx(float(theirs), abs=2e-6)  # theirs is in float32


def test_the_curve_has_the_full_gallery_by_default(data):
    (X, y), (asked, labels) = queries_and_gallery(data)
    curve = retrieval_curve(X, y, ranks=[1, 5])
    expected = [
        evaluate(KNN, X, y, cv=FixedSize(99), scoring=f"precision@{k}").score for k in (1, 5)
    ]
    np.testing.assert_allclose(curve.scores, expected, atol=1e-14)
    curve = retrieval_curve(X, y, ranks=[5], X_test=asked, y_test=labels)
    options = {"X_test": asked, "y_test": labels, "cv": FixedSize(100), "scoring": "precision@5"}
    assert curve.scores[0] == pytest.approx(evaluate(KNN, X, y, **options).score, abs=1e-14)
