"""The kernel of episodes on a tiny row, beside all episodes counted one by one."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.episodes._kernels import score_episodes
from allsplits.exact.laws.episodes.vote import _episode_tables
from allsplits.exact.ties import tie_rules
from allsplits.splits import EpisodeLaw

OWN, N_CLASSES, N_WAY, K_SHOT = 1, 4, 3, 2
UNTIED = [[0], [1], [3], [2], [1], [0], [2], [3], [1], [2]]
TIED = [[0, 1], [3], [2, 1, 0], [2, 3], [1, 2]]


def expected(groups):
    """All sets of classes count alike, and so do all supports of a set."""
    items = [(place, c) for place, group in enumerate(groups) for c in group]
    total = [Fraction(0)] * N_CLASSES
    sets = list(combinations([c for c in range(N_CLASSES) if c != OWN], N_WAY - 1))
    for others in sets:
        of_class = [combinations([i for i in items if i[1] == c], K_SHOT) for c in (OWN, *others)]
        supports = [[item for part in chosen for item in part] for chosen in product(*of_class)]
        for support in supports:
            nearest = [c for place, c in support if place == min(support)[0]]
            for c in nearest:
                total[c] += Fraction(1, len(nearest) * len(supports) * len(sets))
    return [float(t) for t in total]


@pytest.mark.parametrize("groups", [UNTIED, TIED])
def test_score_episodes(groups):
    labels = np.array([c for group in groups for c in group], dtype=np.int32)
    tied = np.array([e > 0 for group in groups for e in range(len(group))])
    rows = Rows(np.array([0, len(labels)]), labels, tied, np.array([OWN], dtype=np.int32))
    # The query itself is one of its class.
    sizes = np.bincount(labels) + (np.arange(N_CLASSES) == OWN)
    law = EpisodeLaw(tuple(sizes.tolist()), N_WAY, K_SHOT)
    for every_class in (True, False):
        out = np.zeros((1, N_CLASSES if every_class else 1))
        rule = Rule(every_class, True, False)
        score_episodes(rows, 0, 1, _episode_tables(law), rule, tie_rules(1), out)
        truth = expected(groups)
        np.testing.assert_allclose(
            out[0], truth if every_class else [truth[OWN]], rtol=0, atol=1e-13
        )
