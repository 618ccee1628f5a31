"""`evaluate`: one estimator, one law, the exact average over all splits."""

from typing import Any, Literal

from sklearn.pipeline import Pipeline

from allsplits._validation import check_count
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._galleries import (
    Cameras,
    Excluded,
    refuse_cameras,
    without_cameras,
)
from allsplits.model_selection._options import check_options
from allsplits.model_selection._pipeline_evaluation import PipelineEvaluation
from allsplits.model_selection._task import Given, Task


def evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    scoring: Any = None,
    groups: Any = None,
    strata: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    groups_test: Any = None,
    exclude: Excluded | None = None,
    distance_ties: Literal["average", "index"] = "average",
    label_ties: Literal["first", "share"] = "first",
    exact: bool = False,
    tol: float = 1e-15,
    vote_tol: float = 1e-4,
    max_states: int = 1 << 17,
    allow_sampling: bool = False,
    outlier_target: float | None = None,
    n_refits: int = 10,
    random_state: int = 0,
    backend: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Evaluation | PipelineEvaluation:
    """Average a nearest-neighbour model's score over every possible split.

    Where ``cross_val_score`` draws a few splits, this computes the mean over all of them in closed
    form: what the mean of infinitely many repeats tends to.

    Parameters
    ----------
    estimator : KNeighborsClassifier or KNeighborsRegressor
        scikit-learn's own estimator; n_neighbors, weights, metric, p and metric_params are
        honoured. It is not fitted. A RadiusNeighborsClassifier or RadiusNeighborsRegressor with
        equal votes is read in the same way. Or a Pipeline that ends in a KNeighbors…: steps that
        look at one row at a time (FunctionTransformer, Normalizer) leave the average exact; others
        are fitted once on all of X, which is exact, and again on a few random splits for the
        difference, which is sampled.
    X : array-like, data frame, sparse matrix, tensor or dask array of shape (n_samples, n_features)
        The samples (a tensor on a GPU is searched there); the distance matrix with
        ``metric="precomputed"``; or a NeighborOrder.
    y : array-like of shape (n_samples,)
        The class labels, or the targets of a regressor, in the order of X. A pandas index is not
        used to align the two, as in scikit-learn; one that holds the index of X in another order is
        refused.
    cv : law, scikit-learn splitter, int or None, default=None
        Which training sets are averaged over. None and an int mean stratified folds (5 for None),
        plain folds for a regressor. Splitters stand for the average over all their random states:
        LeaveOneOut, LeavePOut, ShuffleSplit, KFold, RepeatedKFold, StratifiedKFold,
        RepeatedStratifiedKFold, StratifiedShuffleSplit, LeaveOneGroupOut, LeavePGroupsOut,
        GroupShuffleSplit. Laws: FixedSize, ClassCounts, Episodes, Bernoulli, Bootstrap. All splits
        count equally, whatever the size of their test sets; under Bernoulli and Bootstrap all
        predictions do.
    scoring : str, LogLoss, CostMatrix, or several in a list or dict, default=None
        "accuracy" (default for classifiers); "balanced_accuracy", in which classes count equally;
        "recall@R", which counts a sample as right if any of its R nearest training samples has its
        class; "recall_of:CLASS"; "neg_log_loss", clipped as in scikit-learn, or "neg_log_loss+1"
        and LogLoss(1), smoothed; "neg_brier_score"; "top_K_accuracy"; CostMatrix(costs);
        "neg_mean_squared_error" (regressors). Several are computed in one pass: the first is the
        `score`, and ``evaluation[name]`` any of them.
    groups : array-like of shape (n_samples,), default=None
        Groups that stay together, for the splitters that need them. Under other laws the cameras
        (or sessions) of the samples, for scores of retrieval and recall@R: what `exclude` says of
        a query's own group is no candidate of it. Other scores refuse them there.
    strata : array-like of shape (n_samples,), default=None
        Regressors only: the classes that stratified folds, StratifiedShuffleSplit and ClassCounts
        draw from (bins of y, sites, years), since targets have none. None and an int as `cv` mean
        stratified folds then.
    X_test, y_test : array-like, default=None
        A fixed test set: questions that are not samples, points and their labels or targets. X and
        y are then the references, `cv` says which of them are in training (of splitters the
        training parts count; None means all of them), and all that is said of samples in the result
        is said of the test samples.
    groups_test : array-like of shape (n_test,), default=None
        Cameras of these questions, with `groups`.
    exclude : {"identity", "group"} or None, default=None
        What a query must not meet: items of its own class from its own group (None, and as in
        Market-1501), or all items from its own group. Samples that have no candidate of their class
        left are no queries (their `sample_weight` is 0), all others count alike. ClassCounts draws
        from what is left; other laws draw from all, and what is excluded is passed over.
    distance_ties : {"average", "index"}, default="average"
        Equally distant neighbours: average over all their orders, or the lower row number first.
    label_ties : {"first", "share"}, default="first"
        Equally many votes: the class that comes first (as scikit-learn does), or equal shares.
    exact : bool, default=False
        Compute in integers and return the score as a Fraction, too (slower).
    tol : float, default=1e-15
        Probability mass that may be left out to keep the neighbour search shallow. What is left
        out is part of `error_bound`; 0 leaves out nothing.
    vote_tol : float, default=1e-4
        Weighted votes for classes only: the `error_bound` to aim at. Sets of voters are counted,
        exactly where that is affordable; where it is not, the score is certain to lie within
        ± `error_bound`, which is wider than `vote_tol` where that would take more than
        `max_states`. Weighted means need no sets.
    max_states : int, default=131072
        Weighted votes only: the effort for one sample, as the number of partial votes that may be
        held. More of them narrow `error_bound` and take longer, both in proportion.
    allow_sampling : bool, default=False
        Weighted votes for classes only: samples whose share is known only within more than
        `vote_tol` are evaluated by drawing training sets instead. The result is then marked as
        sampled and has a `standard_error` beside what is certain.
    outlier_target : float, default=None
        RadiusNeighborsRegressor only: what is predicted where no training sample is within the
        radius; scikit-learn predicts NaN there. A RadiusNeighborsClassifier has its outlier_label.
    n_refits : int, default=10
        Pipelines only: splits on which the steps are fitted again, in whole runs of folds as far as
        it goes. Each costs an evaluation.
    random_state : int, default=0
        Pipelines only: seed of these.
    backend : {"auto", "exact", "faiss", "torch", "torch:cpu", "dask"}, default="auto"
        Neighbour search, as in `order_neighbors`; the result's ``search`` says what was used.
    n_jobs : int, default=None
        Threads; None uses all cores.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    Evaluation
        The score, how far it may be off, and the part of every sample in it. For a Pipeline whose
        steps learn from other rows a PipelineEvaluation, with `score`, its `standard_error`, and
        `flattery`, by how much fitting the steps once would have been too good.

    Examples
    --------
    >>> from allsplits import evaluate
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import LeavePOut
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> evaluate(KNeighborsClassifier(5), X, y, cv=LeavePOut(30))
    Evaluation(accuracy=0.963491 ± ..., n_neighbors=5, exact over 3.22e31 splits: every training
    set of 120 of 150 samples)
    """
    options = check_options(
        distance_ties=distance_ties, label_ties=label_ties, exact=exact, tol=tol, vote_tol=vote_tol,
        max_states=max_states, allow_sampling=allow_sampling, backend=backend, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    check_count("n_refits", n_refits, at_least=2)
    check_count("random_state", random_state, at_least=0)
    given = Given(X, y, cv, scoring, groups, X_test, y_test, outlier_target, strata)
    cameras = Cameras(groups, groups_test, exclude)
    if isinstance(estimator, Pipeline):
        refuse_cameras(cv, cameras)
        if X_test is not None or y_test is not None:
            raise InvalidInputError(
                "X_test must be None for a Pipeline: its refits are tested on the samples they "
                "leave out. Fit its steps on X, transform X and X_test, and pass the model alone"
            )
        # Loaded when it is asked for: a first evaluation does without.
        from allsplits.model_selection._refits import evaluate_pipeline

        return evaluate_pipeline(estimator, given, options, n_refits=n_refits, seed=random_state)
    task = Task.read(estimator, given, options, every_score=True, within=True)
    return without_cameras(task, cv, cameras).evaluate()
