"""When a committee can judge: before that a labelling effort is at its start."""

from allsplits.active._labels import PartialLabels

#: Labels for each class seen so far, on average, that end the start (studies/celisse_start.md).
LABELS_PER_CLASS = 10


def at_start(labels: PartialLabels, fewest: int) -> bool:
    """Whether the labels are too few for a committee's doubts to be worth following.

    `fewest` is how many a committee needs at all. The number of labels decides, not the smallest
    class: a rare class would hold everything up.
    """
    n_classes = len(labels.classes)
    return n_classes < 2 or len(labels.rows) < max(fewest, LABELS_PER_CLASS * n_classes)
