"""What `import allsplits` offers, and what it must not do."""

import subprocess
import sys

import allsplits
from allsplits import exceptions

PUBLIC = {
    "ActiveLearner",
    "Bernoulli",
    "Bootstrap",
    "ClassCounts",
    "CondensedReduced",
    "CommitteeQuery",
    "Comparison",
    "Curve",
    "Episodes",
    "Evaluation",
    "FastCondensed",
    "FixedSize",
    "GreedyClassQuery",
    "IncrementalHistory",
    "IncrementalNNClassifier",
    "Interval",
    "KNeighborsClassifierCV",
    "KNeighborsRegressorCV",
    "LazyRegressor",
    "NeighborOrder",
    "Report",
    "VoronoiComplexity",
    "SearchReport",
    "Simulation",
    "UNNClassifier",
    "UNNClassifierCV",
    "cmc_curve",
    "compare",
    "evaluate",
    "learning_curve",
    "local_constant_path",
    "order_from_graph",
    "order_from_index",
    "order_neighbors",
    "report",
    "simulate",
    "validation_curve",
    "voronoi_complexity",
}


def test_every_promised_name_is_public():
    assert set(allsplits.__all__) >= PUBLIC


def test_all_is_sorted_and_complete():
    names = [name for name in allsplits.__all__ if not name.startswith("__")]
    assert len(names) == len(set(names))
    for name in allsplits.__all__:
        assert hasattr(allsplits, name), name


def test_public_objects_say_where_they_belong_and_what_they_do():
    for name in PUBLIC:
        thing = getattr(allsplits, name)
        assert thing.__module__.startswith("allsplits"), name
        assert thing.__doc__, name


def test_the_version_is_a_version():
    assert allsplits.__version__[0].isdigit()


def test_errors_are_one_family():
    for name in exceptions.__all__:
        family = UserWarning if name.endswith("Warning") else exceptions.AllSplitsError
        assert issubclass(getattr(exceptions, name), family)
    assert issubclass(exceptions.InvalidInputError, ValueError)
    assert issubclass(exceptions.UnsupportedError, ValueError)
    assert issubclass(exceptions.InvalidTypeError, TypeError)
    assert issubclass(exceptions.MissingExtraError, ImportError)


def test_import_is_light_and_silent():
    """No output, and nothing that only some calls need (pandas comes with scikit-learn)."""
    program = (
        "import sys, allsplits;"
        "heavy = {'matplotlib', 'polars', 'torch', 'faiss', 'dask', 'jinja2', 'typer'};"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
