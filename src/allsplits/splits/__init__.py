"""Which training sets are possible, and how likely each is."""

from allsplits.splits._counts import ClassCounts, CountsComponent, CountsLaw
from allsplits.splits._episodes import EpisodeLaw, Episodes
from allsplits.splits._fixed import FixedSize, SizeComponent, SizeLaw
from allsplits.splits._groups import GroupLaw
from allsplits.splits._random import Bernoulli, BernoulliLaw, Bootstrap, BootstrapLaw
from allsplits.splits._resolve import Law, Samples, is_law, resolve_cv

__all__ = [
    "Bernoulli",
    "BernoulliLaw",
    "Bootstrap",
    "BootstrapLaw",
    "ClassCounts",
    "CountsComponent",
    "CountsLaw",
    "EpisodeLaw",
    "Episodes",
    "FixedSize",
    "GroupLaw",
    "Law",
    "Samples",
    "SizeComponent",
    "SizeLaw",
    "is_law",
    "resolve_cv",
]
