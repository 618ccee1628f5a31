"""What `import allsplits` offers, and what it must not do."""

import subprocess
import sys
from importlib import import_module

import pytest

import allsplits
from allsplits import exceptions

PUBLIC = {
    "ActiveLearner",
    "Bernoulli",
    "Bootstrap",
    "ClassCounts",
    "CMCCurveDisplay",
    "CondensedReduced",
    "CommitteeQuery",
    "Comparison",
    "ComparisonDisplay",
    "ConfusionMatrixDisplay",
    "Curve",
    "DecisionMapDisplay",
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
    "LearningCurveDisplay",
    "LocalModels",
    "LocalPaths",
    "Loss",
    "NeighborOrder",
    "Report",
    "SampleDifficultyDisplay",
    "ThetaScores",
    "Trust",
    "ValidationCurveDisplay",
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
    assert allsplits.__all__ == sorted(set(allsplits.__all__))
    for name in allsplits.__all__:
        assert hasattr(allsplits, name), name


ROOMS = ["active", "boosting", "lazy", "model_selection", "plots", "prototypes", "reports"]


@pytest.mark.parametrize("room", ROOMS)
def test_what_a_room_offers_is_public(room):
    """The rooms below these (orders, splits, exact) have names for each other as well."""
    offered = import_module(f"allsplits.{room}").__all__
    assert sorted(offered) == sorted(set(offered))
    assert set(offered) <= set(allsplits.__all__)
    for name in offered:
        assert getattr(allsplits, name).__module__.startswith(f"allsplits.{room}")


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
