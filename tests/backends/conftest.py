"""Fixtures: every backend that is installed, by name, and a cluster of two processes."""

from importlib.util import find_spec

import pytest

NEEDS = {"faiss": "faiss", "torch:cpu": "torch", "dask": "dask", "torch": "torch"}


@pytest.fixture(params=sorted(NEEDS))
def backend(request: pytest.FixtureRequest) -> str:
    """A backend other than the default."""
    name: str = request.param
    if find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    if name == "torch":
        import torch

        if not torch.cuda.is_available():
            pytest.skip("there is no GPU")
    return name


@pytest.fixture(scope="session")
def client():
    """A Client of a real cluster: two worker processes with one thread each."""
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    # How long a worker waits for one that was killed: 30 s if nothing is said.
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "10s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture
def no_client(monkeypatch: pytest.MonkeyPatch):
    """As if there were no Client, whoever started one before: dask works in threads."""
    dask = pytest.importorskip("dask")
    monkeypatch.setattr("allsplits.orders.cluster.dask._current_client", lambda: None)
    with dask.config.set(scheduler="threads"):
        yield
