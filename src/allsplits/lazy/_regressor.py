"""`LazyRegressor`: for each query the local models that validate best on its own neighbours.

Nothing is fitted before a query arrives. Its neighbours are sorted by distance, constant, linear
and quadratic models are fitted to the nearest k for a range of k, all sizes in one recursion, and
each is judged by its leave-one-out error (the PRESS statistic) on the same neighbours. The best few
are combined.

Cost per query after the search: O(k) for constant models, O(k² · terms) for the others.

Birattari, Bontempi & Bersini (1999), *Lazy learning meets the recursive least squares algorithm*;
Birattari & Bontempi (1999), *Lazy learning vs. Speedy Gonzales*.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from allsplits._constructor import stores_parameters
from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits._validation import (
    check_count,
    check_distances,
    check_new_points,
    check_parameters,
    check_size,
    check_square,
    validate_data,
)
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.lazy._answers import Answers, Near, answer_queries, make_answers
from allsplits.lazy._calibration import Calibration, leave_one_out, score_rank
from allsplits.lazy._limits import Bounds, check_ridge, check_spread
from allsplits.lazy._paths import LocalData, fill_paths, make_paths
from allsplits.lazy._plan import Plan, count_terms, make_plan
from allsplits.lazy._results import LocalModels, LocalPaths
from allsplits.orders import Metric, Reference

Array = NDArray[np.float64]

#: So many neighbours are held at a time (some 32 bytes for each).
_ENTRIES_PER_BLOCK = 1 << 20
#: A block is a second or two of work, so that a progress bar moves and Ctrl-C is heard.
_OPERATIONS_PER_BLOCK = 1 << 31


@stores_parameters
class LazyRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Local regression that chooses degree and size of the neighbourhood for every query.

    For each query, constant, linear and quadratic models are fitted to its k nearest neighbours
    for a range of k. Every model is validated by leaving out each of its neighbours in turn
    (exactly, without refitting), and the best few predict, weighted by the inverse of their errors,
    or the best one alone. `predict_interval` adds calibrated intervals. Distances and the penalty
    depend on the units of the features: scale them first, for example with `StandardScaler` in a
    pipeline.

    Parameters
    ----------
    degrees : int or sequence of int, default=(0, 1)
        Degrees of the local polynomials: 0 constant, 1 linear, 2 quadratic.
    k_min, k_max : int or sequence of int, default=None
        Smallest and largest number of neighbours, for all degrees or one number for each. None
        means 3 to 30 for constants and 3 to 8 times the number of terms for the others, as
        far as there are training samples.
    combine : "best" or int, default=30
        How many of all the models of a query are combined, with weights 1/mse; all of them if there
        are not so many. "best" is 1.
    ridge : float, default=1e-6
        Penalty on the squared coefficients, which keeps every model unique: the larger, the closer
        linear and quadratic models are to constant ones.
    penalize_intercept : bool, default=False
        Whether the penalty includes the constant term, as it does in the R package lazy (whose
        ``lambda`` is ``1 / ridge``). It then pulls predictions towards 0, by much where the
        neighbours do not determine the model.
    metric, p, metric_params :
        As in scikit-learn's KNeighborsRegressor. Local polynomials need coordinates, so
        ``metric="precomputed"`` works with ``degrees=0`` only.
    n_jobs : int, default=None
        Threads; None uses all cores. It does not change the result.

    Attributes
    ----------
    k_ranges_ : dict
        Smallest and largest number of neighbours of each degree.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, if X is a data frame.

    Notes
    -----
    Numbers of neighbours that would take some of several equally distant samples and leave the
    others are not tried, so that the order of the rows does not matter. Only where all numbers of
    all degrees would, because more samples are equally distant than k_min to k_max tell apart, are
    these taken in the order of their rows: a larger `k_max` helps.

    Neighbourhoods that do not determine a model (fewer distinct neighbours than terms, features
    that are constant among the neighbours, duplicates) are no special case: of all coefficients
    that fit equally well the penalty picks the smallest, so a feature without variation gets slope
    0, and the leave-one-out error is that of this very procedure. Several outputs are treated one
    by one: each has its own degree and k.

    Examples
    --------
    >>> import numpy as np
    >>> from allsplits import LazyRegressor
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> y = 3 * X[:, 0] + 1
    >>> model = LazyRegressor().fit(X, y)
    >>> prediction, k = model.predict([[0.5], [1.2]], return_k=True)
    >>> prediction.round(3)
    array([2.5, 4.6])
    """

    degrees: int | Sequence[int] = (0, 1)
    _: KW_ONLY
    k_min: int | Sequence[int] | None = None
    k_max: int | Sequence[int] | None = None
    combine: Literal["best"] | int = 30
    ridge: float = 1e-6
    penalize_intercept: bool = False
    metric: str | Callable[..., float] = "minkowski"
    p: float = 2
    metric_params: Mapping[str, Any] | None = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any) -> Self:
        """Check everything and keep the training data; the work is done for each query.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples, or their distances with ``metric="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        """
        check_parameters(penalize_intercept=self.penalize_intercept)
        check_ridge(self.ridge)
        n_threads = thread_count(self.n_jobs)
        metric = Metric.resolve(self.metric, self.p, self.metric_params)
        X, y = validate_data(
            self, X, y, dtype=np.float64, order="C", multi_output=True, y_numeric=True,
            ensure_min_samples=2,
        )  # fmt: skip
        targets = np.ascontiguousarray(y, dtype=np.float64).reshape(len(X), -1)
        plan = make_plan(self.degrees, self.k_min, self.k_max, self.combine, *X.shape)
        bounds = Bounds.of(X)
        self._check_geometry(X, bounds, metric, plan)
        check_size("y", targets)
        self._plan = plan
        self._bounds = bounds
        self._calibration: Calibration | None = None
        self._data = LocalData(X, targets, float(self.ridge), not self.penalize_intercept)
        self._one_output = np.ndim(y) == 1
        self._search = Reference(X, metric.fixed_by_sample(X), n_threads)
        self.k_ranges_ = {part.degree: (part.k_min, part.k_max) for part in plan.ranges}
        return self

    def _check_geometry(self, X: Array, bounds: Bounds, metric: Metric, plan: Plan) -> None:
        highest = plan.highest_degree
        if metric.precomputed:
            if highest > 0:
                raise UnsupportedError(
                    "metric='precomputed' gives no coordinates for local polynomials: use "
                    f"degrees=0; got degrees={self.degrees!r}"
                )
            check_square(X)
        check_spread(bounds, bounds, highest, float(self.ridge))

    def predict(
        self,
        X: Any,
        return_std: bool = False,
        return_k: bool = False,
        return_details: bool = False,
        *,
        progress: bool = False,
    ) -> Any:
        """Predict the targets of new samples.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New samples, or their distances to the training samples.
        return_std : bool, default=False
            Also return the root of the leave-one-out error of the chosen models (of several
            combined ones: of the harmonic mean of their errors). It is that of the best of many
            models, and 0 where these fit their neighbours without any error, as three equal targets
            do: good for ranking predictions, too small for an interval (see `predict_interval`).
        return_k : bool, default=False
            Also return the number of neighbours used; the largest if models are combined.
        return_details : bool, default=False
            Also return the chosen models with their coefficients.
        progress : bool, default=False
            Whether to show a progress bar.

        Returns
        -------
        predictions : ndarray of shape (n_queries,) or (n_queries, n_outputs)
        std : ndarray, shaped like `predictions`, if `return_std`
        k : ndarray, shaped like `predictions`, if `return_k`
        details : LocalModels, if `return_details`
        """
        check_is_fitted(self)
        answers = self._answer(self._new(X), coefficients=return_details, progress=progress)
        found: list[Any] = [self._shape(answers.predictions)]
        if return_std:
            found.append(self._shape(answers.std))
        if return_k:
            found.append(self._shape(self._plan.sizes[answers.models].max(axis=1)))
        if return_details:
            found.append(self._describe(answers))
        return found[0] if len(found) == 1 else tuple(found)

    def predict_interval(
        self, X: Any, confidence: float = 0.95, *, progress: bool = False
    ) -> tuple[Array, Array]:
        """Predict the targets of new samples, and intervals that hold them with some confidence.

        The first call predicts every training sample from the others, which costs as much as
        predicting that many queries; the residuals are kept for later calls. Intervals are as wide
        as these residuals ask for, wider where the chosen models have larger errors. They hold
        the stated share of targets on average over queries that are like the training samples
        (drawn independently from the same source), not for each query or region.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New samples, or their distances to the training samples.
        confidence : float, default=0.95
            Share of the intervals that are to hold the target. With n training samples it can be
            n / (n + 1) at most.
        progress : bool, default=False
            Whether to show progress bars.

        Returns
        -------
        predictions : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            As from `predict`.
        intervals : ndarray of shape (n_queries, 2) or (n_queries, 2, n_outputs)
            Lower and upper ends.

        Examples
        --------
        >>> import numpy as np
        >>> from allsplits import LazyRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(400, 1))
        >>> y = 3 * X[:, 0] + rng.normal(scale=0.1, size=400)
        >>> model = LazyRegressor().fit(X[:200], y[:200])
        >>> predictions, intervals = model.predict_interval(X[200:], 0.9)
        >>> bool(np.all(intervals[:, 0] < predictions))
        True
        >>> inside = (intervals[:, 0] <= y[200:]) & (y[200:] <= intervals[:, 1])
        >>> float(inside.mean())
        0.94
        """
        check_is_fitted(self)
        rank = score_rank(confidence, len(self._data.targets))
        queries = self._new(X)
        if self._calibration is None:
            left_out = leave_one_out(self._data, self._plan, self._search, progress=progress)
            self._calibration = Calibration.of(*left_out)
        answers = self._answer(queries, progress=progress)
        reach = self._calibration.half_width(answers.std, rank)
        ends = np.stack([answers.predictions - reach, answers.predictions + reach], axis=1)
        return self._shape(answers.predictions), self._shape(ends)

    def local_paths(self, x: Any, *, output: int = 0) -> LocalPaths:
        """All local models of one query: error and prediction for every degree and size.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features)
            The query.
        output : int, default=0
            Which output, if there are several.

        Returns
        -------
        LocalPaths
            ``.plot()`` draws the errors, ``.frame()`` lists them.
        """
        check_is_fitted(self)
        n_outputs = self._data.targets.shape[1]
        check_count("output", output, at_least=0, at_most=n_outputs - 1)
        query = self._new([x] if np.ndim(x) == 1 else x)
        if len(query) != 1:
            raise InvalidInputError(f"x must be one query; got {len(query)} rows")
        paths = make_paths(1, len(self._plan.sizes), 1, n_outputs)
        nearest = self._search.nearest(query, self._plan.depth)
        fill_paths(self._data, self._plan, query, nearest, paths)
        return LocalPaths(
            self._plan.degrees,
            self._plan.sizes,
            paths.errors[0, :, output],
            paths.values[0, :, 0, output],
        )

    def _new(self, X: Any) -> Array:
        queries = check_new_points(self, X)
        if self._search.metric.precomputed:
            check_distances(queries)
        bounds = Bounds.of(queries)
        check_spread(self._bounds, bounds, self._plan.highest_degree, self._data.ridge)
        return queries

    def _answer(
        self, queries: Array, *, coefficients: bool = False, progress: bool = False
    ) -> Answers:
        """Search and answer block by block, so that memory stays bounded."""
        plan, n_threads = self._plan, self._search.threads_for(len(queries))
        n_wanted = count_terms(self.n_features_in_, plan.highest_degree) if coefficients else 1
        n_outputs = self._data.targets.shape[1]
        answers = make_answers(len(queries), plan.n_combined, n_wanted, n_outputs)
        work = plan.count_operations(self.n_features_in_) * n_outputs
        size = max(16, min(_ENTRIES_PER_BLOCK // plan.depth, _OPERATIONS_PER_BLOCK // work))
        with progress_bar(progress, "local models", len(queries), "queries") as step:
            for low in range(0, len(queries), size):
                block = queries[low : low + size]
                high = low + len(block)
                near = Near(block, *self._search.nearest_and_cuts(block, plan.depth))
                answer_queries(self._data, plan, near, n_threads, answers.rows(low, high))
                step(len(block))
        return answers

    def _shape(self, values: NDArray[Any]) -> NDArray[Any]:
        """Arrays (…, output) as the targets came: without the last axis if they were a vector."""
        return values[..., 0] if self._one_output else values

    def _describe(self, answers: Answers) -> LocalModels:
        def ordered(values: NDArray[Any]) -> NDArray[Any]:
            """(query, rank, output) as (query, output, rank), or (query, rank)."""
            swapped = np.ascontiguousarray(np.swapaxes(values, 1, 2))
            return swapped[:, 0] if self._one_output else swapped

        return LocalModels(
            predictions=self._shape(answers.predictions),
            std=self._shape(answers.std),
            degree=ordered(self._plan.degrees[answers.models]),
            k=ordered(self._plan.sizes[answers.models]),
            mse=ordered(answers.mse),
            weight=ordered(answers.weights),
            coefficients=ordered(answers.coefficients),
            terms=self._term_names(),
        )

    def _term_names(self) -> tuple[str, ...]:
        count = self.n_features_in_
        names = list(getattr(self, "feature_names_in_", [f"x{f}" for f in range(count)]))
        highest = self._plan.highest_degree
        terms = ["1"]
        if highest > 0:
            terms += names
        if highest > 1:
            terms += [
                f"{names[f]}^2" if f == g else f"{names[f]} {names[g]}"
                for f in range(count)
                for g in range(f, count)
            ]
        return tuple(terms)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
