"""When a committee can judge: before that a labelling effort is at its start."""

from allsplits.active._labels import PartialLabels

#: Labels for each class seen so far, on average, that end the start (studies/celisse_start.md).
LABELS_PER_CLASS = 10


def at_start(labels: PartialLabels) -> bool:
    """Whether the labels are too few for a committee's doubts to be worth following."""
    return len(labels.rows) < LABELS_PER_CLASS * max(2, len(labels.classes))
