"""The model that a command asks for, and the task it makes of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allsplits.cli._screen import LOADING
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from allsplits.cli._load import Labelled
    from allsplits.cli._parse import Cv
    from allsplits.cli._screen import Screen
    from allsplits.model_selection._task import Given, Task


@dataclass(frozen=True)
class Model:
    """Nearest neighbours without their number, or everybody within a radius.

    `costs` are (true, predicted, cost), as text; `outlier` is what is predicted where nobody is
    within the `radius`. With `camera` queries do not meet what is to `exclude` of their groups.
    """

    metric: str
    weights: str
    p: float
    scoring: str | None
    costs: Sequence[tuple[str, str, float]] = ()
    radius: float | None = None
    outlier: str | None = None
    camera: str | None = None
    exclude: str | None = None

    def estimator(self, k: int, regression: bool) -> Any:
        """scikit-learn's estimator of the k nearest."""
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        kind = KNeighborsRegressor if regression else KNeighborsClassifier
        return kind(k, metric=self.metric, weights=self.weights, p=self.p)

    def _within(self, labelled: Labelled) -> Any:
        """scikit-learn's estimator of everybody within the radius."""
        from sklearn.neighbors import RadiusNeighborsClassifier, RadiusNeighborsRegressor

        options = {"metric": self.metric, "weights": self.weights, "p": self.p}
        if labelled.regression:
            return RadiusNeighborsRegressor(self.radius, **options)
        label = self.outlier
        if label not in (None, "most_frequent"):
            label = _as_label("--outlier", str(label), labelled)
        return RadiusNeighborsClassifier(self.radius, outlier_label=label, **options)

    def _outlier_target(self, labelled: Labelled) -> float | None:
        """The number that is predicted where nobody is within the radius."""
        if self.outlier is None or not labelled.regression or self.radius is None:
            return None
        try:
            return float(self.outlier)
        except ValueError:
            raise InvalidInputError(
                f"--outlier must be a number for regression; got {self.outlier!r}"
            ) from None

    def scores(self, labelled: Labelled) -> Any:
        """One score, or several with commas between them; costs where they are named, or last."""
        names = [] if self.scoring is None else [name.strip() for name in self.scoring.split(",")]
        if not self.costs:
            if "neg_cost" in names:
                raise InvalidInputError("--scoring neg_cost needs --costs")
            return names if len(names) > 1 else self.scoring
        if labelled.regression:
            raise InvalidInputError("--costs are of classes; the target here is a number")
        from allsplits.model_selection import CostMatrix

        pairs = {
            (_as_label("--costs", true, labelled), _as_label("--costs", said, labelled)): cost
            for true, said, cost in self.costs
        }
        names = names if "neg_cost" in names else [*names, "neg_cost"]
        return [CostMatrix(pairs) if name == "neg_cost" else name for name in names]

    def given(self, labelled: Labelled, cv: Cv | None) -> Given:
        """What the library's functions are given."""
        from allsplits.model_selection._task import Given

        test = labelled.test
        return Given(
            labelled.data.X,
            labelled.y,
            None if cv is None else cv.build(),
            self.scores(labelled),
            labelled.data.groups,
            None if test is None else test.data.X,
            None if test is None else test.y,
            self._outlier_target(labelled),
            labelled.data.strata,
        )

    def task(
        self, screen: Screen, labelled: Labelled, cv: Cv | None = None, k: int = 1, *,
        every_score: bool = False, many_laws: bool = False,
    ) -> Task:  # fmt: skip
        """The library's task: everything checked, nothing computed."""
        with screen.waiting(LOADING), screen.noting(labelled.data.notes):
            from allsplits.model_selection._options import check_options
            from allsplits.model_selection._task import Task

            given = self.given(labelled, cv)
            within = self.radius is not None
            model = self._within(labelled) if within else self.estimator(k, labelled.regression)
            options = check_options(progress=screen.progress)
            task = Task.read(
                model, given, options, every_score=every_score, within=within, many_laws=many_laws
            )
            return task if self.camera is None else self._without_camera(task, given.cv, labelled)

    def check_camera(self, cv: Cv | None) -> None:
        """Raise if what is excluded has no meaning, before any file is read."""
        if self.exclude is not None and self.camera is None:
            raise InvalidInputError("--exclude goes with --camera, whose rows are excluded")
        if self.camera is not None and cv is not None and cv.column is not None:
            raise InvalidInputError(
                "--camera and --cv groups: must not be given together: rows of a camera are "
                "excluded, or rows of a group stay together"
            )

    def _without_camera(self, task: Task, law: Any, labelled: Labelled) -> Task:
        """The task whose queries do not meet their own camera."""
        from allsplits.model_selection._galleries import Cameras, without_cameras

        if any(not score.ignores_neighbors for score in task.scores):
            raise InvalidInputError(
                "--camera goes with scores of retrieval: --scoring map, map@r, mrr, ndcg, "
                f"r_precision, precision@k, …, recall@R; got {self.scoring or 'accuracy'}"
            )
        test = labelled.test
        groups_test = None if test is None else test.data.groups
        return without_cameras(task, law, Cameras(labelled.data.groups, groups_test, self.exclude))


def _as_label(option: str, text: str, labelled: Labelled) -> Any:
    """The class that is written so."""
    import numpy as np

    labels = labelled.y if labelled.test is None else np.append(labelled.y, labelled.test.y)
    classes = np.unique(labels).tolist()
    for label in classes:
        if str(label) == text:
            return label
    from allsplits._validation import shown

    raise InvalidInputError(f"{option} must name one of the classes {shown(classes)}; got {text!r}")


def check_metric(metric: str, X: NDArray[np.float64]) -> None:
    """Refuse features that a distance has no meaning for."""
    import numpy as np

    if metric == "haversine" and X.shape[1] != 2:
        raise InvalidInputError(
            "--metric haversine needs two features, latitude and longitude in radians; got "
            f"{X.shape[1]}"
        )
    if metric == "mahalanobis" and np.linalg.matrix_rank(np.cov(X.T)) < X.shape[1]:
        raise InvalidInputError(
            "--metric mahalanobis needs features that vary, none of which follows from the others, "
            "and more rows than features: leave some out with --drop, or use another metric"
        )


def count_in_words(number: int) -> str:
    """A number of splits that one can read."""
    from allsplits.model_selection._evaluation import count_in_words as in_words

    return in_words(number)
