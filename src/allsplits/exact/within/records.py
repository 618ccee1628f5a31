"""What is known of the votes of a row within a radius: one line of numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from allsplits.exact.ballots import certain_record, log_shares
from allsplits.exact.kernel_types import BallotWants, Places
from allsplits.exact.question import Question
from allsplits.splits import EpisodeLaw


class WithinPlaces(NamedTuple):
    """Where in a record what stands: P(each class wins), then shares, logs, and tops.

    Attributes
    ----------
    n_classes : int
    logs : tuple of float or None
        The smoothings that logs of shares are wanted for.
    soft : bool
        Whether shares are asked for.
    tops : int
        The largest K of the K most voted; 0 asks for nothing.
    n_voting : int
        How many classes can have votes in one split: those of an episode.
    """

    n_classes: int
    logs: tuple[float | None, ...]
    soft: bool
    tops: int
    n_voting: int

    @classmethod
    def of(cls, question: Question) -> WithinPlaces:
        """For what is asked."""
        wants, law, C = question.wants, question.columns[0].law, question.n_classes
        n_voting = law.n_way if isinstance(law, EpisodeLaw) else C
        return cls(C, wants.logs, wants.own or wants.squares, wants.tops, n_voting)

    @property
    def own_share(self) -> int:
        """E[share of the own class]."""
        return self.n_classes

    @property
    def squares(self) -> int:
        """E Σ (share of a class)²."""
        return self.n_classes + 1

    @property
    def first_log(self) -> int:
        """E[log share], one smoothing after the other."""
        return self.n_classes + 2

    @property
    def first_top(self) -> int:
        """P(among the 1, 2, … most voted)."""
        return self.n_classes + (2 + len(self.logs) if self.soft else 0)

    @property
    def width(self) -> int:
        """Length of a record."""
        return self.first_top + self.tops


def votes_record(votes: list[int], own: int, places: WithinPlaces, share: bool) -> list[Any]:
    """The record of known votes of all classes, in Fractions but for logs."""
    C, s = places.n_classes, sum(votes)
    plain = certain_record(votes, own, Places.of(BallotWants(tops=places.tops), C, s), share)
    record: list[Any] = plain[:C]
    if places.soft:
        record += [Fraction(votes[own], s), Fraction(sum(v * v for v in votes), s * s)]
        record += [
            log_shares(smoothing, s, places.n_voting)[votes[own]] for smoothing in places.logs
        ]
    return record + plain[C:]


def outlier_record(own: int, label: int, places: WithinPlaces, share: bool) -> list[Any]:
    """The record where nobody is within the radius: of one vote for the outlier label."""
    if label < 0:
        return [Fraction(0)] * places.width
    return votes_record([int(c == label) for c in range(places.n_classes)], own, places, share)
