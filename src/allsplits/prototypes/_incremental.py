"""Incremental nearest-neighbour learning with class queries (after Ratsaby 1997).

Draw a few examples of each class; then, until the budget is spent: condense and reduce all examples
so far to prototypes, in random order, ask for a batch of one class, and draw it. The paper counts
the Voronoi facets of each class and asks where its bound on the error falls fastest; other rules
are in `_queries`.
"""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from allsplits._constructor import stores_parameters
from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits._validation import check_count, check_labels, check_parameters, check_points
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.prototypes._class_inputs import check_priors
from allsplits.prototypes._copies import warn_of_contradictions
from allsplits.prototypes._history import IncrementalHistory
from allsplits.prototypes._learnt import Learnt
from allsplits.prototypes._loop import IncrementalLoop
from allsplits.prototypes._nearest import PrototypeClassifier
from allsplits.prototypes._queries import CLASS_QUERIES
from allsplits.prototypes._sources import ExampleSource, FunctionSource, PoolSource


@stores_parameters
class IncrementalNNClassifier(PrototypeClassifier):
    """1-NN classifier that asks for examples of the classes that are hardest to tell apart.

    Parameters
    ----------
    draw : callable, (X, y) or None, default=None
        Where examples come from. A function ``draw(label, count)`` that returns `count` new rows
        of a class (fewer: the class has run out); a pool of labelled samples; or None: the X and y
        of `fit` are the pool. Pools are drawn from at random, without replacement.
    batch_size : int, default=10
        Examples in a batch.
    budget : int, default=None
        Examples in all; None means all of the pool. A function needs one.
    initial : int, default=5
        Examples of each class to begin with.
    classes : array-like, default=None
        Labels to ask a function for. Not needed with a pool.
    priors : array-like of shape (n_classes,), default=None
        Probability of each class in sorted order; None means the shares of the pool, or all the
        same with a function.
    query : {"shares", "greedy", "priors"}, default="shares"
        Which class comes next. "shares": the one farthest behind the shares of the classes that
        would have made the fewest errors so far, from the priors on (`ShareClassQuery`).
        "greedy": the one that lowers the bound on the error most, as Ratsaby (1997) published it
        (`GreedyClassQuery`). "priors", for comparison: the one that is farthest behind its prior.
    shuffle : bool, default=True
        Condense in a new random order at every step. False: in the order in which the examples
        came, which is batch after batch of one class.
    reduce : {"consistent", "paper", None}, default="consistent"
        As in `CondensedReduced`.
    complexity : {"auto", "exact", "bound"}, default="auto"
        How facets are counted: "exact", or the certain ones only ("bound", quicker in many
        dimensions). "auto" is exact up to 5 features.
    random_state : int, RandomState or None, default=None
        Decides the order in which a pool is drawn, and that of condensing.
    n_jobs : int, default=None
        Threads for `predict`; None means all cores.
    progress : bool, default=False
        Show a progress bar over examples.

    Attributes
    ----------
    history_ : IncrementalHistory
        Every step, with `frame()` and `plot()`.
    samples_, sample_labels_ : ndarray
        All examples learnt, in the order they came.
    pool_indices_ : ndarray
        Rows of the pool that were drawn, in this order (with a pool).
    prototypes_, prototype_labels_ : ndarray
        The prototypes and their classes.
    interrupted_ : bool
        Whether Ctrl-C ended the loop early; what was learnt until then is kept.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    GreedyClassQuery, ShareClassQuery : The choice of the class alone.

    Examples
    --------
    >>> from allsplits import IncrementalNNClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = IncrementalNNClassifier(budget=60, batch_size=5, random_state=0).fit(X, y)
    >>> model.history_
    IncrementalHistory(10 steps to 60 examples (0: 10, 1: 25, 2: 25), 10 prototypes)

    A function is asked for examples as they are needed:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> def draw(label, count):
    ...     return rng.normal(loc=label, scale=0.3, size=(count, 2))
    >>> model = IncrementalNNClassifier(draw, classes=[0, 1, 2], budget=90, random_state=0).fit()
    >>> model.predict([[0.1, 0.0], [1.9, 2.0]])
    array([0, 2])
    """

    draw: Callable[[Any, int], Any] | tuple[Any, Any] | None = None
    _: KW_ONLY
    batch_size: int = 10
    budget: int | None = None
    initial: int = 5
    classes: ArrayLike | None = None
    priors: ArrayLike | None = None
    query: Literal["shares", "greedy", "priors"] = "shares"
    shuffle: bool = True
    reduce: Literal["consistent", "paper"] | None = "consistent"
    complexity: Literal["auto", "exact", "bound"] = "auto"
    random_state: Any = None

    def fit(self, X: Any = None, y: Any = None, eval_set: tuple[Any, Any] | None = None) -> Self:
        """Ask for examples until the budget is spent, and learn from them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The pool to draw from if `draw` is None; not given otherwise.
        y : array-like of shape (n_samples,), default=None
            Labels of the pool.
        eval_set : (X, y), default=None
            Samples on which the error is measured after every step, for the history.
        """
        self._check_parameters()
        random = check_random_state(self.random_state)
        source, priors, budget = self._open_source(X, y, random)
        loop = IncrementalLoop(
            source=source,
            query=CLASS_QUERIES[self.query],
            reduce=self.reduce,
            tests=self._read_tests(eval_set),
            shuffling=random if self.shuffle else None,
            state=Learnt(self.complexity, priors),
        )
        self._run(loop, budget)
        learnt = loop.state
        self.samples_, self.sample_labels_ = learnt.points, self.classes_[learnt.codes]
        rows = learnt.steps[-1].prototypes
        self.prototypes_, self.prototype_labels_ = self.samples_[rows], self.sample_labels_[rows]
        self.n_features_in_ = self.samples_.shape[1]
        self.history_ = IncrementalHistory.of(learnt, self.classes_)
        warn_of_contradictions(learnt.n_contradictions, stacklevel=2)
        if isinstance(source, PoolSource):
            self.pool_indices_ = np.array(source.drawn[: len(self.samples_)], dtype=np.intp)
        return self

    def _run(self, loop: IncrementalLoop, budget: int) -> None:
        self.interrupted_ = False
        with progress_bar(self.progress, "IncrementalNNClassifier", budget) as advance:
            try:
                loop.begin(self.initial, budget)
                advance(loop.n_samples)
                while loop.n_samples < budget and loop.can_go_on():
                    before = loop.n_samples
                    loop.ask(min(self.batch_size, budget - before))
                    advance(loop.n_samples - before)
            except KeyboardInterrupt:
                if not loop.state.steps:
                    raise
                self.interrupted_ = True
        if self.interrupted_:
            warnings.warn(
                f"stopped by Ctrl-C after {loop.n_samples} of {budget} examples; what was learnt "
                "until then is kept",
                UserWarning,
                stacklevel=3,
            )

    def _check_parameters(self) -> None:
        names = ("batch_size", "initial", "query", "shuffle", "reduce", "complexity", "progress")
        check_parameters(**{name: getattr(self, name) for name in names})
        thread_count(self.n_jobs)

    def _open_source(
        self, X: Any, y: Any, random: np.random.RandomState
    ) -> tuple[ExampleSource, NDArray[np.float64], int]:
        """Return the source of examples, priors and the budget."""
        if self.draw is not None and not (X is None and y is None):
            raise InvalidInputError(
                "X and y of fit are the pool if draw is None, and must not be given otherwise; got "
                "both draw and X"
            )
        if callable(self.draw):
            return self._open_function(self.draw)
        if self.draw is not None:
            if not isinstance(self.draw, (tuple, list)) or len(self.draw) != 2:
                raise InvalidTypeError(
                    "draw must be a function draw(label, count), a pool (X, y) or None; "
                    f"got {type(self.draw).__name__}"
                )
            X, y = self.draw
        points, codes = self._read(X, y)
        n_classes = len(self.classes_)
        budget = len(points)
        if self.budget is not None:
            budget = check_count("budget", self.budget, at_least=n_classes, at_most=len(points))
        shares = np.bincount(codes, minlength=n_classes)
        priors = check_priors(shares if self.priors is None else self.priors, n_classes)
        return PoolSource(points, codes, n_classes, random), priors, budget

    def _open_function(
        self, function: Callable[[Any, int], Any]
    ) -> tuple[ExampleSource, NDArray[np.float64], int]:
        if self.classes is None or self.budget is None:
            raise InvalidInputError(
                "classes and budget must be given if draw is a function: the labels to ask for, "
                f"and how many examples in all; got classes={self.classes!r}, "
                f"budget={self.budget!r}"
            )
        labels = np.asarray(self.classes)
        self.classes_, _ = check_labels(labels, labels.size)
        budget = check_count("budget", self.budget, at_least=len(self.classes_))
        source = FunctionSource(function, self.classes_)
        return source, check_priors(self.priors, len(self.classes_)), budget

    def _read_tests(
        self, eval_set: tuple[Any, Any] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]] | None:
        """Points, and positions of their labels among the classes (-1: a class never learnt)."""
        if eval_set is None:
            return None
        try:
            X, y = eval_set
        except (ValueError, TypeError) as error:
            raise InvalidInputError("eval_set must be a pair (X, y)") from error
        points = np.ascontiguousarray(check_points(X))
        labels, codes = check_labels(y, len(points), several=False)
        known = {label: position for position, label in enumerate(self.classes_.tolist())}
        positions = np.array([known.get(label, -1) for label in labels.tolist()], dtype=np.intp)
        return points, positions[codes]
