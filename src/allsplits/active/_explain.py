"""Why a learner asks: what its committee says of some samples, and which labels are nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import thread_count
from allsplits.active._candidates import Candidates
from allsplits.active._labels import PartialLabels
from allsplits.active._learner import ActiveLearner
from allsplits.active._start import at_start
from allsplits.active._tuning import labelled_task
from allsplits.active._utility import agreement_of
from allsplits.active._votes import ask_committee
from allsplits.exact import Voters
from allsplits.model_selection._task import Task
from allsplits.orders import Reference

Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class Explained:
    """What is known of some samples; all arrays have a row for each of them.

    Attributes
    ----------
    classes : ndarray
        The classes seen so far.
    shares : ndarray of shape (n, n_classes) or None
        What the committee says, None while there is none.
    agreement : ndarray of shape (n,) or None
    neighbors : ndarray of shape (n, depth)
        The nearest labelled samples other than itself, nearest first, as rows of X.
    distances : ndarray of shape (n, depth)
    """

    classes: NDArray[Any]
    shares: NDArray[np.float64] | None
    agreement: NDArray[np.float64] | None
    neighbors: Numbers
    distances: NDArray[np.float64]


def explain(learner: ActiveLearner, rows: Numbers, depth: int) -> Explained:
    """What the committee says of some rows of X, and the `depth` nearest labels of each."""
    state = learner._fitted()
    labels = state.partial_labels()
    k = state.rounds[-1].n_neighbors
    found = Candidates(learner._points, learner._metric, labels.rows, rows, state.n_samples)
    shares = agreement = None
    if len(labels.classes) > 1 and len(labels.rows) >= k + learner.leave_out:
        reference = learner._points[labels.rows]
        votes = ask_committee(found, labels, k, learner.leave_out, reference, learner._options())
        shares, agreement = votes.shares, agreement_of(votes.shares)
    neighbors, distances = _nearest(found, labels.rows, depth, thread_count(learner.n_jobs))
    return Explained(labels.classes, shares, agreement, neighbors, distances)


def covers(learner: ActiveLearner, ignore: Numbers) -> bool:
    """Whether the learner, as it is, asks for samples that cover the pool."""
    state = learner._fitted()
    fewest = state.rounds[-1].n_neighbors + learner.leave_out
    return learner.start == "cover" and at_start(state.partial_labels().without(ignore), fewest)


def predict_from(learner: ActiveLearner, rows: Numbers, labels: PartialLabels) -> NDArray[Any]:
    """Classes of some rows of X by the nearest of some labels, with the k of now."""
    points, metric = learner._points, learner._metric
    found = Candidates(points, metric, labels.rows, rows, labels.n_samples)
    reference = Reference(points[labels.rows], metric, thread_count(learner.n_jobs))
    voters = Voters(reference, learner.n_neighbors_)
    shares = voters.class_shares(found.block(0, len(rows)), labels.codes, len(labels.classes))
    classes: NDArray[Any] = labels.classes[shares.argmax(axis=1)]
    return classes


def task_of(learner: ActiveLearner, cv: Any) -> Task:
    """What can be asked, exactly, about the labelled samples and the k of now."""
    state = learner._fitted()
    labels = state.partial_labels()
    task = labelled_task(
        learner._reference(labels.rows), labels, learner._metric, cv, learner._options()
    )
    return task.with_neighbors(state.rounds[-1].n_neighbors)


def _nearest(
    found: Candidates, labelled: Numbers, depth: int, n_threads: int
) -> tuple[Numbers, NDArray[np.float64]]:
    if len(labelled) == 0 or len(found) == 0:
        return np.empty((len(found), 0), dtype=np.intp), np.empty((len(found), 0))
    table = found.distances(np.arange(len(found)), labelled, n_threads)
    # A labelled sample is not its own neighbour.
    table = np.where(labelled[None, :] == found.indices[:, None], np.inf, table)
    order = np.argsort(table, axis=1, kind="stable")[:, :depth]
    return labelled[order], np.take_along_axis(table, order, axis=1)
