"""UNN against the paper's algorithm and numerical minimisers: steps, choices, minimum, bound."""

import numpy as np
import pytest

from allsplits import UNNClassifier
from oracle.unn import (
    LOSSES,
    WEIGHTS,
    Case,
    best_step,
    edge_matrix,
    global_minimum,
    noisy_case,
    pair_weight,
    paper_rounds,
    risk,
)

ALL_LOSSES = list(LOSSES)
#: Choosers of the largest step: whether it must be positive, and whether each example steps once.
READINGS = {
    "boosting": (True, True),
    "boosting again": (True, False),
    "longest step": (False, False),
    "longest step once": (False, True),
}
CHOOSERS = [*READINGS, "lazy"]
either_weights = pytest.mark.parametrize("normalized", [True, False], ids=["shares", "as they are"])


def replay(model, case, member, column=0):
    """Each round of a fitted model as (t, chosen, step, margins before it, edges)."""
    edges = edge_matrix(case.X, member, case.k)
    margins = np.zeros(len(case.X))
    history = model._history
    for t in range(int(model.n_rounds_[column])):
        j, step = history.chosen[column, t], history.steps[column, t]
        yield t, j, step, margins.copy(), edges
        margins += step * edges[:, j]


@either_weights
@pytest.mark.parametrize("chooser", READINGS)
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_rounds_are_those_of_the_paper(loss, chooser, normalized):
    """Who steps, by how much and until when, for every class."""
    for seed in range(2):
        case = noisy_case(seed, m=26, k=4, n_classes=3)
        model = UNNClassifier(
            case.k, loss=loss, chooser=chooser, normalize_weights=normalized
        ).fit(case.X, case.y)  # fmt: skip
        for c in range(3):
            edges = edge_matrix(case.X, case.y == c, case.k)
            expected = paper_rounds(edges, 26, loss, READINGS[chooser], normalized)
            taken = int(model.n_rounds_[c])
            assert taken == len(expected)
            assert list(model._history.chosen[c, :taken]) == [one.chosen for one in expected]
            np.testing.assert_allclose(
                model._history.steps[c, :taken], [one.step for one in expected], atol=1e-9
            )
            np.testing.assert_allclose(model.margins_[:, c], expected[-1].margins, atol=1e-8)


def test_the_readings_differ():
    """Otherwise the test above could not tell them apart."""
    case = noisy_case(0, m=60, k=4)
    edges = edge_matrix(case.X, case.y == 1, case.k)
    found = [
        tuple(one.chosen for one in paper_rounds(edges, 60, "exponential", rule, normalized))
        for rule in READINGS.values()
        for normalized in (True, False)
    ]
    assert len(set(found)) == len(found)


def test_boosting_takes_positive_steps_once_and_stops_when_none_is_left():
    case = noisy_case(0, m=80, k=5)
    model = UNNClassifier(case.k).fit(case.X, case.y)
    rounds = list(replay(model, case, case.y == 1))
    assert 10 < len(rounds) < 80
    assert all(step > 0 for _, _, step, _, _ in rounds)
    assert len({j for _, j, _, _, _ in rounds}) == len(rounds)
    assert (model.alphas_ >= 0).all()
    edges, margins = rounds[-1][-1], model.margins_[:, 0]
    left = np.setdiff1d(np.arange(80), model._history.chosen[0])
    pull = edges[:, left].T @ np.exp(-margins)
    assert (pull <= 1e-12).all()
    assert (pull < -1e-3).any()


@either_weights
@pytest.mark.parametrize("smoothing", [True, 0.7])
@pytest.mark.parametrize("chooser", CHOOSERS)
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_every_step_is_the_minimum_along_its_example(loss, chooser, smoothing, normalized):
    case = noisy_case(0, m=50, k=4)
    model = UNNClassifier(
        case.k, loss=loss, chooser=chooser, smoothing=smoothing, normalize_weights=normalized
    ).fit(case.X, case.y)
    share = 1 / len(case.X) if smoothing is True else smoothing
    rounds = list(replay(model, case, case.y == 1))
    assert len(rounds) >= 8
    for t, j, step, margins, edges in rounds:
        added = pair_weight(loss, margins, share, normalized)
        assert step == pytest.approx(best_step(loss, edges, margins, j, added), abs=2e-6), t
        assert model.surrogate_risk_[t, 0] == pytest.approx(LOSSES[loss](margins).mean(), rel=1e-12)


@either_weights
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_steps_of_the_logistic_loss_are_solved_to_the_last_digits(loss, normalized):
    """Where the derivative is zero, which is far sharper than where the minimum is flat."""
    case = noisy_case(1, m=60, k=5)
    model = UNNClassifier(
        case.k, loss=loss, chooser="longest step", normalize_weights=normalized
    ).fit(case.X, case.y)  # fmt: skip
    m, start = len(case.X), WEIGHTS[loss](0.0)
    for _, j, step, margins, edges in replay(model, case, case.y == 1):
        column, weight = edges[:, j], WEIGHTS[loss]
        pair = pair_weight(loss, margins, 1 / m, normalized) / start
        slope = (column * weight(margins + step * column)).sum()
        slope += pair * (weight(step) - weight(-step))
        assert abs(slope) < 1e-13


def test_lazy_steps_along_all_in_turn():
    case = noisy_case(3)
    model = UNNClassifier(case.k, chooser="lazy", n_rounds=100).fit(case.X, case.y)
    np.testing.assert_array_equal(model._history.chosen[0], np.arange(100) % len(case.X))


@either_weights
@pytest.mark.parametrize("smoothing", [True, False])
@pytest.mark.parametrize("chooser", CHOOSERS)
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_the_surrogate_never_rises(loss, chooser, smoothing, normalized):
    for seed in range(5):
        case = noisy_case(seed, m=50, k=4, n_classes=3)
        model = UNNClassifier(
            case.k, loss=loss, chooser=chooser, smoothing=smoothing, n_rounds=200,
            normalize_weights=normalized,
        ).fit(case.X, case.y)  # fmt: skip
        assert np.diff(model.surrogate_risk_, axis=0).max() <= 1e-15


@either_weights
@pytest.mark.parametrize("chooser", ["longest step", "lazy"])
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_boosting_reaches_the_global_minimum(loss, chooser, normalized):
    """Theorem 3.1, for every class; smoothing shortens the steps but not the way."""
    case = noisy_case(4, m=40, k=3, n_classes=3)
    edges = [edge_matrix(case.X, case.y == c, case.k) for c in range(3)]
    least = [global_minimum(loss, matrix) for matrix in edges]
    assert max(least) < 0.9 * LOSSES[loss](0.0)
    for smoothing in (False, True):
        model = UNNClassifier(
            case.k, loss=loss, chooser=chooser, smoothing=smoothing, n_rounds=40_000,
            normalize_weights=normalized,
        ).fit(case.X, case.y)  # fmt: skip
        np.testing.assert_allclose(model.surrogate_risk_[-1], least, rtol=0, atol=2e-4)
        for c in range(3):
            found = risk(loss, edges[c], model.alphas_[:, c])
            assert found == pytest.approx(model.surrogate_risk_[-1, c], abs=1e-9)


class WeakIndex:
    """The weak index assumption in a run: γ and η of every round (14, 15), errors and factors Z."""

    def __init__(self, model, case):
        n_classes = model.alphas_.shape[1]
        self.n_rounds = int(model.n_rounds_.min())
        shape = n_classes, self.n_rounds
        self.errors, self.gammas, self.etas, self.factors = (np.empty(shape) for _ in range(4))
        for c in range(n_classes):
            for t, j, step, margins, edges in replay(model, case, case.y == c, c):
                if t == self.n_rounds:
                    break
                weights, column = np.exp(-margins), edges[:, j]
                plus, minus = weights[column > 0].sum(), weights[column < 0].sum()
                self.gammas[c, t] = abs(plus / (plus + minus) - 0.5)
                self.etas[c, t] = (plus + minus) / weights.sum()
                after = margins + step * column
                self.factors[c, t] = np.exp(-after).sum() / weights.sum()
                self.errors[c, t] = np.mean(after < 0)

    def bound(self, n_rounds):
        """The least exp(-2ηγ²τ) over all γ and η of the run, τ the rounds where they hold."""
        gammas, etas = self.gammas[:, :n_rounds], self.etas[:, :n_rounds]
        least = 1.0
        for gamma in np.unique(gammas):
            # In each class the rounds with this γ, by η: the τ best have at least the τ-th η.
            held = [np.sort(etas[c][gammas[c] >= gamma])[::-1] for c in range(len(etas))]
            for tau in range(1, min(map(len, held)) + 1):
                eta = min(one[tau - 1] for one in held)
                least = min(least, np.exp(-2 * eta * gamma**2 * tau))
        return least


@either_weights
@pytest.mark.parametrize("chooser", READINGS)
def test_training_error_obeys_theorem_3_2(chooser, normalized):
    """After every round, with the tightest γ, η and τ that held in the run; steps unsmoothed."""
    tightest = []
    for seed, apart in ((0, 0.8), (1, 0.8), (2, 2.0)):
        case = noisy_case(seed, m=60, k=5, n_classes=3, apart=apart)
        model = UNNClassifier(
            case.k, chooser=chooser, smoothing=False, normalize_weights=normalized
        ).fit(case.X, case.y)
        run = WeakIndex(model, case)
        assert run.n_rounds >= 15
        for t in range(1, run.n_rounds + 1):
            product = run.factors[:, :t].prod(axis=1).mean()
            bound = run.bound(t)
            assert run.errors[:, t - 1].mean() <= product + 1e-12
            assert product <= bound + 1e-12
        tightest.append(bound)
    assert min(tightest) < 0.8


def test_the_proof_of_theorem_3_2_needs_steps_without_smoothing():
    """Pairs that agree: smoothed steps are so short that Z is above what the proof asks for."""
    X = np.array([[10.0 * pair + end] for pair in range(8) for end in (0, 1)])
    case = Case(X, np.repeat(np.arange(8) % 2, 2), 1)
    for smoothing, holds in ((False, True), (True, False)):
        run = WeakIndex(UNNClassifier(case.k, smoothing=smoothing).fit(case.X, case.y), case)
        product = run.factors.prod(axis=1).mean()
        assert (product <= run.bound(run.n_rounds)) == holds


def test_the_bound_could_fail():
    """A run whose η are said to be ten times what they were breaks the inequality."""
    case = noisy_case(0, m=60, k=5, n_classes=3)
    run = WeakIndex(UNNClassifier(case.k, smoothing=False).fit(case.X, case.y), case)
    run.etas *= 10
    products = [run.factors[:, :t].prod(axis=1).mean() for t in range(1, run.n_rounds + 1)]
    bounds = [run.bound(t) for t in range(1, run.n_rounds + 1)]
    assert (np.array(products) > np.array(bounds)).any()
