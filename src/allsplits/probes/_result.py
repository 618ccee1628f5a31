"""What a probe found, small enough to be kept for every epoch."""

from dataclasses import dataclass

from allsplits.model_selection import Interval
from allsplits.orders import SearchReport


@dataclass(frozen=True, repr=False)
class ProbeResult:
    """The accuracy of a probe, and how it was found.

    Attributes
    ----------
    score : float
        The exact average of the accuracy over all splits of the samples that were kept.
    error_bound : float
        The score is off by no more than this.
    interval : Interval or None
        What other samples might have given; None unless the probe has a `confidence`.
    n_neighbors : int
        Number of voters.
    n_samples, n_seen : int
        Samples that the score is of, and those that `update` was given.
    law : str
        The training sets that are averaged over.
    search : SearchReport
        How neighbours were found, and on which device.
    """

    score: float
    error_bound: float
    interval: Interval | None
    n_neighbors: int
    n_samples: int
    n_seen: int
    law: str
    search: SearchReport

    def __repr__(self) -> str:
        ends = "" if self.interval is None else (
            f", {self.interval.low:.4f} to {self.interval.high:.4f} with "
            f"{self.interval.confidence:.4g} confidence"
        )  # fmt: skip
        drawn = "" if self.n_samples == self.n_seen else f" drawn from {self.n_seen:,}"
        return (
            f"ProbeResult(accuracy={self.score:.6f}{self.search.bound_text(self.error_bound)}"
            f"{ends}, n_neighbors={self.n_neighbors}, {self.n_samples:,} samples{drawn}, "
            f"{self.law}, searched on {self.search.device})"
        )
