"""Agreement with the R package lazy 1.2-18 by the authors of the method.

The figures were obtained once with R 4.2.2 from Boston housing: trained on the first 406 rows,
unscaled, Euclidean distance, lambda = 1e6; queries are the other 100 rows. ``conIdPar = c(3, 30)``
and ``linIdPar = c(20, 60)`` are `degrees`, `k_min` and `k_max` here, ``cmbPar`` is `combine`, and
``lambda`` is 1/`ridge` with ``penalize_intercept=True``.

Constant models agree for all 100 queries. Linear models agree as far as the R package's own
arithmetic goes: it updates the matrix V from 10⁶ I in double precision, and with features in the
hundreds 1 - h has hardly a correct digit left. (Replaying its operations one by one in double
precision gives its figures to the last digit; in exact fractions they come out differently.) Its
predictions for a given k are good to about 10⁻⁴; its leave-one-out errors, and the k chosen by
them, are not.
"""

from fractions import Fraction

import numpy as np
import pytest

from allsplits import LazyRegressor, local_constant_path
from oracle.local_models import eliminate, terms
from papers.data_files import data_file

CONSTANT = {"degrees": 0, "k_min": 3, "k_max": 30}
LINEAR = {"degrees": 1, "k_min": 20, "k_max": 60, "combine": "best"}
BOTH = {"degrees": (0, 1), "k_min": (3, 20), "k_max": (30, 60), "combine": "best"}

#: Targets of the 30 nearest of four queries (rows counted from 0), and what R says of them: the
#: prediction and k of the best constant model with 3 to 30 neighbours, the prediction of the three
#: best combined.
STORED = {
    406: (
        [
            10.2, 13.9, 12.1, 17.8, 50, 10.2, 20.8, 23.2, 50, 13.1, 25, 50, 8.5, 13.1, 5.6,
            10.9, 10.5, 8.3, 7.2, 16.8, 7.2, 9.7, 15, 15.1, 19.9, 13.3, 12.7, 11.3, 12.3, 11.5,
        ],
        12.0666666667, 3, 12.5568071966,
    ),
    407: (
        [
            50, 21.9, 19.9, 16.8, 27.5, 6.3, 21.9, 13.9, 50, 8.5, 50, 12.1, 50, 10.2, 25, 17.8,
            20.8, 23.2, 8.8, 13.1, 21.7, 50, 8.5, 22.6, 10.2, 15.1, 12.7, 15, 7.2, 13.8,
        ],
        22.2750000000, 8, 22.4005491388,
    ),
    419: (
        [
            23.1, 8.8, 15.6, 13.1, 21.9, 8.5, 18.6, 6.3, 15.6, 13.8, 50, 19.9, 16.8, 21.9, 27.5,
            13.9, 15.6, 50, 23.8, 10.2, 25, 25, 50, 12.1, 50, 17.8, 23.2, 20.8, 19.4, 5,
        ],
        14.5300000000, 10, 14.9136946047,
    ),
    466: (
        [
            23.1, 8.8, 15.6, 13.1, 18.6, 21.9, 15.6, 13.8, 8.5, 6.3, 50, 19.9, 16.8, 21.9, 27.5,
            15.6, 23.8, 13.9, 25, 50, 10.2, 25, 50, 50, 12.1, 17.8, 23.2, 19.4, 20.8, 22.6,
        ],
        16.3125000000, 8, 16.1547670549,
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", STORED)
def test_stored_constant_models(row):
    targets, prediction, k, combined = STORED[row]
    predictions, loo_mse = local_constant_path(targets)
    best = 2 + np.argsort(loo_mse[2:], kind="stable")
    assert best[0] + 1 == k
    assert predictions[best[0]] == pytest.approx(prediction, abs=1e-9)
    weights = 1 / loo_mse[best[:3]]
    mean = np.average(predictions[best[:3]], weights=weights)
    assert mean == pytest.approx(combined, abs=1e-9)


@pytest.fixture(scope="module")
def boston():
    table = np.loadtxt(data_file("boston_housing.csv"), delimiter=",", skiprows=1)
    figures = np.genfromtxt(data_file("r_lazy_boston.csv"), delimiter=",", names=True)
    assert table.shape == (506, 14)
    np.testing.assert_array_equal(figures["query_row"], np.arange(406, 506))
    return table[:406, :-1], table[:406, -1], table[406:, :-1], figures


def predictions_and_k(boston, **settings):
    X, y, queries, _ = boston
    model = LazyRegressor(**settings, ridge=1e-6, penalize_intercept=True).fit(X, y)
    return model.predict(queries, return_k=True)


@pytest.mark.parametrize(("combine", "name"), [("best", "best"), (3, "comb3")])
def test_constant_models(boston, combine, name):
    predictions, k = predictions_and_k(boston, **CONSTANT, combine=combine)
    figures = boston[3]
    np.testing.assert_array_equal(k, figures[f"constant_3_30_{name}_k"])
    # The file has ten decimals.
    np.testing.assert_allclose(
        predictions, figures[f"constant_3_30_{name}_prediction"], rtol=0, atol=6e-11
    )


def test_linear_models_of_the_same_size(boston):
    """At the k that R chose, our prediction is R's up to R's rounding."""
    X, y, queries, figures = boston
    model = LazyRegressor(**LINEAR, penalize_intercept=True).fit(X, y)
    found = []
    for query, k in zip(queries, figures["linear_20_60_best_k"], strict=True):
        paths = model.local_paths(query)
        found.append(paths.predictions[paths.k == k][0])
    difference = np.abs(np.array(found) - figures["linear_20_60_best_prediction"])
    assert np.median(difference) < 1e-6
    assert difference.max() < 1e-3


def test_the_chosen_sizes_of_linear_models(boston):
    """Three of four; two where they differ: in exact fractions our choice has the smaller error."""
    X, y, queries, figures = boston
    _, k = predictions_and_k(boston, **LINEAR)
    theirs = figures["linear_20_60_best_k"].astype(int)
    differ = np.flatnonzero(k != theirs)
    assert len(differ) == 25
    for q in differ[[8, 12]]:
        near = np.argsort(((X - queries[q]) ** 2).sum(axis=1), kind="stable")
        our_error, their_error = (
            exact_loo_mse(X[near[:size]], y[near[:size]], queries[q]) for size in (k[q], theirs[q])
        )
        assert our_error < their_error
        model = LazyRegressor(**LINEAR, penalize_intercept=True).fit(X, y)
        paths = model.local_paths(queries[q])
        assert paths.mse.min() == pytest.approx(float(our_error), rel=1e-8)
        at_theirs = paths.mse[paths.k == theirs[q]][0]
        assert at_theirs == pytest.approx(float(their_error), rel=1e-8)


def exact_loo_mse(rows, targets, query) -> Fraction:
    """Leave-one-out error of a linear model with all coefficients penalised by 10⁻⁶."""
    Z = [terms(row, query, 1) for row in rows]
    y = [Fraction(value) for value in targets.tolist()]
    p = len(Z[0])
    penalty = Fraction(1e-6)
    system = [
        [sum(z[r] * z[c] for z in Z) + (penalty if r == c else 0) for c in range(p)]
        for r in range(p)
    ]

    def solve(right):
        return eliminate([[*line, value] for line, value in zip(system, right, strict=True)])

    inverse = [solve([Fraction(int(r == c)) for r in range(p)]) for c in range(p)]
    coefficients = solve([sum(z[r] * v for z, v in zip(Z, y, strict=True)) for r in range(p)])
    errors = []
    for z, value in zip(Z, y, strict=True):
        leverage = sum(z[r] * z[c] * inverse[c][r] for r in range(p) for c in range(p))
        residual = value - sum(a * b for a, b in zip(z, coefficients, strict=True))
        errors.append(residual / (1 - leverage))
    return sum(e * e for e in errors) / len(errors)


def test_both_degrees_together(boston):
    predictions, k = predictions_and_k(boston, **BOTH)
    figures = boston[3]
    same = k == figures["both_best_k"]
    assert same.sum() == 92
    difference = np.abs(predictions - figures["both_best_prediction"])
    assert difference[same].max() < 1e-3
