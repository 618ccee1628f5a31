"""UNN against numerical minimisers: every step, every choice, the minimum and the bound."""

import itertools

import numpy as np
import pytest

from allsplits import UNNClassifier
from oracle.unn import LOSSES, WEIGHTS, best_step, edge_matrix, global_minimum, noisy_case, risk

ALL_LOSSES = list(LOSSES)
CHOOSERS = ["boosting", "lazy", "mixed"]


def replay(model, case, member, column=0):
    """Each round of a fitted model as (t, chosen, step, margins before it, edges)."""
    edges = edge_matrix(case.X, member, case.k)
    margins = np.zeros(len(case.X))
    history = model._history
    for t in range(int(model.n_rounds_[column])):
        j, step = history.chosen[column, t], history.steps[column, t]
        yield t, j, step, margins.copy(), edges
        margins += step * edges[:, j]


@pytest.mark.parametrize("smoothing", [True, 0.7])
@pytest.mark.parametrize("chooser", CHOOSERS)
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_every_step_is_the_minimum_along_its_example(loss, chooser, smoothing):
    case = noisy_case(0, m=30)
    model = UNNClassifier(case.k, loss=loss, chooser=chooser, smoothing=smoothing)
    model.fit(case.X, case.y)
    added = 1 / len(case.X) if smoothing is True else smoothing
    rounds = list(replay(model, case, case.y == 1))
    assert len(rounds) >= 20
    for t, j, step, margins, edges in rounds:
        assert step == pytest.approx(best_step(loss, edges, margins, j, added), abs=2e-6), t
        assert model.surrogate_risk_[t, 0] == pytest.approx(LOSSES[loss](margins).mean(), rel=1e-12)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_steps_of_the_logistic_loss_are_solved_to_the_last_digits(loss):
    """Where the derivative is zero, which is far sharper than where the minimum is flat."""
    case = noisy_case(1, m=60, k=5)
    model = UNNClassifier(case.k, loss=loss).fit(case.X, case.y)
    m, start = len(case.X), WEIGHTS[loss](0.0)
    for _, j, step, margins, edges in replay(model, case, case.y == 1):
        column = edges[:, j]
        slope = (column * WEIGHTS[loss](margins + step * column)).sum()
        slope += (WEIGHTS[loss](step) - WEIGHTS[loss](-step)) / m / start
        assert abs(slope) < 1e-13


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("chooser", ["boosting", "mixed"])
def test_the_longest_step_is_taken(loss, chooser):
    case = noisy_case(2, m=24, k=4, n_classes=3)
    model = UNNClassifier(case.k, loss=loss, chooser=chooser).fit(case.X, case.y)
    for c in range(3):
        used = set()
        for t, j, step, margins, edges in replay(model, case, case.y == c, c):
            lengths = [
                abs(best_step(loss, edges, margins, other, 1 / len(case.X)))
                for other in range(len(case.X))
                if chooser == "boosting" or other not in used
            ]
            assert abs(step) >= max(lengths) - 2e-6, t
            assert j not in used or chooser == "boosting"
            used.add(j)


def test_lazy_steps_along_all_in_turn():
    case = noisy_case(3)
    model = UNNClassifier(case.k, chooser="lazy", n_rounds=100).fit(case.X, case.y)
    np.testing.assert_array_equal(model._history.chosen[0], np.arange(100) % len(case.X))


@pytest.mark.parametrize("smoothing", [True, False])
@pytest.mark.parametrize("chooser", CHOOSERS)
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_the_surrogate_never_rises(loss, chooser, smoothing):
    for seed in range(5):
        case = noisy_case(seed, m=50, k=4, n_classes=3)
        model = UNNClassifier(
            case.k, loss=loss, chooser=chooser, smoothing=smoothing, n_rounds=200
        ).fit(case.X, case.y)
        assert np.diff(model.surrogate_risk_, axis=0).max() <= 1e-15


@pytest.mark.parametrize("chooser", ["boosting", "lazy"])
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_boosting_reaches_the_global_minimum(loss, chooser):
    """Theorem 3.1, for every class; smoothing shortens the steps but not the way."""
    case = noisy_case(4, m=40, k=3, n_classes=3)
    edges = [edge_matrix(case.X, case.y == c, case.k) for c in range(3)]
    least = [global_minimum(loss, matrix) for matrix in edges]
    assert max(least) < 0.9 * LOSSES[loss](0.0)
    for smoothing in (False, True):
        model = UNNClassifier(
            case.k, loss=loss, chooser=chooser, smoothing=smoothing, n_rounds=40_000
        ).fit(case.X, case.y)
        np.testing.assert_allclose(model.surrogate_risk_[-1], least, rtol=0, atol=2e-4)
        for c in range(3):
            found = risk(loss, edges[c], model.alphas_[:, c])
            assert found == pytest.approx(model.surrogate_risk_[-1, c], abs=1e-9)


def test_training_error_obeys_the_bound():
    """Theorem 3.2 for every number of rounds, and the product of Z_t that it comes from."""
    tight = []
    for seed in range(4):
        case = noisy_case(seed, m=60, k=5, n_classes=3)
        model = UNNClassifier(case.k, smoothing=False).fit(case.X, case.y)
        n_rounds = int(model.n_rounds_.min())
        errors, gammas, etas, factors = (np.empty((3, n_rounds)) for _ in range(4))
        for c in range(3):
            for t, j, step, margins, edges in replay(model, case, case.y == c, c):
                if t == n_rounds:
                    break
                weights, column = np.exp(-margins), edges[:, j]
                plus, minus = weights[column > 0].sum(), weights[column < 0].sum()
                gammas[c, t] = abs(plus / (plus + minus) - 0.5)
                etas[c, t] = (plus + minus) / weights.sum()
                after = margins + step * column
                factors[c, t] = np.exp(-after).sum() / weights.sum()
                errors[c, t] = np.mean(after < 0)
        for t in range(n_rounds):
            product = factors[:, : t + 1].prod(axis=1).mean()
            assert errors[:, t].mean() <= product + 1e-12
            for gamma, eta in itertools.product((0.1, 0.3, 0.499), (0.02, 0.05, 0.1)):
                # How many rounds meet the weak index assumption, in the class with the fewest.
                holds = (gammas[:, : t + 1] >= gamma) & (etas[:, : t + 1] >= eta)
                bound = np.exp(-2 * eta * gamma**2 * holds.sum(axis=1).min())
                assert product <= bound + 1e-12
                tight.append(bound)
    assert min(tight) < 0.8
