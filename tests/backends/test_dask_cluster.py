"""dask arrays on a real cluster of processes: same answers, also when a worker is killed."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, order_neighbors
from allsplits.exceptions import InvalidInputError, UnsupportedError

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(2)
X = RNG.integers(0, 30, (3000, 12)).astype(float)
Y = (X[:, 0] + RNG.normal(0, 6, 3000) > 15).astype(int)

pytestmark = pytest.mark.filterwarnings("ignore")


def assert_same(found, expected):
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    np.testing.assert_array_equal(found.tied, expected.tied)


def test_a_cluster_gives_the_same_order_and_scores(client):
    array = da.from_array(X, chunks=(700, 5))
    found = order_neighbors(array, depth=20)
    assert_same(found, order_neighbors(X, depth=20, backend="exact"))
    assert found.search.backend == "dask"
    model = KNeighborsClassifier(5)
    there, here = evaluate(model, array, Y), evaluate(model, X, Y)
    np.testing.assert_array_equal(there.sample_scores, here.sample_scores)
    assert there.search.backend == "dask"


def test_a_mapped_file_is_read_by_the_workers(client, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = order_neighbors(mapped, depth=20, backend="dask", block_size=400)
    assert_same(found, order_neighbors(X, depth=20, backend="exact"))


def test_a_killed_worker_changes_nothing(client):
    array = da.from_array(X, chunks=(500, -1))
    expected = order_neighbors(X, depth=30, backend="exact")
    victim = next(iter(client.run(os.getpid).values()))
    killed = threading.Event()

    def kill_in_the_middle():
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            busy = client.processing()
            held = client.has_what()
            if any(busy.values()) and all(len(keys) > 0 for keys in held.values()):
                os.kill(victim, signal.SIGKILL)
                killed.set()
                return
            time.sleep(0.005)

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    found = order_neighbors(array, depth=30, block_size=100)
    killer.join()
    assert killed.is_set(), "the search was over before the worker could be killed"
    assert victim not in client.run(os.getpid).values()
    assert_same(found, expected)


def test_stopping_early_cancels_what_the_cluster_works_on(client):
    from allsplits.orders import Metric, iter_parts, read_points
    from allsplits.orders.protocol import whole_order

    metric = Metric.resolve("euclidean")
    points = read_points(da.from_array(X, chunks=(500, -1)), metric)
    blocks = iter_parts(points, metric, 20, whole_order, block_size=50)
    next(blocks)
    blocks.close()
    # What has begun is not cut off: a worker that was just restarted may take its time.
    deadline = time.monotonic() + 60
    while any(client.processing().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(client.processing().values())


def test_data_of_a_client_that_has_gone():
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as gone,
    ):
        array = gone.persist(da.from_array(X[:100], chunks=(50, -1)))
        distributed.wait(array)
    with pytest.raises(InvalidInputError, match="Client that has gone"):
        order_neighbors(array, depth=5)


def test_without_a_client_threads_do_it(no_client):
    array = da.from_array(X[:400].astype(np.float32), chunks=(150, -1))
    found = order_neighbors(array, depth=7)
    assert_same(found, order_neighbors(X[:400], depth=7, backend="exact"))


def test_a_data_frame_of_dask():
    dd = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = dd.from_pandas(pandas.DataFrame(X[:300]), npartitions=3)
    found = order_neighbors(frame, depth=4)
    assert_same(found, order_neighbors(X[:300], depth=4, backend="exact"))


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (lambda: da.from_array(np.array([["a", "b"], ["c", "d"]])), "numeric"),
        (lambda: da.from_array(np.array([[0.0, np.inf], [1, 2]])), "infinity.*chunk 0"),
        (lambda: da.from_array(X[0]), "shape"),
        (lambda: da.from_array(X[:1]), "at least 2 samples"),
        (
            lambda: da.concatenate(
                [da.from_array(X[:9]), da.from_array(X[:9]).map_blocks(_as_text, dtype=float)]
            ),
            "numeric.*chunk 1",
        ),
        (lambda: da.from_array(np.full((4, 2), 6e4, np.float16)) * np.float16(2), "infinity"),
    ],
)
def test_bad_dask_arrays(array, words):
    with pytest.raises(InvalidInputError, match=words):
        order_neighbors(array())


def test_chunks_of_unknown_length():
    array = da.from_array(X, chunks=(500, -1))
    array = array[array[:, 0] > 3]
    with pytest.raises(InvalidInputError, match="compute_chunk_sizes"):
        order_neighbors(array)


def _as_text(block):
    return block.astype(str)


def test_a_dask_array_needs_the_dask_backend():
    with pytest.raises(InvalidInputError, match="'auto' or 'dask'"):
        order_neighbors(da.from_array(X[:50]), backend="exact")
    with pytest.raises(UnsupportedError, match="precomputed"):
        order_neighbors(da.from_array(X[:12, :12]), metric="precomputed")
