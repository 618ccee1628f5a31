"""An index is asked only by permission; if it finds everybody, the order is the exact one."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, eye_array
from sklearn.datasets import load_digits
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsTransformer,
    NearestNeighbors,
    kneighbors_graph,
)

from allsplits import (
    evaluate,
    learning_curve,
    order_from_graph,
    order_from_index,
    order_neighbors,
    validation_curve,
)
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError
from allsplits.orders import index as index_file

DIGITS, LABELS = load_digits(return_X_y=True)
RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 6))
Y = (X[:, 0] > 0).astype(int)
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.fixture
def faiss():
    return pytest.importorskip("faiss")


def filled(index, points):
    points = np.asarray(points, dtype=np.float32)
    index.train(points)
    index.add(points)
    return index


def same_order(order, exact):
    np.testing.assert_array_equal(order.indices, exact.indices)
    # The index may work in float32; distances of what it found are those of X.
    np.testing.assert_allclose(order.distances, exact.distances, rtol=1e-12)
    assert order.depth == exact.depth
    assert order.search.backend == "index"
    assert order.search.approximate
    assert "APPROXIMATE" in repr(order)


def recall(order, exact):
    found = [np.isin(a, b).mean() for a, b in zip(exact.indices, order.indices, strict=True)]
    return float(np.mean(found))


class Nndescent:
    """What pynndescent's NNDescent offers, with everybody's true neighbours."""

    def __init__(self, points, n_neighbors, metric="euclidean", compressed=False):
        self.search = NearestNeighbors(n_neighbors=n_neighbors, metric=metric).fit(points)
        self.metric, self.compressed, self.asked = metric, compressed, 0
        self.graph = self.search.kneighbors(points)[::-1]

    @property
    def neighbor_graph(self):
        return self.graph

    def query(self, points, k):
        self.asked += 1
        return self.search.kneighbors(points, k)[::-1]


class TestCompleteIndexes:
    def test_faiss_flat(self, faiss):
        exact = order_neighbors(X, depth=12)
        index = filled(faiss.IndexFlatL2(6), X)
        for points in (X, pd.DataFrame(X), X.tolist()):
            same_order(order_from_index(index, points, depth=12, allow_approximate=True), exact)

    def test_faiss_inner_product_of_unit_rows_is_the_cosine(self, faiss):
        index = filled(faiss.IndexFlatIP(6), UNIT)
        order = order_from_index(index, UNIT, depth=9, allow_approximate=True)
        same_order(order, order_neighbors(UNIT, depth=9, metric="cosine"))

    @pytest.mark.parametrize(("number", "metric"), [(2, "manhattan"), (3, "chebyshev")])
    def test_faiss_metrics_whose_distances_are_taken_over(self, faiss, number, metric):
        index = filled(faiss.IndexFlat(6, number), X)
        order = order_from_index(index, X, depth=9, allow_approximate=True)
        exact = order_neighbors(X, depth=9, metric=metric)
        np.testing.assert_array_equal(order.indices, exact.indices)
        np.testing.assert_allclose(order.distances, exact.distances, rtol=1e-5)

    @pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
    @pytest.mark.parametrize("kind", [NearestNeighbors, KNeighborsTransformer])
    def test_scikit_learn(self, kind, metric):
        index = kind(metric=metric).fit(X)
        order = order_from_index(index, X, depth=9, allow_approximate=True)
        same_order(order, order_neighbors(X, depth=9, metric=metric))

    def test_fitted_with_a_frame(self):
        frame = pd.DataFrame(X).rename(columns=str)
        index = NearestNeighbors().fit(frame)
        order = order_from_index(index, frame, depth=9, allow_approximate=True)
        same_order(order, order_neighbors(X, depth=9))

    def test_float32_points_get_distances_in_float64(self):
        single = X.astype(np.float32)
        order = order_from_index(
            NearestNeighbors().fit(single), single, depth=9, allow_approximate=True
        )
        same_order(order, order_neighbors(single, depth=9))

    def test_the_shape_of_pynndescent(self):
        exact = order_neighbors(X, depth=9)
        wide, narrow = Nndescent(X, 10), Nndescent(X, 5)
        packed = Nndescent(X, 10, compressed=True)
        for index, asked in ((wide, 0), (narrow, 1), (packed, 1)):
            same_order(order_from_index(index, X, depth=9, allow_approximate=True), exact)
            assert index.asked == asked

    def test_blocks_make_no_difference(self, monkeypatch):
        monkeypatch.setattr(index_file, "_ENTRIES_PER_BLOCK", 1)
        order = order_from_index(NearestNeighbors().fit(X), X, depth=9, allow_approximate=True)
        same_order(order, order_neighbors(X, depth=9))

    def test_ties_among_the_found_are_ties(self):
        points = np.array([[0.0], [0.1], [0.2], [0.3], [0.4]])
        index = NearestNeighbors().fit(points)
        order = order_from_index(index, points, depth=4, allow_approximate=True)
        exact = order_neighbors(points)
        for row in range(5):
            ours = [list(group) for group in order.tie_groups(row)]
            assert ours == [list(group) for group in exact.tie_groups(row)]


class TestRealApproximateIndexes:
    def check(self, index, at_least, within):
        exact = order_neighbors(DIGITS, depth=40)
        order = order_from_index(index, DIGITS, depth=40, allow_approximate=True)
        assert at_least <= recall(order, exact) < 1
        # Nobody who is found can be nearer than who is there.
        assert np.all(order.distances >= exact.distances - 1e-9)
        model = KNeighborsClassifier(5)
        result, truth = evaluate(model, order, LABELS), evaluate(model, DIGITS, LABELS)
        assert result.search.approximate
        assert "APPROXIMATE" in repr(result)
        assert not truth.search.approximate
        assert result.score == pytest.approx(truth.score, abs=within)
        curve = validation_curve(model, order, LABELS, n_neighbors=[1, 3])
        assert "APPROXIMATE" in repr(curve)

    def test_faiss_hnsw(self, faiss):
        index = faiss.IndexHNSWFlat(64, 8)
        index.hnsw.efSearch = 41
        self.check(filled(index, DIGITS), 0.9, 0.002)

    def test_faiss_ivf(self, faiss):
        index = filled(faiss.index_factory(64, "IVF16,Flat"), DIGITS)
        index.nprobe = 4
        self.check(index, 0.9, 0.005)

    def test_faiss_codes_that_know_distances_roughly(self, faiss):
        self.check(filled(faiss.index_factory(64, "SQ4"), DIGITS), 0.8, 0.005)

    def test_hnswlib(self):
        hnswlib = pytest.importorskip("hnswlib")
        for space, metric in (("l2", "euclidean"), ("cosine", "cosine")):
            index = hnswlib.Index(space=space, dim=6)
            index.init_index(300)
            index.add_items(X)
            index.set_ef(300)
            order = order_from_index(index, X, depth=9, allow_approximate=True)
            same_order(order, order_neighbors(X, depth=9, metric=metric))
        index = hnswlib.Index(space="ip", dim=6)
        index.init_index(300)
        index.add_items(X)
        with pytest.raises(UnsupportedError, match="no distance"):
            order_from_index(index, X, depth=9, allow_approximate=True)

    def test_pynndescent(self):
        pynndescent = pytest.importorskip("pynndescent")
        index = pynndescent.NNDescent(DIGITS, n_neighbors=41, random_state=0)
        self.check(index, 0.98, 0.001)


class TestRefusals:
    def test_it_is_a_decision(self):
        index = NearestNeighbors().fit(X)
        for given in ({}, {"allow_approximate": False}, {"allow_approximate": 1}):
            with pytest.raises(UnsupportedError, match="allow_approximate must be True"):
                order_from_index(index, X, depth=5, **given)

    @pytest.mark.parametrize("index", [X, None, "HNSW", SimpleNamespace(kneighbors=1), [X, X]])
    def test_not_an_index(self, index):
        with pytest.raises(InvalidTypeError, match="index must be"):
            order_from_index(index, X, depth=5, allow_approximate=True)

    @pytest.mark.parametrize("depth", [0, 300, -1])
    def test_a_depth_that_cannot_be(self, depth):
        with pytest.raises(InvalidInputError, match="depth must be"):
            order_from_index(NearestNeighbors().fit(X), X, depth=depth, allow_approximate=True)

    @pytest.mark.parametrize(
        ("index", "words"),
        [
            (NearestNeighbors().fit(X[:200]), "300 rows"),
            (NearestNeighbors().fit(X[:, :2]), "6 features"),
            (NearestNeighbors(), "not fitted"),
            (NearestNeighbors().fit(X[::-1]), "in their order"),
        ],
    )
    def test_other_data(self, index, words):
        with pytest.raises(InvalidInputError, match=words):
            order_from_index(index, X, depth=5, allow_approximate=True)

    def test_precomputed_distances(self):
        index = NearestNeighbors(metric="precomputed").fit(np.zeros((300, 300)))
        with pytest.raises(UnsupportedError, match="order_neighbors"):
            order_from_index(index, X, depth=5, allow_approximate=True)

    def test_faiss(self, faiss):
        with pytest.raises(UnsupportedError, match="length 1"):
            order_from_index(filled(faiss.IndexFlatIP(6), X), X, depth=5, allow_approximate=True)
        with pytest.raises(UnsupportedError, match="metric_type"):
            order_from_index(
                filled(faiss.IndexFlat(6, faiss.METRIC_Canberra), X), X, depth=5,
                allow_approximate=True,
            )  # fmt: skip
        with pytest.raises(InvalidInputError, match="300 rows"):
            order_from_index(faiss.IndexFlatL2(6), X, depth=5, allow_approximate=True)
        index = faiss.IndexIDMap(faiss.IndexFlatL2(6))
        index.add_with_ids(X.astype(np.float32), np.arange(300) + 1000)
        with pytest.raises(InvalidInputError, match="0 to 299; got"):
            order_from_index(index, X, depth=5, allow_approximate=True)

    def test_an_index_that_finds_too_few(self, faiss):
        index = filled(faiss.index_factory(64, "IVF64,Flat"), DIGITS)
        with pytest.raises(InvalidInputError, match="nprobe"):
            order_from_index(index, DIGITS, depth=100, allow_approximate=True)

    def test_numbers_that_float32_cannot_hold(self, faiss):
        index = filled(faiss.IndexFlatL2(6), X)
        with pytest.raises(InvalidInputError, match="float32"):
            order_from_index(index, X * 1e100, depth=5, allow_approximate=True)

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            ((np.full((300, 3), -1.0), np.tile([0, 1, 2], (300, 1))), "themselves"),
            ((np.ones((300, 2)), np.ones((300, 3), int)), "shape"),
            ((np.ones((5, 3)), np.ones((5, 3), int)), "shape"),
            (None, "says"),
        ],
    )
    def test_strange_answers(self, answer, words):
        class Strange:
            def kneighbors(self, points, n_neighbors):
                return answer

        with pytest.raises(InvalidInputError, match=words):
            order_from_index(Strange(), X, depth=2, allow_approximate=True)

    @pytest.mark.parametrize(
        ("sign", "other", "words"), [(-1.0, 2, "≥ 0"), (np.nan, 2, "finite"), (1.0, 1, "twice")]
    )
    def test_similarities_and_twins(self, sign, other, words):
        class Strange:
            def kneighbors(self, points, n_neighbors):
                rows = np.arange(300)
                columns = [rows, (rows + 1) % 300, (rows + other) % 300]
                return np.full((300, 3), sign), np.stack(columns, axis=1)

        with pytest.raises(InvalidInputError, match=words):
            order_from_index(Strange(), X, depth=2, allow_approximate=True)


class TestInPlaceOfSamples:
    """An index or a graph where samples belong: the error names the right call."""

    FUNCTIONS = (
        lambda given: evaluate(KNeighborsClassifier(), given, Y),
        lambda given: validation_curve(KNeighborsClassifier(), given, Y),
        lambda given: learning_curve(KNeighborsClassifier(), given, Y),
        lambda given: order_neighbors(given, depth=5),
    )

    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_an_index(self, function, faiss):
        for index in (filled(faiss.IndexFlatL2(6), X), KNeighborsTransformer().fit(X)):
            with pytest.raises(InvalidTypeError, match=r"order_from_index\(index, X"):
                function(index)
        with pytest.raises(InvalidTypeError, match=r"index Nndescent: .* order_from_index"):
            function(Nndescent(X, 5))

    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_a_graph(self, function):
        for graph in (
            kneighbors_graph(X, 5, mode="distance"),
            KNeighborsTransformer(n_neighbors=5).fit_transform(X),
        ):
            with pytest.raises(InvalidInputError, match=r"order_from_graph\(graph.*toarray"):
                function(graph)

    def test_a_graph_as_precomputed_distances(self):
        graph = kneighbors_graph(X, 100, mode="distance")
        with pytest.raises(InvalidInputError, match="order_from_graph"):
            evaluate(KNeighborsClassifier(metric="precomputed"), graph, Y)
        # The call that the error names gives what the distances themselves give.
        order = order_from_graph(graph, allow_approximate=True)
        model = KNeighborsClassifier(5)
        truth = evaluate(model, X, Y)
        assert evaluate(model, order, Y).score == pytest.approx(truth.score, abs=1e-12)

    def test_sparse_samples_are_samples(self):
        same = order_neighbors(X, depth=5)
        np.testing.assert_array_equal(order_neighbors(csr_array(X), depth=5).indices, same.indices)
        assert order_neighbors(eye_array(5, format="csr"), depth=2).n_samples == 5
