"""The spread in one sentence, beside a score."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneGroupOut, LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bootstrap, Episodes, FixedSize, SplitSpread, evaluate
from allsplits.model_selection._spreads import spread_in_passing
from allsplits.replays import spread


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 2)), np.arange(40) % 2


@pytest.mark.parametrize(
    ("cv", "k", "words"),
    [
        (KFold(4), 1, ["A single shuffled 4-fold cross-validation", "over all of them"]),
        (KFold(4), 3, ["A single shuffled 4-fold cross-validation", "sampled from 1,000"]),
        (FixedSize(20), 3, ["A single random split", "over all of them"]),
        (Episodes(2, 1), 1, ["A single episode", "sampled from 1,000"]),
        (Bootstrap(), 1, ["A single bootstrap sample", "sampled from 1,000"]),
    ],
)
def test_words(data, cv, k, words):
    found = evaluate(KNeighborsClassifier(k), *data, cv=cv)
    spread = spread_in_passing(found.task)
    text = spread.in_words(found.scoring, found.law.kind)
    assert all(word in text for word in words)
    assert f"± {100 * spread.std:.2g} points" in text


def test_errors_have_no_points(data):
    found = evaluate(KNeighborsRegressor(2), data[0], data[0][:, 0], cv=FixedSize(20))
    text = spread_in_passing(found.task).in_words(found.scoring, found.law.kind)
    assert "points" not in text
    assert "± " in text


def test_nothing_left_to_chance():
    text = SplitSpread(0.0, 5, error_bound=1e-9).in_words("accuracy", "class counts")
    assert "nothing is left to chance" in text


def test_leaving_one_out_has_no_single_run(data):
    groups = np.arange(40) // 4
    for options in ({"cv": LeaveOneOut()}, {"cv": LeaveOneGroupOut(), "groups": groups}):
        assert spread_in_passing(evaluate(KNeighborsClassifier(1), *data, **options).task) is None


def test_what_would_take_long_is_left_out(data, monkeypatch):
    found = evaluate(KNeighborsClassifier(3), *data, cv=KFold(4))
    monkeypatch.setattr(spread, "_SECONDS_IN_PASSING", 1e-9)
    assert spread_in_passing(found.task) is None
    monkeypatch.undo()
    monkeypatch.setattr(spread, "_MOST_IN_PASSING", 10)
    assert spread_in_passing(found.task) is None
