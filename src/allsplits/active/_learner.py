"""`ActiveLearner`: a labelling effort from the first label to the last, safe against crashes."""

import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from allsplits._constructor import stores_parameters
from allsplits._frames import make_frame, row_names
from allsplits._threads import thread_count
from allsplits._validation import (
    check_flag,
    check_parameters,
    check_same_rows,
    validate_samples,
)
from allsplits.active._autosave import Autosave, resolve, save_once
from allsplits.active._candidates import Candidates
from allsplits.active._cover import choose_cover
from allsplits.active._labels import read_start, read_taught
from allsplits.active._query import CommitteeEstimator
from allsplits.active._rows import read_rows
from allsplits.active._saved import SavedLearner, damaged
from allsplits.active._start import at_start
from allsplits.active._state import Round, State
from allsplits.active._store import fingerprint, to_plain
from allsplits.active._tuning import choose_neighbors, read_neighbors
from allsplits.active._turns import Turns
from allsplits.active._votes import ask_committee, choose_batch
from allsplits.exact import Voters
from allsplits.exceptions import AllSplitsError, InvalidInputError
from allsplits.orders import Reference, read_new, read_samples


@stores_parameters
class ActiveLearner(ClassifierMixin, CommitteeEstimator):  # type: ignore[misc]
    """Labelled samples, a pool, and which of the pool to label next.

    `fit` starts with whatever labels there are. `ask` names samples that cover the pool while
    labels are few, and then those that the committee of all leave-p-out classifiers disagrees on
    most. `teach` takes their labels and re-tunes k by exact leave-p-out (Celisse & Mary-Huard 2011,
    section 4). With `autosave` every label is on the disk before `teach` returns. Several threads
    may use one learner.

    Parameters
    ----------
    n_neighbors : int or iterable of int, default=(1, 2, …, 30)
        Candidates for k. Those that the labels so far are too few for are left out; before there
        is anything to choose by, k is the smallest.
    leave_out : int, default=1
        Labelled samples that each member of the committee leaves out, for choosing points.
    tune_leave_out : int, default=10
        Samples left out for choosing k. The paper recommends to leave out few for choosing points
        and more for choosing k.
    start : {"cover", "random"}, default="cover"
        What is asked before the committee can judge. "cover": while there are fewer than
        10 labels for each class seen so far (on average), the samples that bring the
        pool nearest to its labels, whatever those are and wherever they came from. "random": while
        there are fewer than `n_neighbors_` + `leave_out` labels, or one class, samples at random,
        spread by `diversity`.
    utility, diversity, metric, metric_params, missing_label, distance_ties, label_ties, n_jobs :
        As in `CommitteeQuery`.
    autosave : path, default=None
        A file that is replaced, in one step, with every change. `load` continues from it. It has
        one writer at a time: until this learner is closed or forgotten, or its process ends, other
        processes are refused. A relative path is taken from the folder that is current in `fit`.
    random_state : int, RandomState instance or None, default=None
        Decides between equally useful samples, and which are asked, or stand for a large pool, at
        the start.
    progress : bool, default=False
        Show a progress bar while the committee is asked.

    Attributes
    ----------
    n_neighbors_ : int
        The current k.
    labelled_, pool_ : ndarray of int
        Samples with a label; samples that can be asked about.
    labels_ : ndarray
        Labels of the `labelled_`.
    classes_ : ndarray
        The classes seen so far.
    rounds_ : tuple
        What was taught, call by call; `history` has it as a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from allsplits import ActiveLearner
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> X, X_new, truth, truth_new = train_test_split(*load_iris(return_X_y=True), random_state=0)
    >>> y = np.full(len(X), np.nan)
    >>> y[:15] = truth[:15]
    >>> learner = ActiveLearner(tune_leave_out=3, random_state=0).fit(X, y)
    >>> for _ in range(5):
    ...     asked = learner.ask(5)
    ...     _ = learner.teach(asked, truth[asked])
    >>> len(learner.labelled_), float((learner.predict(X_new) == truth_new).mean().round(2))
    (40, 0.97)
    """

    n_neighbors: int | Iterable[int] = tuple(range(1, 31))
    _: KW_ONLY
    leave_out: int = 1
    tune_leave_out: int = 10
    start: Literal["cover", "random"] = "cover"
    autosave: str | Path | None = None

    # ---------------------------------------------------------------- start

    def fit(self, X: Any, y: Any = None) -> Self:
        """Start: all samples, and the labels that are known.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Labelled and unlabelled samples.
        y : array-like of shape (n_samples,), default=None
            Their labels; NaN or None where a label is missing. None: nothing is labelled yet.
        """
        self._check_parameters()
        file = None if self.autosave is None else Autosave(self.autosave)
        if file is not None:
            file.check_unchanged()
        check_same_rows(X=X, y=y)
        points = self._read_points(X)
        self._check_fits(len(points))
        found = read_start(y, len(points), self.missing_label)
        self._begin(points, row_names(X), file)
        seeds = self.random_state
        self.seed_ = (
            int(seeds)
            if isinstance(seeds, Integral)
            else int(check_random_state(seeds).randint(2**31 - 1))
        )
        rows, labels = found.rows.tolist(), found.classes[found.codes].tolist()
        start = Round(tuple(rows), tuple(labels), self._candidates()[0])
        self._become(State.replay(len(points), (start,)))
        return self

    def _begin(self, points: Any, names: NDArray[Any] | None, file: Autosave | None) -> None:
        self._points = points
        self._names = names
        self._file = file
        self._fingerprint: Any = None
        self._turns = Turns()

    def _read_points(self, X: Any) -> Any:
        metric = self._resolve_metric()
        finite: bool | str = "allow-nan" if metric.allows_nan else True
        X = validate_samples(self, X, ensure_min_samples=2, ensure_all_finite=finite)
        points = read_samples(X, metric)
        self._metric = metric.fixed_by_sample(points)
        return points

    # ---------------------------------------------------------------- ask and teach

    def ask(self, batch_size: int = 1, *, ignore: Any = ()) -> NDArray[np.intp]:
        """Name the samples of the pool to label next, the most useful first.

        Asking changes nothing: until something is taught, the same question has the same answer.
        What is asked before the committee can judge is what `start` says.

        Parameters
        ----------
        batch_size : int, default=1
            How many. If the pool has fewer, all of it is returned with a warning.
        ignore : array-like of int, default=()
            Rows of X that count as not labelled here: their labels are not looked at, and they may
            be named. Where some labels were drawn to measure by, a learner that knew them would ask
            little beside them, and they would be in a worse place than other samples.

        Returns
        -------
        ndarray of shape (batch_size,)
            Rows of X, counted from 0; for a pandas frame ``X.index[rows]`` are their names.
        """
        state = self._fitted()
        check_parameters(batch_size=batch_size)
        labels = state.partial_labels()
        unseen = labels.rows[np.isin(labels.rows, read_rows("ignore", ignore, state.n_samples))]
        pool = np.union1d(state.pool, unseen)
        if len(pool) == 0:
            raise InvalidInputError("the pool is empty: every sample is labelled or skipped")
        if batch_size > len(pool):
            warnings.warn(
                f"batch_size is {batch_size}, but the pool has {len(pool)} samples: all of "
                "them are returned",
                UserWarning,
                stacklevel=2,
            )
        size = min(batch_size, len(pool))
        rng = np.random.RandomState([self.seed_ % 2**32, len(state.rounds)])
        labels = labels.without(unseen)
        k = state.rounds[-1].n_neighbors
        found = Candidates(self._points, self._metric, labels.rows, pool, state.n_samples)
        if self.start == "cover" and at_start(labels, k + self.leave_out):
            return pool[choose_cover(found, size, thread_count(self.n_jobs), rng)]
        reference = self._points[labels.rows]
        options = self._options(progress=self.progress)
        votes = ask_committee(found, labels, k, self.leave_out, reference, options)
        positions, _ = choose_batch(votes, self.utility, self.diversity, size, rng)
        return pool[positions]

    def teach(self, indices: Any, labels: Any, *, overwrite: bool = False) -> Self:
        """Take the labels of some samples and choose k anew.

        With `autosave` they are on the disk when this returns; if it raises, nothing has changed.

        Parameters
        ----------
        indices : int or array-like of int
            Rows of X.
        labels : label or array-like
            One for each. None or NaN skips a sample: it will not be asked about again.
        overwrite : bool, default=False
            Whether samples that have been taught may be given another label.
        """
        check_parameters(overwrite=overwrite)
        rows = read_rows("indices", indices, self._fitted().n_samples).tolist()
        if not rows:
            raise InvalidInputError("indices must hold at least one row of X; got none")
        values = read_taught(labels, len(rows), self.missing_label)
        with self._turns:
            state = self._fitted()
            known = [row for row in rows if row in state.labels]
            if known and not overwrite:
                raise InvalidInputError(
                    f"indices must be samples of the pool; {known[:5]} were taught before: pass "
                    "overwrite=True to correct their labels"
                )
            self._become(state.taught(Round(tuple(rows), tuple(values), self._candidates()[0])))
        return self

    def undo(self) -> Self:
        """Take back the last call of `teach`."""
        self._fitted()
        with self._turns:
            state = self._fitted()
            if len(state.rounds) == 1:
                raise InvalidInputError(
                    "there is nothing to undo: nothing has been taught since fit"
                )
            self._change(State.replay(state.n_samples, state.rounds[:-1]))
        return self

    def forget(self, indices: Any) -> Self:
        """Put samples back into the pool, as if they had never been taught, and choose k anew.

        Parameters
        ----------
        indices : int or array-like of int
            Rows of X that were taught, labelled or skipped.
        """
        rows = read_rows("indices", indices, self._fitted().n_samples).tolist()
        with self._turns:
            state = self._fitted()
            unknown = [row for row in rows if row not in state.labels]
            if unknown or not rows:
                raise InvalidInputError(
                    f"indices must be samples that were taught; got {unknown[:5] or 'none'}"
                )
            self._become(state.without(set(rows)))
        return self

    def history(self, backend: str | None = None) -> Any:
        """One row per call of `teach`, the start first, as a pandas or polars data frame.

        Columns: round, n_taught, n_labelled (after it), n_neighbors (chosen after it) and score
        (its exact leave-p-out accuracy).
        """
        return make_frame(self._fitted().history(), backend)

    def frame(self, backend: str | None = None) -> Any:
        """One row per sample, as a pandas or polars data frame.

        Columns: row (of X), name (the index of a pandas X, if it has one), status ("labelled",
        "skipped" or "pool"), label (None if there is none) and round (of `history`, in which the
        sample was last taught).
        """
        state = self._fitted()
        names = {} if self._names is None else {"name": self._names.tolist()}
        return make_frame({"row": list(range(state.n_samples)), **names, **state.table()}, backend)

    def _become(self, state: State) -> None:
        """Tune k for a new state, then change over to it."""
        labels = state.partial_labels()
        k, score = choose_neighbors(
            self._reference(labels.rows), labels, self._candidates(), self._metric,
            self.tune_leave_out, len(labels.rows) - self.leave_out, self._options(),
        )  # fmt: skip
        self._change(state.tuned(k, score))

    def _reference(self, rows: NDArray[np.intp]) -> Any:
        """The points of some samples, or the distances between them."""
        points = self._points[rows]
        return points[:, rows] if self._metric.precomputed else points

    def _change(self, state: State) -> None:
        """Disk first, then memory: what was taught is never only in memory."""
        file = self._autosave_file()
        if file is not None:
            file.write(self._saved(state))
        self._state = state

    def _autosave_file(self) -> Autosave | None:
        """Where to save: the file that was opened, unless `autosave` was set to another."""
        if self.autosave is None:
            self._file = None
        elif self._file is None or str(self._file.given) != str(self.autosave):
            self._file = Autosave(self.autosave)
        return self._file

    # ---------------------------------------------------------------- save and load

    def save(self, path: str | Path) -> None:
        """Write parameters, labels and history to a JSON file, in one step.

        X is not in the file, only what it is recognised by: `load` wants it again. An older file is
        replaced, but not one that another learner saves itself to.
        """
        save_once(path, self._saved(self._fitted()))

    def close(self) -> None:
        """Let others write the autosave file.

        Teaching opens it again, if nobody else has it or has changed it.
        """
        self._fitted()
        with self._turns:
            if self._file is not None:
                self._file.close()

    @classmethod
    def load(cls, path: str | Path, X: Any, *, autosave: bool = True) -> Self:
        """Continue from a file of `save` or `autosave`.

        Parameters
        ----------
        path : path
            The file.
        X : array-like of shape (n_samples, n_features)
            The same samples as before.
        autosave : bool, default=True
            Whether a learner that had `autosave` goes on saving to the file. If so, another process
            that does is an error; another learner of this process is told when it teaches next.
        """
        check_flag("autosave", autosave)
        saved = SavedLearner.read(resolve("path", path))
        if not (autosave and saved.autosave):
            return cls._restore(path, X, saved, None)
        file, saved = Autosave.take(path)
        try:
            return cls._restore(path, X, saved, file)
        except BaseException:
            file.close()
            raise

    @classmethod
    def _restore(cls, path: str | Path, X: Any, saved: SavedLearner, file: Autosave | None) -> Self:
        """The learner of a file, after all has been checked."""
        saved.check_names(path, set(cls().get_params()) - {"autosave"})
        learner = cls(**saved.params, autosave=None if file is None else path)
        try:
            learner._check_parameters()
            learner._check_fits(saved.fingerprint["shape"][0])
            state = State.replay(saved.fingerprint["shape"][0], saved.rounds)
            state.partial_labels()
        except AllSplitsError as error:
            raise damaged(path, error) from error
        points = learner._read_points(X)
        saved.check_points(path, points)
        learner._begin(points, row_names(X), file)
        learner._fingerprint = saved.fingerprint
        learner.seed_ = saved.params["random_state"]
        learner._state = state
        return learner

    def _saved(self, state: State) -> SavedLearner:
        params = {**self.get_params(deep=False), "random_state": self.seed_}
        del params["autosave"]
        if self._fingerprint is None:
            self._fingerprint = fingerprint(self._points)
        return SavedLearner(params, self._fingerprint, self.autosave is not None, state.rounds)

    # ---------------------------------------------------------------- the classifier so far

    def predict(self, X: Any) -> NDArray[Any]:
        """Classes of new samples: the largest share of the votes, the first class of equal ones."""
        classes, shares = self._vote(X)
        labels: NDArray[Any] = classes[shares.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Shares of the votes of the k nearest labelled samples.

        Those that are tied at the k-th place share the votes that are left, the average over all
        orders of the tied.
        """
        return self._vote(X)[1]

    def _vote(self, X: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The classes and their shares of the votes."""
        state = self._fitted()
        labels = state.partial_labels()
        k = state.rounds[-1].n_neighbors
        if len(labels.rows) < k:
            raise InvalidInputError(
                f"a prediction needs at least n_neighbors = {k} labels; got {len(labels.rows)}: "
                "ask() and teach() first"
            )
        reference = Reference(self._points[labels.rows], self._metric, thread_count(self.n_jobs))
        voters, n_classes = Voters(reference, k), len(labels.classes)
        return labels.classes, voters.class_shares(self._new(X, state), labels.codes, n_classes)

    def _new(self, X: Any, state: State) -> Any:
        finite: bool | str = "allow-nan" if self._metric.allows_nan else True
        X = validate_samples(self, X, reset=False, ensure_all_finite=finite)
        points = read_new(X, self._metric) if issparse(X) else X
        return points[:, state.rows] if self._metric.precomputed else points

    @property
    def n_neighbors_(self) -> int:
        """The current number of neighbours."""
        return self._fitted().rounds[-1].n_neighbors

    @property
    def labelled_(self) -> NDArray[np.intp]:
        """Samples with a label, in row order."""
        return self._fitted().rows

    @property
    def labels_(self) -> NDArray[Any]:
        """Their labels."""
        labels = self._fitted().partial_labels()
        return labels.classes[labels.codes]

    @property
    def pool_(self) -> NDArray[np.intp]:
        """Samples that are neither labelled nor skipped."""
        return self._fitted().pool

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes seen so far."""
        return self._fitted().partial_labels().classes

    @property
    def rounds_(self) -> tuple[Round, ...]:
        """What was taught, call by call, the start first."""
        return self._fitted().rounds

    # ---------------------------------------------------------------- a page for people

    def serve(self, path: str | Path, **options: Any) -> Any:
        """Start a page in the browser on which people label; the learner is taught what they say.

        Every answer is kept in an SQLite file before it is acknowledged. The learner asks, and is
        taught in the background. Needs the extra ``label``.

        Parameters
        ----------
        path : path
            The file of the answers (`LabelStore`); one that is there is gone on with.
        **options
            `classes`, `names`, `texts`, `columns`, `images`, `image_shape`, `checks`, `target`,
            `host`, `port` and `token`, as in `LabelPage`.

        Returns
        -------
        LabelPage
            Its ``address`` is to be opened in a browser; ``stop()`` ends it.
        """
        self._fitted()
        from allsplits.labelling import LabelPage

        return LabelPage(self, path, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.input_tags.sparse = self.metric != "precomputed"
        return tags

    # ---------------------------------------------------------------- checks

    def _fitted(self) -> State:
        check_is_fitted(self, "_state")
        state: State = self._state
        return state

    def _candidates(self) -> list[int]:
        return read_neighbors(self.n_neighbors)

    def _check_fits(self, n_samples: int) -> None:
        smallest = self._candidates()[0]
        if smallest > n_samples:
            raise InvalidInputError(
                f"n_neighbors must hold a value of at most {n_samples}, the samples of X; the "
                f"smallest is {smallest}"
            )

    def _check_parameters(self) -> None:
        self._candidates()
        names = ("leave_out", "tune_leave_out", "start", "diversity", "utility", "progress")
        check_parameters(**{name: getattr(self, name) for name in names})
        self._options()
        self._resolve_metric()
        if self.autosave is not None:
            to_plain("metric (with autosave)", self.metric)
            to_plain("metric_params (with autosave)", self.metric_params)
