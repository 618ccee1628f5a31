"""UNNClassifier: nearest neighbours whose votes are boosted."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from allsplits._constructor import stores_parameters
from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits._validation import check_count, check_not_negative, check_parameters
from allsplits.boosting._boost import (
    Chooser,
    History,
    Neighborhoods,
    Rounds,
    boost,
    leading_leverages,
)
from allsplits.boosting._losses import Loss, resolve_loss
from allsplits.boosting._search import PrototypeSearch, PrototypeVotes
from allsplits.boosting._targets import Targets, read_new_samples, read_training
from allsplits.boosting._trust import Trust, count_agreement
from allsplits.exceptions import InvalidInputError
from allsplits.orders import Metric, as_given, order_neighbors

_CANCELLED = 1e-13
#: What a neighbour counts where all leverages are 0 or cancel.
_PLAIN_VOTE = 1e-9


@dataclass(frozen=True)
class Training:
    """Training data, ready to boost: what one neighbour search serves."""

    X: Any
    targets: Targets
    near: Neighborhoods


@stores_parameters
class Boosting(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The parameters of boosting, however k and θ are found."""

    _: KW_ONLY
    loss: Literal["exponential", "squared", "logistic"] | Loss = "exponential"
    chooser: Chooser = "boosting"
    smoothing: bool | float = True
    normalize_weights: bool = True
    n_rounds: int | None = None
    tol: float | None = None
    metric: str | Callable[..., float] = "minkowski"
    p: float = 2
    metric_params: Mapping[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    progress: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric != "precomputed"
        tags.input_tags.allow_nan = self.metric == "nan_euclidean"
        return tags


@stores_parameters
class UNNClassifier(Boosting):
    """Nearest neighbours with boosted votes (Universal Nearest Neighbors).

    Each training example learns, for each class, how much its vote counts: the leverages minimise
    a convex surrogate of the training error, one example at a time, the most helpful first.
    Examples that mislead those around them are not chosen, and few examples suffice: only those
    that were chosen are kept, and prediction searches among them alone.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours, in training (the example itself left out) and in prediction.
    loss : {"exponential", "squared", "logistic"} or Loss, default="exponential"
        The surrogate loss of the margin.
    theta : float, default=1.0
        Share of the examples to keep, above 0. Boosting takes ⌈theta · n_samples⌉ rounds for each
        class, and each class keeps at most that many examples, those with the largest leverages in
        size. The union over the classes are the prototypes, so with several classes they may
        be more. An example that no class chose is not kept, whatever theta.
    chooser : {"boosting", "boosting again", "longest step", "longest step once", "lazy"}, \
            default="boosting"
        Which example steps next. "boosting": the one with the largest positive step, each once, so
        that examples which mislead those around them get no say. "boosting again": the same, but
        an example may step again. "longest step": the longest step of either sign, again if need
        be, which goes to the global minimum of the surrogate; leverages may be negative. "longest
        step once": the same, each example once. "lazy": all in turn.
    smoothing : bool or float, default=True
        Added to both sums of weights before a step is computed; True is 1/n_samples, as in the
        paper, and False a rounding of the weights, 1e-16. It keeps steps finite where all
        neighbours agree. The squared loss needs none and ignores it.
    normalize_weights : bool, default=True
        Whether smoothing is added to weights that sum to 1 before each step, or to the weights as
        they are, which begin at 1 (exponential loss) and fall. Rounds of the first kind look at
        every example, so that training grows with the square of n_samples.
    n_rounds : int, default=None
        Rounds for each class; None takes ⌈theta · n_samples⌉, one turn for "lazy".
    tol : float, default=None
        Stop a class when no step is longer than this (for "lazy": in a whole turn), so that the
        surrogate no longer falls. None stops only when no step is left.
    metric, p, metric_params :
        As in scikit-learn's KNeighborsClassifier; "precomputed" takes distances.
    random_state : int, RandomState or None, default=None
        Order of equals in training: equally near examples, equally long steps, and the turn of
        "lazy". None takes them in row order, which is deterministic; a seed shuffles them. In
        prediction equally near prototypes share their votes.
    n_jobs : int, default=None
        Threads; None uses all cores. It does not change what is learnt.
    progress : bool, default=False
        Show a progress bar over the classes.

    Attributes
    ----------
    classes_ : ndarray
        The class labels; column numbers for an indicator matrix.
    alphas_ : ndarray of shape (n_samples, n_problems)
        The leverages. Two classes are one problem, because both have the same leverages; more
        classes, and the labels of an indicator matrix, are one column each.
    prototype_indices_ : ndarray
        Rows of the training data that prediction uses.
    surrogate_risk_ : ndarray of shape (n_rounds + 1, n_problems)
        Mean loss before the first round and after each.
    n_rounds_ : ndarray of shape (n_problems,)
        Rounds that each problem took.
    margins_ : ndarray of shape (n_samples, n_problems)
        Margins of the training examples after the last round.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    Several labels are given by y as an indicator matrix of zeros and ones.

    References
    ----------
    P. Piro, R. Nock, F. Nielsen, M. Barlaud (2011), *Leveraging k-NN for generic classification
    boosting*, Neurocomputing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from allsplits import UNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = UNNClassifier(n_neighbors=5, theta=0.2).fit(X[::2], y[::2])
    >>> len(model.prototype_indices_), round(model.score(X[1::2], y[1::2]), 3)
    (22, 0.947)
    """

    n_neighbors: int = 5
    _: KW_ONLY
    theta: float = 1.0

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the leverages.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples; distances (n_samples, n_samples) with ``metric="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix of several labels.
        """
        k = check_count("n_neighbors", self.n_neighbors, at_least=1)
        self._rounds_for(2)
        points, targets = read_training(self, X, y)
        others = len(points) - 1
        check_count("n_neighbors", k, at_most=others, at_least=1, why=" (the other samples)")
        rows = self._tie_order(len(points))
        near = Neighborhoods.read(self._nearest(points, k, rows))
        rounds = self._rounds_for(len(points))
        with progress_bar(self.progress, "boosting", len(targets.signs), "classes") as advance:
            history = boost(
                near, targets.signs[:, rows], rounds, thread_count(self.n_jobs), advance
            )
        back = np.argsort(rows)
        near = Neighborhoods.read(rows[near.neighbors][back])
        history = History(
            rows[history.chosen].astype(np.int32), history.steps, history.risks,
            history.n_rounds, history.margins[:, back],
        )  # fmt: skip
        return self._finish(Training(points, targets, near), history)

    def _rounds_for(self, n_samples: int) -> Rounds:
        """Check the parameters of boosting and read them for so many samples."""
        check_parameters(
            chooser=self.chooser, normalize_weights=self.normalize_weights,
            progress=self.progress, theta=self.theta,
        )  # fmt: skip
        thread_count(self.n_jobs)
        if isinstance(self.smoothing, (bool, np.bool_)):
            smoothing = 1 / n_samples if self.smoothing else 0.0
        else:
            smoothing = check_not_negative("smoothing", self.smoothing)
        n_rounds = n_samples if self.chooser == "lazy" else math.ceil(float(self.theta) * n_samples)
        if self.n_rounds is not None:
            n_rounds = check_count("n_rounds", self.n_rounds, at_least=1)
        tol = 0.0 if self.tol is None else check_not_negative("tol", self.tol)
        return Rounds(
            resolve_loss(self.loss), self.chooser, n_rounds, smoothing,
            bool(self.normalize_weights), tol,
        )  # fmt: skip

    def _tie_order(self, n_samples: int) -> NDArray[np.intp]:
        """The order in which equals are taken."""
        if self.random_state is None:
            return np.arange(n_samples)
        try:
            generator = check_random_state(self.random_state)
        except ValueError as error:
            raise InvalidInputError(
                "random_state must be None, an int or a numpy RandomState; "
                f"got {self.random_state!r}"
            ) from error
        order: NDArray[np.intp] = generator.permutation(n_samples)
        return order

    def _nearest(self, points: Any, k: int, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """The k nearest of each of these rows among them, ties in their order."""
        chosen = points[np.ix_(rows, rows)] if self.metric == "precomputed" else points[rows]
        order = order_neighbors(
            as_given(chosen), depth=k, metric=self.metric, p=self.p,
            metric_params=self.metric_params, n_jobs=self.n_jobs,
        )  # fmt: skip
        return order.indices

    def _finish(self, training: Training, history: History) -> Self:
        """Set the fitted attributes from the rounds that were taken."""
        alphas = history.leverages()
        targets = training.targets
        self.classes_ = targets.classes
        self.n_rounds_ = history.n_rounds
        self.surrogate_risk_ = history.risks.T
        self.margins_ = history.margins.T
        self.alphas_ = leading_leverages(alphas, self.theta)
        chosen = np.flatnonzero(np.any(self.alphas_ != 0, axis=1))
        # If no step would have helped anybody, nobody is better than the others.
        self.prototype_indices_ = chosen if len(chosen) else np.arange(len(alphas))
        self._training, self._history = (targets, training.near), history
        metric = Metric.resolve(self.metric, self.p, self.metric_params)
        self._search = PrototypeSearch(
            training.X, self.prototype_indices_, metric, self.n_neighbors,
            thread_count(self.n_jobs),
        )  # fmt: skip
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The leveraged votes of the nearest prototypes, positive for membership.

        Prototypes that are tied at the last place share the votes that are left. Where the votes
        are 0, because they cancel or because no neighbour was chosen for a class, each neighbour
        counts 1e-9.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes (positive: the second), else
        (n_samples, n_classes)
        """
        voters = self._search_for(X)
        targets = self._training[0]
        votes = (self.alphas_ * targets.signs.T)[self.prototype_indices_]
        decision, sizes = voters.sums(votes), voters.sums(np.abs(votes))
        # Votes that cancel are a tie, whatever rounding leaves of it.
        decision[np.abs(decision) <= _CANCELLED * sizes] = 0.0
        decision = self._settle(decision, voters)
        return decision[:, 0] if targets.kind == "binary" else decision

    def _settle(self, decision: NDArray[np.float64], voters: PrototypeVotes) -> NDArray[np.float64]:
        """Where the leveraged vote is 0, count the plain vote, by very little."""
        if decision.all():
            return decision
        plain = voters.sums(self._training[0].signs.T[self.prototype_indices_].astype(np.float64))
        return np.where(decision == 0, _PLAIN_VOTE * plain, decision)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest vote; every label with a positive vote."""
        return self._labels(self.decision_function(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, by the link of the loss.

        A decision value h stands for the probability 1/(1 + exp(-2h)) with the exponential loss,
        1/(1 + exp(-h)) with the logistic loss, (1 + h)/2 cut to [0, 1] with the squared loss, and
        w(-h)/(w(h) + w(-h)) with a `Loss` of weight w. With three or more classes these are
        divided by their sum (equal shares where all are 0); labels of an indicator matrix
        have one each. Boosting drives decision values up, so the probabilities are often too sure
        of themselves: scikit-learn's CalibratedClassifierCV can mend that.
        """
        decision = self.decision_function(X)
        shares = resolve_loss(self.loss).probability(decision)
        kind = self._training[0].kind
        if kind == "binary":
            return np.column_stack([1 - shares, shares])
        if kind == "multiclass":
            total = shares.sum(axis=1, keepdims=True)
            equal = np.full_like(shares, 1 / shares.shape[1])
            shares = np.where(total > 0, shares / np.where(total > 0, total, 1), equal)
        return shares

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predictions after each round (of all classes at once), among the final prototypes.

        The last is `predict`, if no leverage was cut off by ``theta``.
        """
        voters = self._search_for(X)
        targets, history = self._training[0], self._history
        position = np.full(targets.signs.shape[1], -1)
        position[self.prototype_indices_] = np.arange(len(self.prototype_indices_))
        voted_on = voters.counts.tocsc()
        decision = np.zeros((voted_on.shape[0], len(targets.signs)))
        for t in range(history.steps.shape[1]):
            for c, j in enumerate(history.chosen[:, t]):
                if position[j] >= 0 and self.alphas_[j, c] != 0:
                    part = slice(*voted_on.indptr[position[j] : position[j] + 2])
                    rows = voted_on.indices[part]
                    share = voted_on.data[part] / voters.unit[rows]
                    decision[rows, c] += share * history.steps[c, t] * targets.signs[c, j]
            settled = self._settle(decision, voters)
            yield self._labels(settled[:, 0] if targets.kind == "binary" else settled)

    def trust(self) -> Trust:
        """What the votes say about the training examples; see `Trust`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from allsplits import UNNClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> y[[3, 140]] = 1
        >>> UNNClassifier(n_neighbors=10).fit(X, y).trust().least(2)
        array([  3, 140])
        """
        check_is_fitted(self)
        targets, near = self._training
        agreement = count_agreement(near, targets)
        return Trust(
            targets.texts(), agreement.trust, targets.own(self._history.leverages()),
            targets.own(self.margins_), agreement.support, agreement.n_reciprocal,
        )  # fmt: skip

    def _search_for(self, X: Any) -> PrototypeVotes:
        check_is_fitted(self)
        return self._search.votes(read_new_samples(self, X))

    def _labels(self, decision: NDArray[np.float64]) -> NDArray[Any]:
        kind = self._training[0].kind
        if kind == "multilabel":
            return (decision > 0).astype(np.int64)
        codes = np.argmax(decision, axis=1) if kind == "multiclass" else (decision > 0).astype(int)
        labels: NDArray[Any] = self.classes_[codes]
        return labels
