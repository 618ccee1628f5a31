"""`allsplits replay`: the numbers of the library, and where runs land."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from allsplits import replay
from allsplits.cli.replay import strip_of_dots
from cli.command import iris_frame, refused, run, write

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    return write(iris_frame(), tmp_path_factory.mktemp("replay") / "iris.csv")


def test_it_says_what_the_library_says(iris):
    expected = replay(
        KNeighborsClassifier(3), X, Y, scoring="f1_macro", n_splits=100, random_state=2
    )
    asked = ("-t", "species", "-k", "3", "--scoring", "f1_macro", "--splits", "100", "--seed", "2")
    document = json.loads(run("replay", iris, *asked, "--json").out)
    assert document["mean"] == pytest.approx(expected.mean, abs=1e-12)
    assert document["standard_error"] == pytest.approx(expected.standard_error)
    assert document["quantiles"]["0.5"]["value"] == pytest.approx(expected.quantile(0.5).value)
    assert (document["n_runs"], document["n_folds"], document["exact"]) == (20, 5, False)


def test_words_and_the_strip(iris):
    text = run("replay", iris, "-t", "species", "--splits", "200").out
    assert "on average over all splits, exactly" in text
    assert "Where single runs of 5 folds land; | is the mean." in text
    [strip] = [line for line in text.splitlines() if "|" in line and "mean" not in line]
    assert set(strip) <= set(" .:oO@|")


def test_the_strip_has_the_mean_in_its_place():
    strip = strip_of_dots(np.array([0.0, 0.0, 0.0, 1.0]), 0.25)
    assert (strip[0], strip[-1], strip.index("|"), len(strip)) == ("@", ":", 18, 72)


def test_scores_that_are_none(iris):
    assert "get_scorer_names" in refused("replay", iris, "-t", "species", "--scoring", "f2")
