"""`report`: from an evaluation, or from data, to a page one can show."""

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.neighbors import KNeighborsClassifier

from allsplits._files import write_file
from allsplits._validation import check_count, check_fraction
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError
from allsplits.model_selection import Curve, Evaluation
from allsplits.model_selection._nested import NestedScore
from allsplits.model_selection._optimism import choice_in_passing
from allsplits.model_selection._options import check_options
from allsplits.model_selection._pipeline_evaluation import refuse_refitted
from allsplits.model_selection._scoring import plain_score
from allsplits.model_selection._task import Given, Task
from allsplits.reports._page import render
from allsplits.reports._rows import Rows
from allsplits.reports._run import look_again, read_again, run
from allsplits.reports._summary import summarize


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A page about one evaluation, made from a plain summary.

    Notebooks display it.

    Attributes
    ----------
    summary : dict
        Everything the page says: text, numbers and lists.
    evaluation : Evaluation
        What it is about.
    """

    summary: dict[str, Any]
    evaluation: Evaluation

    def html(self) -> str:
        """The page: one HTML text that needs no network and no other file."""
        return render(self.summary)

    def json(self) -> str:
        """The summary as JSON."""
        return json.dumps(self.summary, indent=1, allow_nan=False)

    def save(self, path: str | Path) -> Path:
        """Write the page, or the summary if `path` ends in ".json"; returns where it is.

        The file is replaced in one step: it is never half there.
        """
        text = self.json() if str(path).lower().endswith(".json") else self.html()
        return write_file("path", path, lambda file: file.write(text.encode("utf-8")))

    def _repr_html_(self) -> str:
        """Notebooks: the page in a frame of its own, so that no style leaks in or out."""
        page = html.escape(self.html(), quote=True)
        title = html.escape(self.summary["title"], quote=True)
        return (
            f'<iframe title="{title}" sandbox="allow-scripts" srcdoc="{page}" '
            'style="width:100%;height:760px;border:1px solid #8888;border-radius:6px"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Report({self.summary['answer']})"


def report(
    evaluation_or_X: Any,
    y: Any = None,
    *,
    X: Any = None,
    estimator: Any = None,
    n_neighbors: int | Iterable[int] | None = None,
    cv: Any = None,
    scoring: str | None = None,
    groups: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    strata: Any = None,
    curves: Sequence[Curve] | None = None,
    against: Evaluation | Mapping[str, Evaluation] | None = None,
    confidence: float = 0.95,
    n_samples_shown: int = 12,
    image_shape: Sequence[int] | None = None,
    feature_names: Sequence[str] | None = None,
    title: str = "Nearest neighbours, over every split",
    notes: Sequence[str] = (),
    n_jobs: int | None = None,
    progress: bool = False,
    path: str | Path | None = None,
) -> Report:
    """Make a page: the answer in a sentence, curves, confusion, samples to look at, all numbers.

    Parameters
    ----------
    evaluation_or_X : Evaluation, or array-like or data frame of shape (n_samples, n_features)
        The result of `evaluate`, or the samples: then k is chosen, the chosen model evaluated and
        the curves computed here.
    y : array-like of shape (n_samples,), default=None
        Labels or targets, with samples.
    X : array-like or data frame, default=None
        With an Evaluation: its samples, so that the page can show them. They are computed with only
        if `estimator` is given as well; without, labels and samples are judged by the task of the
        Evaluation.
    estimator : KNeighborsClassifier or KNeighborsRegressor, default=None
        With samples: the model, which may also be one within a radius (a regressor that leaves
        somebody alone goes through `evaluate`, which has `outlier_target`); None means
        KNeighborsClassifier and the best k. With an Evaluation:
        the one that it is of, so that the page names the metric.
    n_neighbors : int or iterable of int, default=None
        With samples: candidates, of which the best is taken. None means 1 to 50 (as far as they
        fit) without an estimator, and the estimator's own k with one.
    cv, scoring, groups, X_test, y_test, strata, n_jobs, progress :
        With samples: as in `evaluate`. With a fixed test set the page is about the test samples,
        and `X` of an Evaluation are these.
    curves : sequence of Curve, default=None
        Curves to show. None with samples: the score against k, and the learning curve unless the
        law keeps groups together.
    against : Evaluation or dict of Evaluation, default=None
        Others on the same samples and with the same cv to `compare` with, by name.
    confidence : float, default=0.95
        Confidence of the intervals.
    n_samples_shown : int, default=12
        How many suspected labels, hard, harmful and helpful samples are shown, of each.
    image_shape : (height, width) or (height, width, 3), default=None
        Rows of X are pictures of this shape: show them.
    feature_names : sequence of str, default=None
        Names of the features, which are then shown beside samples; a data frame has its own.
    title : str
        Heading of the page.
    notes : sequence of str, default=()
        Sentences to add, for example how X was made.
    path : str or Path, default=None
        Where to save the page (``.json``: the summary).

    Returns
    -------
    Report
        It is shown in notebooks; `html`, `json` and `save` take it elsewhere.

    Examples
    --------
    >>> from allsplits import report
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> page = report(X, y, n_neighbors=range(1, 21))
    >>> page
    Report(With ... nearest neighbours, 9... of held-out samples are given their class, on average
    over all splits (...); ...)
    >>> sorted(page.summary)[:4]
    ['answer', 'baseline', 'classes', 'comparisons']
    """
    check_count("n_samples_shown", n_samples_shown)
    check_fraction("confidence", confidence)
    listed = _check_curves(curves)
    options = check_options(n_jobs=n_jobs, progress=progress)
    refuse_refitted("evaluation_or_X", evaluation_or_X)
    if isinstance(evaluation_or_X, Evaluation):
        given = {
            "y": y, "n_neighbors": n_neighbors, "cv": cv, "scoring": scoring, "groups": groups,
            "X_test": X_test, "y_test": y_test, "strata": strata,
        }  # fmt: skip
        _refuse_with_evaluation(given)
        # Its words are about how often samples are right.
        plain_score(evaluation_or_X.scoring, regression=evaluation_or_X.classes is None)
        _refuse_exclusion(evaluation_or_X)
        settings, again = read_again(evaluation_or_X, X, estimator, options)
        # The task is of other samples than X where no estimator says how to read these.
        points = None if again is None or estimator is None else again.points
        if again is not None and again.test_set is not None:
            points = again.test_set.points
        rows = Rows.read(X, len(evaluation_or_X.y), image_shape, feature_names, points)
        done = look_again(evaluation_or_X, listed or [], settings, X, again)
    else:
        if X is not None:
            raise InvalidInputError("X must be given once; got it twice, first and as X=")
        X, model = evaluation_or_X, KNeighborsClassifier() if estimator is None else estimator
        asked = Given(X, y, cv, scoring, groups, X_test, y_test, strata=strata)
        task = Task.read(model, asked, options, within=True)
        shown, points = (X, task.points) if X_test is None else (X_test, task.neighbors.queries)
        rows = Rows.read(shown, len(task.asked.y), image_shape, feature_names, points)
        choose = n_neighbors is not None or estimator is None

        def nested(task: Task, ks: list[int]) -> NestedScore | None:
            return choice_in_passing(task, model, asked, ks)

        done = run(task, n_neighbors, choose=choose, curves=listed, nested=nested)
    summary = summarize(
        done,
        rows=rows,
        against=_named(against),
        confidence=confidence,
        n_samples_shown=n_samples_shown,
        title=title,
        notes=[notes] if isinstance(notes, str) else notes,
    )
    made = Report(summary, done.evaluation)
    if path is not None:
        made.save(path)
    return made


def _refuse_with_evaluation(given: dict[str, Any]) -> None:
    wrong = [name for name, value in given.items() if value is not None]
    if wrong:
        raise InvalidInputError(
            f"{', '.join(wrong)} must not be given with an Evaluation, which is already computed; "
            "pass X and y instead of it"
        )


def _refuse_exclusion(evaluation: Evaluation) -> None:
    """Raise if queries do not meet their own groups: the page speaks of all candidates."""
    if evaluation.task is not None and evaluation.task.exclusion is not None:
        raise UnsupportedError(
            "report is of evaluations in which every candidate is met; got one with groups, "
            f"{evaluation.task.exclusion}"
        )


def _check_curves(curves: Any) -> list[Curve] | None:
    if curves is None:
        return None
    listed = [curves] if isinstance(curves, Curve) else list(curves)
    for curve in listed:
        if not isinstance(curve, Curve):
            raise InvalidTypeError(
                "curves must hold Curves (of validation_curve, learning_curve, cmc_curve); got "
                f"{type(curve).__name__}"
            )
    return listed


def _named(against: Any) -> dict[str, Evaluation]:
    if against is None:
        return {}
    if isinstance(against, Evaluation):
        return {"the other": against}
    refuse_refitted("against", against)
    if not isinstance(against, Mapping):
        raise InvalidTypeError(
            f"against must be an Evaluation or a dict of them by name; got {type(against).__name__}"
        )
    return {str(name): value for name, value in against.items()}
