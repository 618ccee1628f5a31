"""One answer of one person, as the file keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from allsplits.labelling._labels import Label

#: Why a sample was asked, or changed.
REASONS = {
    "start": "was labelled from the start",
    "import": "came from a saved learner",
    "cover": "covers a part of the pool that has no label near",
    "committee": "is where the committee disagrees",
    "check": "was drawn at random, to measure",
    "random": "was drawn at random",
    "chosen": "was looked up",
    "again": "was looked at again",
    "undo": "was taken back",
}
#: Labels that were there before anybody was asked.
GIVEN = ("start", "import")


@dataclass(frozen=True)
class Answer:
    """Who said what about which sample, when and why.

    `status` is "labelled", "skipped", or "open" where an answer was taken back; `undoes` is the
    number of the answer that this one took back.
    """

    id: int
    sample: int
    status: str
    label: Label | None
    who: str
    session: str
    at: str
    reason: str
    undoes: int | None = None

    @property
    def decided(self) -> bool:
        """Whether the sample need not be asked about."""
        return self.status != "open"
