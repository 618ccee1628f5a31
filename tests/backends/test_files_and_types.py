"""Data in files and of small types: the same answers, no copy of everything, clear refusals."""

import tracemalloc

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, order_neighbors
from allsplits.exceptions import InvalidInputError
from allsplits.orders import Metric, iter_parts, read_points

RNG = np.random.default_rng(4)
X = RNG.integers(0, 9, (600, 5)).astype(np.float32)
Y = (X[:, 0] + RNG.normal(0, 3, 600) > 4).astype(int)
MODEL = KNeighborsClassifier(5)
SMALL_TYPES = ["float32", "float16", "int8", "uint8"]


@pytest.fixture(params=["exact", "faiss", "torch:cpu", "dask"])
def any_backend(request):
    needs = {"faiss": "faiss", "torch:cpu": "torch", "dask": "dask"}.get(request.param, "numpy")
    pytest.importorskip(needs)
    return request.param


@pytest.fixture(scope="module")
def expected():
    return evaluate(MODEL, X.astype(float), Y).sample_scores


def assert_answers(X, y, expected, **options):
    np.testing.assert_array_equal(evaluate(MODEL, X, y, **options).sample_scores, expected)


@pytest.mark.parametrize("dtype", SMALL_TYPES)
def test_a_mapped_file_of_any_type(any_backend, dtype, expected, tmp_path):
    np.save(tmp_path / "X.npy", X.astype(dtype))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_answers(mapped, Y, expected, backend=any_backend)


@pytest.mark.parametrize("part", [slice(50, 400), (slice(None), slice(1, 4)), slice(None, None, 2)])
def test_a_part_of_a_mapped_file(part, tmp_path):
    pytest.importorskip("dask")
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")[part]
    found = order_neighbors(mapped, depth=9, backend="dask")
    here = order_neighbors(np.array(mapped), depth=9, backend="exact")
    np.testing.assert_array_equal(found.flat_indices, here.flat_indices)


def test_changes_that_are_not_in_the_file(tmp_path):
    pytest.importorskip("dask")
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="c")
    mapped[:300] += 2
    found = order_neighbors(mapped, depth=9, backend="dask")
    here = order_neighbors(np.array(mapped), depth=9, backend="exact")
    np.testing.assert_array_equal(found.flat_indices, here.flat_indices)


def test_a_mapped_file_is_never_in_memory_as_a_whole(no_client, tmp_path):
    n, d = 150_000, 64
    file = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (n, d))
    for start in range(0, n, 10_000):
        file[start : start + 10_000] = RNG.standard_normal((10_000, d), dtype=np.float32)
    file.flush()
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    euclidean = Metric.resolve("euclidean")
    order_neighbors(X, depth=9, backend="dask")
    tracemalloc.start()
    try:
        points = read_points(mapped, euclidean)
        blocks = iter_parts(points, euclidean, 10, whole, backend="dask", block_size=32)
        assert next(blocks).parts == (32,)
        blocks.close()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < mapped.nbytes


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_default_search_makes_no_copy_of_a_mapped_file(metric, monkeypatch, tmp_path):
    n, d = 6000, 1500
    np.save(tmp_path / "X.npy", RNG.standard_normal((n, d), dtype=np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    order_neighbors(mapped[:3000], depth=9, metric=metric)
    expected = order_neighbors(mapped[:], depth=9, metric=metric)
    # As with a file that is large beside what may be held.
    monkeypatch.setattr("allsplits.orders.points._HELD_ENTRIES", 0)
    monkeypatch.setattr("allsplits.orders.points._READ_ENTRIES", 1 << 17)
    monkeypatch.setattr("allsplits.orders.proposers.products._TABLE_BYTES", 0)
    tracemalloc.start()
    try:
        found = order_neighbors(mapped, depth=9, metric=metric, n_jobs=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < mapped.nbytes
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    np.testing.assert_array_equal(found.flat_distances, expected.flat_distances)


def whole(order, n_threads):
    return order.n_samples


def test_a_stack_of_files(expected, tmp_path):
    da = pytest.importorskip("dask.array")
    da.to_npy_stack(tmp_path / "stack", da.from_array(X, chunks=(150, -1)))
    assert_answers(da.from_npy_stack(tmp_path / "stack"), Y, expected)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde")).assign(label=Y)
    path = tmp_path_factory.mktemp("parquet") / "data.parquet"
    frame.to_parquet(path, row_group_size=150)
    return str(path)


def test_parquet_by_dask(parquet, expected):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.read_parquet(parquet, split_row_groups=True)
    assert frame.npartitions == 4
    assert_answers(frame[list("abcde")], frame["label"], expected)
    with pytest.raises(InvalidInputError, match=r"numeric.*chunk 0"):
        evaluate(MODEL, frame.assign(text="word"), Y)


def test_parquet_by_polars(parquet, expected):
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(parquet)
    assert_answers(frame.drop("label"), frame["label"], expected)
    lazy = polars.scan_parquet(parquet)
    assert_answers(lazy.drop("label"), lazy.select("label"), expected)
    with pytest.raises(InvalidInputError, match=r"other columns \['text'\]"):
        evaluate(MODEL, lazy.with_columns(text=polars.lit("word")), Y)


def test_chunks_of_different_types(expected):
    da = pytest.importorskip("dask.array")
    types = ["float32", "float64", "int32", "float16"]
    blocks = [da.from_array(X[150 * i : 150 * (i + 1)].astype(t)) for i, t in enumerate(types)]
    assert_answers(da.concatenate(blocks), Y, expected)

    # An array that says it is float32 while its chunks are not.
    def differently(block, block_info=None):
        return block.astype(types[block_info[0]["chunk-location"][0]])

    array = da.from_array(X, chunks=(150, -1)).map_blocks(differently, dtype=np.float32)
    assert_answers(array, Y, expected)


def test_squares_that_float16_cannot_hold(any_backend):
    large = (X * 7000).astype(np.float16)
    with np.errstate(over="ignore"):
        assert np.isinf(large[0] * large[0]).any()
    found = order_neighbors(large, depth=9, backend=any_backend)
    here = order_neighbors(large.astype(float), depth=9, backend="exact")
    np.testing.assert_array_equal(found.flat_indices, here.flat_indices)


def test_float16_that_has_overflowed(any_backend):
    with np.errstate(over="ignore"):
        overflowed = (X * 1e4).astype(np.float16)
    assert np.isinf(overflowed).any()
    with pytest.raises(InvalidInputError, match="infinity"):
        order_neighbors(overflowed, depth=9, backend=any_backend)
