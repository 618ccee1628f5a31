"""Ratsaby's procedures word for word, in exact fractions; imports nothing from the library."""

from fractions import Fraction

__all__ = ["condense", "fast_condense", "reduce_consistent", "reduce_paper", "share_a_facet"]


def squared(a, b) -> Fraction:
    return sum(((Fraction(u) - Fraction(v)) ** 2 for u, v in zip(a, b, strict=True)), Fraction(0))


def all_distances(X):
    return [[squared(a, b) for b in X] for a in X]


def nearest(i, prototypes, distances, y):
    """The nearest prototype; of several that are as near one of another class, then the first.

    So a sample is right only if all of its nearest prototypes have its class.
    """
    return min(prototypes, key=lambda p: (distances[i][p], y[p] == y[i], p))


def condense(X, y, order) -> list[int]:
    distances = all_distances(X)
    prototypes = [order[0]]
    changed = True
    while changed:
        changed = False
        for i in order:
            if y[nearest(i, prototypes, distances, y)] != y[i]:
                prototypes.append(i)
                changed = True
    return sorted(prototypes)


def reduce_paper(X, y, prototypes, order) -> list[int]:
    distances = all_distances(X)
    return _drop(
        prototypes, order, lambda i, remaining: y[nearest(i, remaining, distances, y)] == y[i]
    )


def reduce_consistent(X, y, prototypes, order) -> list[int]:
    distances = all_distances(X)
    return _drop(
        prototypes, order,
        lambda i, remaining: all(
            y[nearest(s, remaining, distances, y)] == y[s] for s in range(len(X))
        ),
    )  # fmt: skip


def _drop(prototypes, order, can_go) -> list[int]:
    """Drop prototypes in turn until nobody can go."""
    prototypes = list(prototypes)
    changed = True
    while changed:
        changed = False
        for i in order:
            if i in prototypes:
                remaining = [p for p in prototypes if p != i]
                if remaining and can_go(i, remaining):
                    prototypes = remaining
                    changed = True
    return sorted(prototypes)


def fast_condense(X, y) -> list[int]:
    """FCNN as Angiulli prints it: rounds of representatives, one for each cell with enemies."""
    distances = all_distances(X)
    prototypes, joining = [], []
    for label in sorted(set(y)):
        rows = [i for i in range(len(X)) if y[i] == label]
        mean = [sum(Fraction(X[i][f]) for i in rows) / len(rows) for f in range(len(X[0]))]
        joining.append(min(rows, key=lambda i: (squared(X[i], mean), i)))
    while joining:
        prototypes += joining
        cells = {p: [] for p in prototypes}
        for i in range(len(X)):
            owner = nearest(i, prototypes, distances, y)
            if y[owner] != y[i]:
                cells[owner].append(i)
        joining = [
            min(enemies, key=lambda i: (distances[i][p], i))
            for p, enemies in cells.items()
            if enemies
        ]
    return sorted(prototypes)


def share_a_facet(points, i, j) -> bool:
    """Whether a point exists that is as near to i as to j and strictly farther from all others.

    Its coordinates are eliminated one by one from the linear inequalities (Fourier and Motzkin).
    """
    points = [[Fraction(value) for value in point] for point in points]
    if points[i] == points[j]:
        return False
    origin = points[i]
    sides = [[a - b for a, b in zip(p, origin, strict=True)] for p in points]
    # coefficients · x < bound
    strict = [
        (side, sum(a * a for a in side) / 2)
        for k, side in enumerate(sides)
        if k not in (i, j) and points[k] != origin
    ]
    aim, level = sides[j], sum(a * a for a in sides[j]) / 2
    pivot = next(f for f, value in enumerate(aim) if value)
    rows = []
    for coefficients, bound in strict:
        factor = coefficients[pivot] / aim[pivot]
        reduced = [a - factor * b for a, b in zip(coefficients, aim, strict=True)]
        rows.append((reduced[:pivot] + reduced[pivot + 1 :], bound - factor * level))
    while rows and rows[0][0]:
        rows = eliminate_first(rows)
    return all(bound > 0 for _, bound in rows)


def eliminate_first(rows):
    above = [(c, b) for c, b in rows if c[0] > 0]
    below = [(c, b) for c, b in rows if c[0] < 0]
    kept = [(c[1:], b) for c, b in rows if c[0] == 0]
    for up, up_bound in above:
        for down, down_bound in below:
            s, t = -down[0], up[0]
            combined = [s * a + t * b for a, b in zip(up[1:], down[1:], strict=True)]
            kept.append((combined, s * up_bound + t * down_bound))
    return list(without_repeats(kept))


def without_repeats(rows):
    """Of inequalities with the same direction the tightest."""
    tightest = {}
    for coefficients, bound in rows:
        size = next((abs(a) for a in coefficients if a), Fraction(1))
        key = tuple(a / size for a in coefficients)
        tightest[key] = min(tightest.get(key, bound / size), bound / size)
    return [(list(key), bound) for key, bound in tightest.items()]
