"""Sparse samples everywhere: the answers of dense ones, in memory that dense ones would not fit."""

import inspect
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from tests.backends.sparse_calls import HANDED_ON, NEED_DENSE, STAY_SPARSE, TAKE_DENSE, Data

import allsplits
from allsplits import KNeighborsClassifierCV, evaluate
from allsplits.exceptions import AllSplitsError, InvalidInputError, InvalidTypeError

RNG = np.random.default_rng(1)
N, N_NEW, D = 90, 25, 40


def counts(n):
    table = RNG.integers(1, 4, (n, D)).astype(float)
    found = np.where(RNG.random((n, D)) < 0.15, table, 0.0)
    found[3] = 0
    return found


X, Z = counts(N), counts(N_NEW)
Z[5:9] = X[5:9]
Y, Y_NEW = RNG.integers(0, 3, N), RNG.integers(0, 3, N_NEW)


@pytest.fixture
def never_dense(monkeypatch):
    """Whatever is sparse is large: it stays so, or it is refused."""
    monkeypatch.setattr("allsplits.orders.sparse_points._MADE_DENSE", 0)
    monkeypatch.setattr("allsplits._validation.points._LARGEST_DENSE", 0)


def assert_same(found, expected, metric):
    for one, other in zip(found, expected, strict=True):
        if metric == "cosine" and np.asarray(other).dtype.kind == "f":
            # Lengths are summed in another order, which distances and their weights show.
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
        else:
            np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module")
def expected():
    known = {}

    def of(name, metric):
        if (name, metric) not in known:
            known[name, metric] = STAY_SPARSE[name](Data(X, Y, Z, Y_NEW, metric))
        return known[name, metric]

    return of


BOTH = pytest.mark.parametrize("metric", ["euclidean", "cosine"])


@BOTH
@pytest.mark.parametrize("name", STAY_SPARSE)
def test_small_ones_are_made_dense(name, metric, expected):
    data = Data(sparse.csr_matrix(X), Y, sparse.coo_array(Z), Y_NEW, metric)
    assert_same(STAY_SPARSE[name](data), expected(name, metric), metric)


@BOTH
@pytest.mark.parametrize("name", STAY_SPARSE)
def test_large_ones_stay_sparse(name, metric, expected, never_dense):
    data = Data(sparse.csc_array(X), Y, sparse.csr_matrix(Z), Y_NEW, metric)
    assert_same(STAY_SPARSE[name](data), expected(name, metric), metric)


@BOTH
@pytest.mark.parametrize("name", STAY_SPARSE)
def test_one_sparse_and_one_dense(name, metric, expected, never_dense):
    for data in (Data(sparse.csr_array(X), Y, Z, Y_NEW), Data(X, Y, sparse.csr_array(Z), Y_NEW)):
        found = STAY_SPARSE[name](data._replace(metric=metric))
        assert_same(found, expected(name, metric), metric)


def test_no_call_is_forgotten():
    """A public name that takes X is in one of the tables."""
    tables = {**STAY_SPARSE, **NEED_DENSE, **TAKE_DENSE}
    known = {name.strip() for names in tables for name in names.split(",")} | HANDED_ON
    for name in allsplits.__all__:
        offered = getattr(allsplits, name)
        calls = [offered] if inspect.isfunction(offered) else []
        if inspect.isclass(offered):
            members = inspect.getmembers(offered, callable)
            calls = [call for word, call in members if not word.startswith(("_", "set_"))]
        for call in calls:
            try:
                parameters = inspect.signature(call).parameters
            except ValueError:
                continue
            if {"X", "X_test", "evaluation_or_X"} & set(parameters):
                assert name in known, f"{name}.{call.__name__}"


@pytest.mark.parametrize("name", NEED_DENSE)
def test_what_needs_dense_rows_says_so(name, never_dense):
    data = Data(sparse.csr_array(X), Y, sparse.csr_array(Z), Y_NEW)
    with pytest.raises(InvalidInputError, match=r"X must have at most .* made dense.*TruncatedSVD"):
        NEED_DENSE[name](data)


@pytest.mark.parametrize("name", sorted(set(NEED_DENSE) - {"voronoi_complexity"}))
def test_what_needs_dense_rows_makes_small_ones_dense(name):
    NEED_DENSE[name](Data(sparse.csr_array(X), Y, sparse.csr_array(Z), Y_NEW))


@pytest.mark.parametrize("name", TAKE_DENSE)
def test_what_takes_dense_rows_only(name):
    words = rf"X must be dense for {name}.*got a sparse one of shape \(90, 40\): pass X.toarray"
    with pytest.raises(InvalidTypeError, match=words):
        TAKE_DENSE[name](Data(sparse.csr_array(X), Y, sparse.csr_array(Z), Y_NEW))


# ---------------------------------------------------------------- how values may be stored


def explicit_zeros(table):
    found = sparse.csr_array(np.where(table == 0, 7.0, table))
    found.data[found.data == 7.0] = 0.0
    return found


def negative_zeros(table):
    found = explicit_zeros(table)
    found.data[found.data == 0.0] = -0.0
    return found


def unsorted(table):
    found = sparse.csr_array(table)
    for i in range(len(table)):
        row = slice(found.indptr[i], found.indptr[i + 1])
        found.indices[row] = found.indices[row][::-1]
        found.data[row] = found.data[row][::-1]
    found.has_sorted_indices = False
    return found


def in_parts(table):
    """Every value is stored in two parts, which do not stand beside each other."""
    row, column = np.nonzero(table)
    value = table[row, column]
    places = np.tile(row, 2), np.tile(column, 2)
    return sparse.coo_matrix(
        (np.concatenate([value - 1, np.ones_like(value)]), places), table.shape
    )


def in_parts_of_rows(table):
    found = in_parts(table)
    order = np.argsort(found.row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(found.row, minlength=len(table)))])
    return sparse.csr_matrix((found.data[order], found.col[order], indptr), table.shape)


STORED = {
    "explicit zeros": explicit_zeros,
    "negative zeros": negative_zeros,
    "unsorted": unsorted,
    "in parts": in_parts,
    "in parts of rows": in_parts_of_rows,
    "int64": lambda table: sparse.csr_array(table.astype(np.int64)),
    "uint8": lambda table: sparse.csc_matrix(table.astype(np.uint8)),
    "float32": lambda table: sparse.csr_matrix(table.astype(np.float32)),
    "bsr": sparse.bsr_array,
    "lil": sparse.lil_matrix,
    "64-bit columns": lambda table: _with_long_columns(sparse.csr_array(table)),
}


def _with_long_columns(found):
    found.indices, found.indptr = found.indices.astype(np.int64), found.indptr.astype(np.int64)
    return found


@BOTH
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", STORED)
def test_however_values_are_stored(name, large, metric, expected, request):
    if large:
        request.getfixturevalue("never_dense")
    given, asked = STORED[name](X), STORED[name](Z)
    before = given.copy()
    data = Data(given, Y, asked, Y_NEW, metric)
    for call in ("evaluate, X_test", "KNeighborsClassifierCV", "order_neighbors"):
        assert_same(STAY_SPARSE[call](data), expected(call, metric), metric)
    assert (before != given).nnz == 0
    assert before.nnz == given.nnz


@pytest.mark.parametrize("large", [False, True])
def test_parts_are_added_up_in_their_own_type(large, request):
    """As `toarray` does it: 200 + 100 is 44 in uint8."""
    if large:
        request.getfixturevalue("never_dense")
    values = np.array([200, 100, 30, 50], np.uint8)
    given = sparse.coo_array((values, ([0, 0, 1, 2], [1, 1, 1, 1])), (3, 2))
    found = allsplits.order_neighbors(given)
    np.testing.assert_array_equal(
        found.distances, allsplits.order_neighbors(given.toarray()).distances
    )


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("n_features", [1, 2])
def test_few_columns(large, n_features, request):
    if large:
        request.getfixturevalue("never_dense")
    narrow = X[:, :n_features], Z[:, :n_features]
    for metric in ("euclidean", "cosine"):
        data = Data(narrow[0], Y, narrow[1], Y_NEW, metric)
        stored = data._replace(X=sparse.csr_array(narrow[0]), Z=sparse.csr_array(narrow[1]))
        for call in ("evaluate, X_test", "KNeighborsClassifierCV"):
            assert_same(STAY_SPARSE[call](stored), STAY_SPARSE[call](data), metric)


@pytest.mark.parametrize("large", [False, True])
def test_what_cannot_be_right_is_refused(large, request):
    if large:
        request.getfixturevalue("never_dense")
    model, stored = KNeighborsClassifierCV(range(1, 4)), sparse.csr_array(X)
    fitted = KNeighborsClassifierCV(range(1, 4)).fit(stored, Y)
    with pytest.raises(ValueError, match="40 features"):
        fitted.predict(sparse.csr_array(Z[:, :39]))
    knn = Data(X, Y, Z, Y_NEW).knn()
    with pytest.raises(InvalidInputError, match="X_test must have 40 features as X has; got 41"):
        evaluate(knn, stored, Y, X_test=sparse.csr_array((N_NEW, 41)), y_test=Y_NEW)
    for value in (np.nan, np.inf):
        bad = stored.copy()
        bad.data[7] = value
        for call in (
            lambda bad=bad: model.fit(bad, Y),
            lambda bad=bad: fitted.predict(bad),
            lambda bad=bad: evaluate(knn, bad, Y),
            lambda bad=bad: evaluate(knn, stored, Y, X_test=bad, y_test=Y),
        ):
            with pytest.raises((AllSplitsError, ValueError), match=r"NaN|infinity"):
                call()
    with pytest.raises((AllSplitsError, ValueError), match=r"[Cc]omplex|numeric"):
        evaluate(knn, stored.astype(complex), Y)


# ---------------------------------------------------------------- memory


def words(n, n_features, seed):
    """Rows of 30 words among very many."""
    rng = np.random.default_rng(seed)
    columns = (n_features * rng.random(30 * n) ** 3).astype(np.int64)
    rows = np.repeat(np.arange(n), 30)
    return sparse.csr_array((np.ones(30 * n), (rows, columns)), (n, n_features))


def peak_of(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "name",
    ["evaluate, X_test", "KNeighborsClassifierCV", "CommitteeQuery", "UNNClassifier", "report"],
)
def test_memory_is_bounded(name):
    """600 rows of two million features: dense ones would take 10 GB."""
    data = Data(words(600, 1 << 21, 0), np.arange(600) % 3, words(200, 1 << 21, 1),
                np.arange(200) % 3, "cosine")  # fmt: skip
    assert peak_of(lambda: STAY_SPARSE[name](data)) < 300


def test_memory_of_sparse_questions_to_dense_samples():
    """Questions that would take 640 MB are read a block at a time."""
    samples, asked = words(10, 200_000, 2).toarray(), words(400, 200_000, 3)
    data = Data(samples, np.arange(10) % 2, asked, np.arange(400) % 2)
    options = {"X_test": asked, "y_test": data.z}
    beside = samples.nbytes / 2**20
    assert peak_of(lambda: evaluate(data.knn(), samples, data.y, **options)) < 150 + 3 * beside
