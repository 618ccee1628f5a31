"""A run is known by seed and number: threads, batches and who loops over runs change no bit."""

import signal
import zlib
from threading import Timer, main_thread
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, Bootstrap, ClassCounts, Episodes, FixedSize, replay
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task
from allsplits.replays import batch, engine
from allsplits.replays.draw import RunDrawer, random_state_of, random_states
from allsplits.replays.sample import sampling_seconds

ROWS = np.arange(90)
TIED = np.stack([ROWS * 37 % 11, ROWS * 53 % 7], axis=1).astype(float)
UNTIED = np.random.default_rng(0).normal(size=(90, 3))
LABELS = (ROWS * 7 % 5 > 1).astype(int) + (ROWS % 4 == 0)
GROUPS = ROWS % 9
#: Laws, and what the first version that drew runs this way scored: accuracy and F1 of 150 splits.
LAWS = {
    "fixed size": (FixedSize(0.8), 540754496),
    "smaller tests": (ShuffleSplit(train_size=40, test_size=20), 3697766713),
    "class counts": (ClassCounts(9), 1835832291),
    "folds": (KFold(4), 794440416),
    "stratified folds": (StratifiedKFold(3), 2642075974),
    "independent draws": (Bernoulli(0.5), 326048768),
    "bootstrap": (Bootstrap(), 3303922240),
    "groups": (GroupShuffleSplit(test_size=2, train_size=5), 886721180),
    "episodes": (Episodes(2, 4), 3215010094),
}
CLASS_SCORES = ["accuracy", "f1_macro", "roc_auc_ovr", "neg_log_loss"]
MEAN_SCORES = ["r2", "neg_max_error"]


def bits(found):
    """All that a replay says, to compare it bit by bit."""
    return {
        name: (one.split_scores.tobytes(), one.tied_share, one.n_failed)
        for name, one in found.items()
    }


def in_turn(monkeypatch):
    """Let runs be scored one by one."""
    monkeypatch.setattr(batch.Batch, "_is_compiled", lambda self, vote: False)


@pytest.mark.parametrize("law", LAWS)
def test_seeds_mean_what_they_always_meant(law):
    cv, known = LAWS[law]
    scores = [
        one.split_scores.ravel()
        for seed in (7, 3**50)
        for one in replay(
            KNeighborsClassifier(4), TIED, LABELS, cv=cv, groups=GROUPS, n_splits=150,
            random_state=seed, control=False, error_score=-1.0, scoring=["accuracy", "f1_macro"],
        ).values()
    ]  # fmt: skip
    text = " ".join(f"{score:.12f}" for score in np.concatenate(scores))
    assert zlib.crc32(text.encode()) == known


def test_states_of_runs_are_those_of_splitmix():
    """In Python's integers, for seeds and numbers of any size."""
    mask = 2**64 - 1

    def mixed(z):
        z = (z + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    for seed in (0, 1, 2**31, 2**64 - 1, 2**64, 2**70 + 5, 3**90):
        for first in (0, 127, 10**6, 2**40):
            expected = [
                mixed(mixed(mixed(seed & mask) ^ (seed >> 64)) ^ (n * 0x9E3779B97F4A7C15 & mask))
                for n in range(first, first + 3)
            ]
            assert random_states(seed, first, 3).tolist() == expected
            assert random_state_of(seed, first).tolist() == expected[:1]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("points", ["tied", "untied"])
@pytest.mark.parametrize("model", ["votes", "shared votes", "weighted votes", "means"])
def test_the_compiled_loop_and_single_runs_agree(law, points, model, monkeypatch):
    cv = LAWS[law][0]
    if model == "means" and law in ("class counts", "stratified folds", "episodes"):
        pytest.skip("draws classes")
    estimator, y, kind = {
        "votes": (KNeighborsClassifier(4), LABELS, {"scoring": CLASS_SCORES}),
        "shared votes": (
            KNeighborsClassifier(4), LABELS, {"scoring": CLASS_SCORES, "label_ties": "share"},
        ),
        "weighted votes": (
            KNeighborsClassifier(4, weights="distance"), LABELS,
            {"scoring": ["accuracy", "neg_log_loss"]},
        ),
        "means": (KNeighborsRegressor(4), TIED[:, 0], {"scoring": MEAN_SCORES}),
    }[model]  # fmt: skip
    kind |= {"cv": cv, "groups": GROUPS, "n_splits": 40, "random_state": 3}
    kind |= {"control": False, "error_score": np.nan}
    X = TIED if points == "tied" else UNTIED
    together = replay(estimator, X, y, **kind)
    in_turn(monkeypatch)
    assert bits(replay(estimator, X, y, **kind)) == bits(together)


@pytest.mark.parametrize("law", ["fixed size", "folds", "groups"])
@pytest.mark.parametrize("points", ["tied", "untied"])
def test_runs_with_short_rows_leave_no_traces(law, points, monkeypatch):
    """Rows so short that some runs of a range are searched again, and others are not."""
    X = TIED if points == "tied" else UNTIED
    kind = {"cv": LAWS[law][0], "groups": GROUPS, "scoring": CLASS_SCORES, "n_splits": 400}
    kind |= {"random_state": 0, "control": False, "error_score": np.nan}
    single_runs, depth = [], {"fixed size": 7, "folds": 8, "groups": 10}[law]
    depth -= points == "tied"  # rows end with whole tie groups
    score_run = batch.Batch._score_run
    monkeypatch.setattr(engine, "_MOST_BYTES", depth * engine._EACH * len(LABELS))
    monkeypatch.setattr(
        batch.Batch, "_score_run", lambda *given: single_runs.append(1) or score_run(*given)
    )
    together = [replay(KNeighborsClassifier(4), X, LABELS, n_jobs=jobs, **kind) for jobs in (1, 2)]
    n_runs = together[0]["accuracy"].n_runs
    assert 0.1 * n_runs < len(single_runs) / 2 < 0.9 * n_runs
    in_turn(monkeypatch)
    single = replay(KNeighborsClassifier(4), X, LABELS, n_jobs=1, **kind)
    assert bits(single) == bits(together[0]) == bits(together[1])


@pytest.mark.parametrize("n_runs", [1, 7, 8, 9, 127, 128, 129, 255, 256, 257, 385, 1000])
def test_runs_do_not_depend_on_batches_and_threads(n_runs, monkeypatch):
    """Ranges and calls of one run and more, batches on both sides of every size."""
    kind = {"cv": FixedSize(0.8), "scoring": CLASS_SCORES, "random_state": 2, "control": False}
    kind |= {"error_score": np.nan}
    model = KNeighborsClassifier(3)
    expected = replay(model, TIED, LABELS, n_splits=1000, n_jobs=1, **kind)
    each = sampling_seconds(SimpleNamespace(columns=[SimpleNamespace(k=3)], n_questions=90), 1)
    for at_least, at_most, longest in ((50.5, 200.5, 1e9), (3.5, 7.5, 0.0), (0.0, 0.0, 1e9)):
        monkeypatch.setattr(batch, "_RANGE_SECONDS", at_least * each)
        monkeypatch.setattr(batch, "_CALL_SECONDS", at_most * each)
        monkeypatch.setattr(engine, "_BATCH_SECONDS", longest)
        for jobs in (1, 2, 3):
            found = replay(model, TIED, LABELS, n_splits=n_runs, n_jobs=jobs, **kind)
            for name in CLASS_SCORES:
                ours, theirs = found[name].split_scores, expected[name].split_scores[:n_runs]
                assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("n_classes", [253, 254, 255, 256])
def test_as_many_classes_as_fit_into_a_byte(n_classes):
    """And one more: against scikit-learn on the same splits."""
    y = np.arange(700) % n_classes
    X = y[:, None] + np.random.default_rng(1).normal(size=(700, 1))
    knn, law = KNeighborsClassifier(2), FixedSize(0.8)
    found = replay(knn, X, y, cv=law, n_splits=5, random_state=5, control=False)
    drawer = RunDrawer(Task.read(knn, Given(X, y, law), check_options()).question())
    for number, score in enumerate(found.split_scores[:, 0]):
        run = drawer(random_state_of(5, number))
        train, test = run.copies > 0, run.folds == 0
        assert score == knn.fit(X[train], y[train]).score(X[test], y[test]) > 0.1


def test_scorers_that_are_called_see_the_same_runs():
    kind = {"cv": KFold(3), "n_splits": 600, "random_state": 2, "control": False}
    kind |= {"scoring": {"known": "accuracy", "called": accuracy_score}}
    for jobs in (1, 2):
        found = replay(KNeighborsClassifier(3), TIED, LABELS, n_jobs=jobs, **kind)
        assert found["known"].split_scores.tolist() == found["called"].split_scores.tolist()
    alone = replay(
        KNeighborsClassifier(3), TIED, LABELS, **{**kind, "scoring": "accuracy", "n_jobs": 1}
    )
    assert alone.split_scores.tobytes() == found["known"].split_scores.tobytes()
    assert alone.tied_share == found["called"].tied_share


def looks(n_runs):
    """After how many runs the error is looked at: batches of 128, and every tenth more."""
    look, found = 128, []
    for end in [*range(128, n_runs, 128), n_runs]:
        if end >= look:
            look = int(1.1 * look) + 1
            found.append(end)
    return found


@pytest.mark.parametrize("n_runs", [100, 128, 4000, 50_000])
def test_the_error_is_looked_at_after_the_same_runs(n_runs, monkeypatch):
    seen = []

    def enough(self, kept):
        seen.append(sum(map(len, kept)))
        return False

    monkeypatch.setattr("allsplits.model_selection._replay._Asked.is_enough", enough)
    options = {"cv": FixedSize(0.5), "n_splits": n_runs, "until": 1e-9, "control": False}
    replay(KNeighborsClassifier(1), TIED[:12], LABELS[:12], random_state=0, **options)
    assert seen == looks(n_runs)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_stops_the_compiled_loop(n_jobs, monkeypatch):
    kind = {"cv": FixedSize(0.8), "scoring": "f1_macro", "random_state": 0, "control": False}
    model, batches, plain = KNeighborsClassifier(3), [], batch.Batch.score

    def interrupted(self, desk):
        batches.append(self.size)
        if sum(batches) > 30_000 and len(timers) == 0:
            timers.append(Timer(0.005, signal.pthread_kill, (main_thread().ident, signal.SIGINT)))
            timers[0].start()
        plain(self, desk)

    first, timers = replay(model, UNTIED, LABELS, n_splits=2000, **kind).split_scores, []
    monkeypatch.setattr(batch.Batch, "score", interrupted)
    found = replay(model, UNTIED, LABELS, n_splits=10**6, n_jobs=n_jobs, **kind)
    timers[0].join()
    assert found.stopped
    assert 2000 < found.n_runs < 10**6
    assert found.split_scores[:2000].tolist() == first.tolist()
    assert np.isfinite(found.split_scores).all()


def test_progress_moves_while_runs_are_scored(monkeypatch):
    steps = []

    class Bar:
        def __enter__(self):
            return steps.append

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(engine, "progress_bar", lambda *_: Bar())
    monkeypatch.setattr(engine, "_BATCH_SECONDS", 2e-3)
    options = {"cv": KFold(3), "n_splits": 60_000, "random_state": 0, "control": False}
    replay(KNeighborsClassifier(3), UNTIED, LABELS, **options)
    assert sum(steps) == 60_000
    assert len(steps) >= 5


def test_batches_stay_small_where_sums_are_large(monkeypatch):
    sizes = []
    plain = batch.Batch.score
    monkeypatch.setattr(
        batch.Batch, "score", lambda self, desk: sizes.append(self.size) or plain(self, desk)
    )
    monkeypatch.setattr(engine, "_BATCH_SECONDS", 1e9)
    options = {"cv": FixedSize(0.8), "n_splits": 3000, "random_state": 0, "control": False}
    replay(KNeighborsClassifier(3), UNTIED, LABELS, **options)
    assert sizes == [128, 256, 512, 1024, 1080]
    sizes.clear()
    monkeypatch.setattr(engine, "_BATCH_BYTES", 0)
    replay(KNeighborsClassifier(3), UNTIED, LABELS, **options)
    assert set(sizes[:-1]) == {128}


def test_laws_that_draw_nothing_are_named_by_the_compiled_loop():
    with pytest.raises(InvalidInputError, match="cv draws next to no splits that can be scored"):
        replay(
            KNeighborsClassifier(5), UNTIED, LABELS, cv=Bernoulli(1e-4), random_state=0,
            control=False,
        )  # fmt: skip


def test_splitters_that_are_asked_agree_in_threads(monkeypatch):
    monkeypatch.setattr(batch, "_LONG_RUN", 0.0)
    kind = {"cv": StratifiedGroupKFold(3, shuffle=True), "groups": GROUPS, "n_splits": 90}
    one, two = (
        replay(KNeighborsClassifier(3), TIED, LABELS, random_state=0, n_jobs=jobs, **kind)
        for jobs in (1, 2)
    )
    assert one.split_scores.tobytes() == two.split_scores.tobytes()
