"""UNNClassifierCV: k and θ by cross-validation, all θ from one training.

Boosting goes on from where it was: the rounds of a small θ are the first rounds of a large one. So
each fold needs one neighbour search, and one training for each k.
"""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from allsplits._constructor import stores_parameters
from allsplits._progress import progress_bar
from allsplits._threads import map_row_ranges, thread_count
from allsplits._validation import check_counts, check_fraction, keep_fitting
from allsplits.boosting._boost import History, Neighborhoods, boost
from allsplits.boosting._scores import ThetaScores
from allsplits.boosting._targets import Targets, read_new_samples, read_training
from allsplits.boosting._unn import Boosting, Training, UNNClassifier
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.orders import as_given


@stores_parameters
class UNNClassifierCV(Boosting):
    """`UNNClassifier` that chooses its number of neighbours and θ by cross-validation.

    Unlike votes that all count the same, boosted votes are learnt from each training set, so there
    is no closed form over all splits: the folds are those of `cv`. A repeated splitter
    (scikit-learn's RepeatedStratifiedKFold) makes the choice steadier.

    Parameters
    ----------
    n_neighbors : int or iterable of int, default=(1, 3, 5, 10, 15)
        Candidates for the number of neighbours. Those that do not fit the smallest training set
        are left out with a warning.
    theta : float or iterable of float, default=(0.1, 0.2, …, 1.0)
        Candidates for the share of the examples to keep.
    cv : int, splitter or iterable, default=None
        The folds, as in scikit-learn; None is stratified 5-fold.
    scoring : str or callable, default=None
        A scikit-learn scorer; None is the accuracy.
    loss, chooser, smoothing, normalize_weights, n_rounds, tol, metric, p, metric_params, \
            random_state, n_jobs :
        As in `UNNClassifier`.
    progress : bool, default=False
        Show a progress bar over the trainings.

    Attributes
    ----------
    best_params_ : dict
        The chosen n_neighbors and theta; of equal ones the smaller theta, then the smaller k.
    best_score_ : float
        Their mean score over the folds.
    scores_ : ThetaScores
        Scores of all candidates, with `frame()` and `plot()`.
    best_estimator_ : UNNClassifier
        The chosen classifier, fitted on all samples.
    classes_, n_features_in_ :
        As in `UNNClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from allsplits import UNNClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = UNNClassifierCV(n_neighbors=(3, 5), theta=(0.2, 0.6, 1.0)).fit(X, y)
    >>> model.scores_
    ThetaScores(2 × 3 pairs, 5 folds: best accuracy ... at n_neighbors=..., theta=...)
    """

    n_neighbors: int | Iterable[int] = (1, 3, 5, 10, 15)
    _: KW_ONLY
    theta: float | Iterable[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    cv: Any = None
    scoring: str | Callable[..., float] | None = None

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Choose n_neighbors and theta by cross-validation, then fit on all samples.

        Parameters
        ----------
        X, y :
            As in `UNNClassifier.fit`.
        groups : array-like of shape (n_samples,), default=None
            Groups, for splitters that need them.
        """
        ks = check_counts("n_neighbors", self.n_neighbors)
        thetas = _check_thetas(self.theta)
        self._model(1, 1.0).set_params(progress=self.progress)._rounds_for(2)
        points, targets = read_training(self, X, y)
        scorer = check_scoring(self._model(1, 1.0), scoring=self.scoring)
        folds = list(check_cv(self.cv, targets.y, classifier=True).split(points, targets.y, groups))
        ks = _keep_fitting(ks, folds)
        self.scores_ = self._score(points, targets, folds, ks, thetas, scorer)
        self.best_params_ = self.scores_.best
        self.best_score_ = self.scores_.best_score
        chosen = self._model(self.best_params_["n_neighbors"], self.best_params_["theta"])
        self.best_estimator_ = chosen.fit(as_given(points), targets.y)
        return self

    def _model(self, k: int, theta: float) -> UNNClassifier:
        shared = {name: getattr(self, name) for name in Boosting().get_params()}
        return UNNClassifier(k, theta=theta, **{**shared, "progress": False})

    def _score(
        self,
        X: Any,
        targets: Targets,
        folds: list[Any],
        ks: list[int],
        thetas: list[float],
        scorer: Callable[..., float],
    ) -> ThetaScores:
        """Scores of every pair on every fold."""
        scores = np.empty((len(ks), len(thetas), len(folds)))
        sizes = np.empty_like(scores)
        total = len(folds) * len(ks)
        with progress_bar(self.progress, "cross-validation", total, "trainings") as advance:
            for fold, (train, test) in enumerate(folds):
                train = train[self._model(1, 1.0)._tie_order(len(train))]
                queries = X[np.ix_(test, train)] if self.metric == "precomputed" else X[test]
                queries = as_given(queries)
                trainings, histories = self._train(X, targets, train, ks, max(thetas), advance)
                # One after the other: scikit-learn's search may only be called from one thread.
                for place, k in enumerate(ks):
                    models = self._models(trainings[place], histories[place], k, thetas)
                    for number, model in enumerate(models):
                        scores[place, number, fold] = scorer(model, queries, targets.y[test])
                        sizes[place, number, fold] = len(model.prototype_indices_)
        name = "accuracy" if self.scoring is None else str(self.scoring)
        return ThetaScores(np.array(ks), np.array(thetas), scores, sizes.mean(axis=2), name)

    def _train(
        self,
        X: Any,
        targets: Targets,
        train: NDArray[np.intp],
        ks: list[int],
        theta: float,
        advance: Callable[[int], None],
    ) -> tuple[list[Training], list[History]]:
        """Boost on one fold for every k, side by side, from one neighbour search."""
        nearest = self._model(1, theta)._nearest(X, max(ks), train)
        points = X[np.ix_(train, train)] if self.metric == "precomputed" else X[train]
        signs = np.ascontiguousarray(targets.signs[:, train])
        part = Targets(targets.kind, targets.classes, targets.y[train], signs)
        trainings = [Training(points, part, Neighborhoods.read(nearest[:, :k])) for k in ks]
        histories: list[Any] = [None] * len(ks)

        def work(start: int, stop: int) -> None:
            for place in range(start, stop):
                rounds = self._model(ks[place], theta)._rounds_for(len(train))
                histories[place] = boost(trainings[place].near, signs, rounds, 1)
                advance(1)

        map_row_ranges(work, len(ks), thread_count(self.n_jobs), smallest=1)
        return trainings, histories

    def _models(
        self, training: Training, history: History, k: int, thetas: list[float]
    ) -> Iterable[UNNClassifier]:
        """One fitted model for each θ, all from the rounds of the largest."""
        for theta in thetas:
            model = self._model(k, theta)
            model.n_features_in_ = training.X.shape[1]
            n_rounds = model._rounds_for(len(training.X)).n_rounds
            yield model._finish(training, _first_rounds(history, n_rounds))

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of new samples."""
        points = self._new(X)
        return self.best_estimator_.predict(points)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes; see `UNNClassifier.predict_proba`."""
        points = self._new(X)
        return self.best_estimator_.predict_proba(points)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Leveraged votes of the nearest prototypes."""
        points = self._new(X)
        return self.best_estimator_.decision_function(points)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        return self.best_estimator_.classes_

    def _new(self, X: Any) -> Any:
        check_is_fitted(self)
        return as_given(read_new_samples(self, X))


def _first_rounds(history: History, n_rounds: int) -> History:
    """The history as if boosting had stopped after so many rounds (margins: those of the end)."""
    return History(
        history.chosen[:, :n_rounds],
        history.steps[:, :n_rounds],
        history.risks[:, : n_rounds + 1],
        np.minimum(history.n_rounds, n_rounds),
        history.margins,
    )


def _keep_fitting(ks: list[int], folds: list[Any]) -> list[int]:
    """Candidates that fit every fold; called by `fit`, at whose caller the warning points."""
    most = min(len(train) for train, _ in folds) - 1
    return keep_fitting("n_neighbors", ks, most, "the other samples of the smallest training set")


def _check_thetas(theta: Any) -> list[float]:
    if isinstance(theta, (str, bytes)):
        raise InvalidTypeError(f"theta must be a number or a list of numbers; got {theta!r}")
    candidates = list(theta) if isinstance(theta, Iterable) else [theta]
    thetas = [check_fraction("each value of theta", value, allow_one=True) for value in candidates]
    if not thetas or len(set(thetas)) < len(thetas):
        raise InvalidInputError(f"theta must hold at least one value, each once; got {thetas}")
    return thetas
