"""What a cluster computes: parts of answers, not orders; whatever happens on the way."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bootstrap, cmc_curve, evaluate, learning_curve, validation_curve
from allsplits.exceptions import InvalidInputError
from allsplits.orders import Metric, iter_parts, read_points

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
cloudpickle = pytest.importorskip("cloudpickle")

RNG = np.random.default_rng(8)
X = RNG.integers(0, 9, (900, 6)).astype(float)
Y = (X[:, 0] + RNG.normal(0, 3, 900) > 4).astype(int)
Y3 = Y + (X[:, 1] > 5)
T = X[:, 0] + RNG.standard_normal(900)
EUCLIDEAN = Metric.resolve("euclidean")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def sent_by_value():
    """Workers do not know this module: what it defines travels whole."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


class CountedPart:
    """Says which process computes, and leaves a line in a file whenever it arrives anywhere."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return arrived, (self.path,)

    def __call__(self, order, n_threads):
        return os.getpid(), order.n_samples


def arrived(path):
    with Path(path).open("a") as lines:
        lines.write(f"{os.getpid()}\n")
    return CountedPart(path)


class ForgetfulPart:
    """Sleeps, so that a worker can be killed while it computes this."""

    def __call__(self, order, n_threads):
        time.sleep(0.1)
        return int(order.flat_indices.sum())


def parts(array, part, **options):
    return iter_parts(read_points(array, EUCLIDEAN), EUCLIDEAN, 10, part, **options)


def test_parts_are_computed_by_the_workers_and_do_not_travel_with_every_task(client, tmp_path):
    path = tmp_path / "arrivals"
    array = da.from_array(X, chunks=(300, -1))
    blocks = list(parts(array, CountedPart(str(path)), block_size=30))
    workers = set(client.run(os.getpid).values())
    assert len(blocks) == 30
    assert {pid for block in blocks for pid, _ in block.parts} <= workers
    assert sum(rows for block in blocks for _, rows in block.parts) == len(X)
    assert all(block.search.backend == "dask" for block in blocks)
    # Not with every task. Once to each worker, and again if dask's memory manager, which looks
    # every two seconds, drops a second copy that nobody waits for.
    arrivals = [int(pid) for pid in path.read_text().splitlines()]
    assert set(arrivals) <= workers
    assert len(arrivals) < len(blocks) / 3


def scores(X):
    """One question to each kind of solver that a cluster may meet."""
    yield evaluate(KNeighborsClassifier(5), X, Y).sample_scores
    few = range(1, 9)
    yield validation_curve(KNeighborsClassifier(), X, Y, n_neighbors=few, cv=KFold(5)).scores
    yield validation_curve(KNeighborsClassifier(), X, Y3, n_neighbors=few).scores
    yield evaluate(KNeighborsClassifier(3), X, Y3, cv=StratifiedKFold(5)).sample_scores
    yield evaluate(KNeighborsClassifier(3), X, Y3, cv=Bootstrap()).sample_scores
    yield evaluate(KNeighborsRegressor(4), X, T).sample_scores
    yield evaluate(KNeighborsClassifier(3, weights=weigh), X, Y3, cv=KFold(5)).sample_scores
    yield learning_curve(KNeighborsClassifier(1), X, Y3, scoring="balanced_accuracy").scores
    yield cmc_curve(X, Y3, ranks=range(1, 4)).scores


def weigh(distances):
    return 1 / (1 + distances)


def test_all_solvers_give_the_same_bits(client):
    for there, here in zip(scores(da.from_array(X, chunks=(400, -1))), scores(X), strict=True):
        np.testing.assert_array_equal(there, here)


def test_a_worker_killed_while_parts_are_computed(client):
    array = da.from_array(X, chunks=(300, -1))
    expected = [block.parts for block in parts(X, ForgetfulPart(), block_size=100)]
    victims = []

    def kill_who_holds_the_part():
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not victims:
            busy = client.processing()
            for worker, keys in client.has_what().items():
                holds = any(str(key).startswith("unpack_part") for key in keys)
                computes = any(str(key).startswith("part_of_blocks") for key in busy[worker])
                if holds and computes:
                    pid = client.run(os.getpid, workers=[worker], nanny=False)[worker]
                    os.kill(pid, signal.SIGKILL)
                    victims.append(pid)
                    return
            time.sleep(0.005)

    killer = threading.Thread(target=kill_who_holds_the_part)
    killer.start()
    found = [block.parts for block in parts(array, ForgetfulPart(), block_size=100)]
    killer.join()
    assert victims, "the search was over before the worker could be killed"
    assert found == expected


def test_a_client_closed_in_the_middle(client):
    array = da.from_array(X, chunks=(100, -1))

    def close_in_the_middle(leaving):
        deadline = time.monotonic() + 20
        while not any(leaving.processing().values()) and time.monotonic() < deadline:
            time.sleep(0.01)
        leaving.close()

    with distributed.Client(client.scheduler.address) as leaving:
        blocks = parts(array, len_of, block_size=20)
        next(blocks)
        closer = threading.Thread(target=close_in_the_middle, args=(leaving,))
        closer.start()
        with pytest.raises(InvalidInputError, match=r"Client must be connected until the end"):
            list(blocks)
        closer.join()


def len_of(order, n_threads):
    return order.n_samples


INTERRUPTED = """
import sys, time, threading, os
import numpy as np
import dask.array as da
from distributed import Client, LocalCluster
from sklearn.neighbors import KNeighborsClassifier
from allsplits import evaluate

def tell_when_busy(client):
    while not any(client.processing().values()):
        time.sleep(0.01)
    print("busy", flush=True)

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            X = da.from_array(rng.standard_normal((40_000, 32)), chunks=(2000, -1))
            y = rng.integers(0, 3, 40_000)
            client.run(lambda: None)
            threading.Thread(target=tell_when_busy, args=(client,), daemon=True).start()
            try:
                evaluate(KNeighborsClassifier(5), X, y)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
                deadline = time.monotonic() + 20
                while any(client.processing().values()) and time.monotonic() < deadline:
                    time.sleep(0.05)
                print("left", sum(map(len, client.processing().values())), flush=True)
            else:
                print("finished", flush=True)
"""


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_ends_the_run_and_the_work_of_the_cluster(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(script)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "busy\n"
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            said = process.stdout.read().splitlines()
            process.wait(30)
        finally:
            process.kill()
    assert said == ["interrupted", "left 0"]


def test_our_bar_moves_with_the_blocks_of_dask(client, capsys):
    evaluate(KNeighborsClassifier(5), da.from_array(X, chunks=(300, -1)), Y, progress=True)
    assert "900/900" in capsys.readouterr().out
