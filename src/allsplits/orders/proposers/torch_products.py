"""Candidates by a matrix product in low precision, with a bound on what rounding can hide.

All points are centred and scaled by a power of two so that no norm exceeds 1. A row of the table
holds the point and its half squared norm, split into three numbers so that bfloat16 loses nothing:

    reference (y, -h_y, -1),  query (x, 1, h_x):      x·y - |y|²/2 - |x|²/2 = -|x - y|²/2.

One product gives this score for a block of queries and all references. The M largest of a row are
found in two steps: columns are put into strided groups of 64, whose maxima are cheap to take, and
the M largest elements always lie in the M groups of the largest maxima.

Rounding x to x̃ and y to ỹ moves a product by at most |x-x̃||y| + |x̃||y-ỹ|; these norms are
measured, not assumed. Cost per block of B queries: 2·B·n·d operations and B·n numbers of memory;
columns are taken in slices where that is too much.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from allsplits.orders.kernel_types import UNIT_ROUNDOFF

#: Columns whose maximum is taken together.
_GROUP = 64
#: Numbers that a half squared norm is split into.
_SPLITS = 3
#: Rows converted at a time.
_ROWS = 1 << 16
#: What padding columns score: less than anybody.
_NOBODY = -1e30


class ScaledPoints:
    """Centred points with norms up to 1, made block by block from points on the device."""

    def __init__(self, torch: Any, points: Any) -> None:
        self.torch = torch
        self.points = points
        self.n_samples, self.n_features = points.shape
        total = torch.zeros(self.n_features, dtype=torch.float64, device=points.device)
        largest = 0.0
        for part in points.split(_ROWS):
            total += part.double().sum(0)
            largest = max(largest, float(part.abs().max()))
        self.centre = total / self.n_samples
        self.scale = 1.0
        self.norms = torch.cat([c.norm(dim=1) for _, c in self.blocks()])
        farthest = float(self.norms.max())
        if farthest > 0:
            self.scale = 2.0 ** -self._exponent(farthest)
            self.norms *= self.scale
        self.farthest = farthest * self.scale
        # Centring moves each coordinate by a rounding of its size.
        self.moved = 4 * UNIT_ROUNDOFF * self.n_features**0.5 * largest * self.scale

    def _exponent(self, value: float) -> int:
        return int(self.torch.frexp(self.torch.tensor(value, dtype=self.torch.float64))[1])

    def blocks(self) -> Iterator[tuple[int, Any]]:
        """(first row, centred and scaled rows in float64)."""
        for start in range(0, self.n_samples, _ROWS):
            part = self.points[start : start + _ROWS].double()
            yield start, (part - self.centre) * self.scale


@dataclass(frozen=True, eq=False)
class Rounding:
    """What rounding the points and their products may have cost.

    Attributes
    ----------
    scaled : ScaledPoints
    lost : tensor
        How far rounding moved each point; `share_lost`: at most this share of its norm.
    width : int
        Terms of a product.
    unit : float
        Unit roundoff of its sums.
    eps : float
        Spacing of the type that scores are given in.
    """

    scaled: ScaledPoints
    lost: Any
    share_lost: float
    width: int
    unit: float
    eps: float

    @classmethod
    def of(cls, scaled: ScaledPoints, lost: Any, width: int, eps: float) -> "Rounding":
        """Sums are accumulated in float32 or better; matrix units may truncate, not round."""
        share = float((lost / scaled.norms.clamp(min=1e-300)).max())
        unit = UNIT_ROUNDOFF if eps < 4 * UNIT_ROUNDOFF else 2.0**-22
        return cls(scaled, lost, share, width, unit, eps)

    def beyond(self, numbers: Any, last: Any) -> Any:
        """Squared distance that everybody who scores at most `last` exceeds, in units of X.

        Points with a norm beyond `near` are too far away by their norm alone, so that a few
        outliers do not spoil the bound of all others.
        """
        scaled = self.scaled
        own, lost = scaled.norms[numbers], self.lost[numbers]
        apart = 1.05 * (-2 * last).clamp(min=0).sqrt()
        near = (own + apart).clamp(max=scaled.farthest)
        # Those within `near`: both points, the sums and the score itself are rounded.
        lost_near = self.share_lost * near
        terms = (own + lost) * (near + lost_near) + (own**2 + near**2) / 2
        error = lost * near + (own + lost) * lost_near
        error = error + 2 * (self.width + 8) * self.unit * terms + 1e-30
        score = last + last.abs() * 2 * self.eps + error
        within = -2 * score - 4 * scaled.moved * (own + near) - 4 * scaled.moved**2
        # Those beyond, if there are any: the triangle inequality.
        outside = ((1 - 1e-9) * apart - 4 * scaled.moved).clamp(min=0).square()
        outside.masked_fill_(own + apart >= scaled.farthest, float("inf"))
        return scaled.torch.minimum(within, outside) / scaled.scale**2


class Level:
    """The table of all points in one precision: scores, their selection, and their error."""

    def __init__(self, scaled: ScaledPoints, dtype: Any) -> None:
        torch = scaled.torch
        self.torch, self.scaled, self.dtype = torch, scaled, dtype
        n, d = scaled.n_samples, scaled.n_features
        self.n_columns = -(-n // _GROUP) * _GROUP
        width = -(-(d + 2 * _SPLITS) // 16) * 16
        self.table = torch.zeros((self.n_columns, width), dtype=dtype, device=scaled.points.device)
        lost = torch.empty(n, dtype=torch.float64, device=scaled.points.device)
        for start, rows in scaled.blocks():
            part = self.table[start : start + len(rows)]
            part[:, :d] = rows.to(dtype)
            lost[start : start + len(rows)] = (rows - part[:, :d].double()).norm(dim=1)
            half = rows.square().sum(1) / 2
            for column in range(d, d + _SPLITS):
                part[:, column] = -half.to(dtype)
                half = half + part[:, column].double()
            part[:, d + _SPLITS : d + 2 * _SPLITS] = -1
        self.table[n:, d] = _NOBODY
        self.rounding = Rounding.of(scaled, lost, width, torch.finfo(dtype).eps)

    @property
    def bytes_per_score(self) -> int:
        """Size of one score."""
        return int(self.dtype.itemsize)

    def candidates(self, numbers: Any, count: int, n_columns: int) -> tuple[Any, Any]:
        """(items, beyond): the `count` best of each row, looking at `n_columns` at a time.

        Whoever is not among the items has a squared distance of more than ``beyond``.
        """
        torch = self.torch
        queries = self._queries(numbers)
        best_scores = best_items = None
        for start in range(0, self.n_columns, n_columns):
            with _full_precision(torch):
                scores = queries @ self.table[start : start + n_columns].T
            found, items = self._largest(scores, count)
            items = items + start
            if best_scores is not None:
                found = torch.cat([best_scores, found], dim=1)
                items = torch.cat([best_items, items], dim=1)
                found, place = found.topk(min(count, found.shape[1]), dim=1, sorted=False)
                items = items.gather(1, place)
            best_scores, best_items = found, items
        last = best_scores.double().amin(1)  # type: ignore[union-attr]
        return best_items, self.rounding.beyond(numbers, last)

    def _queries(self, numbers: Any) -> Any:
        d = self.scaled.n_features
        queries = self.table[numbers]
        queries[:, d + _SPLITS : d + 2 * _SPLITS] = -queries[:, d : d + _SPLITS]
        queries[:, d : d + _SPLITS] = 1
        return queries

    def _largest(self, scores: Any, count: int) -> tuple[Any, Any]:
        """The `count` largest of each row and where they stand, in any order."""
        n_rows, n_columns = scores.shape
        n_groups = n_columns // _GROUP
        if n_groups <= 2 * count:
            found, items = scores.topk(min(count, n_columns), dim=1, sorted=False)
            return found, items
        # Members of a group stand n_groups apart: neighbouring threads read neighbouring numbers.
        grouped = scores.view(n_rows, _GROUP, n_groups)
        groups = grouped.amax(1).topk(count, dim=1, sorted=False)[1]
        members = grouped.gather(2, groups[:, None, :].expand(n_rows, _GROUP, count))
        found, place = members.view(n_rows, -1).topk(count, dim=1, sorted=False)
        member = place.div(count, rounding_mode="floor")
        return found, member * n_groups + groups.gather(1, place - member * count)


_lock = threading.Lock()
_users = 0
_before: dict[str, Any] = {}


@contextmanager
def _full_precision(torch: Any) -> Iterator[None]:
    """Products as precise as their type says, whatever the caller allows elsewhere."""
    global _users
    flags = torch.backends.cuda.matmul
    names = ("allow_tf32", "allow_bf16_reduced_precision_reduction")
    with _lock:
        if _users == 0:
            _before.update({name: getattr(flags, name) for name in names})
            for name in names:
                setattr(flags, name, False)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for name in names:
                    setattr(flags, name, _before[name])
