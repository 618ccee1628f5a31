"""Galleries without what a query must not meet, written down one by one.

Nothing here is shared with the library: a law of splits becomes one of queries and galleries.
"""

from fractions import Fraction

from oracle.enumerate import Law, Split


def must_not_meet(query: int, item: int, labels, groups, exclude: str) -> bool:
    """Whether an item is of the query's group (and class, if it is "identity")."""
    same_class = labels[query] == labels[item]
    return groups[query] == groups[item] and (exclude == "group" or same_class)


def is_query(query: int, n_gallery: int, labels, groups, exclude: str) -> bool:
    """Whether some item is relevant, and may be met."""
    return any(
        labels[i] == labels[query] and not must_not_meet(query, i, labels, groups, exclude)
        for i in range(n_gallery)
        if i != query
    )


def passed_over(law: Law, n_gallery: int, labels, groups, exclude: str) -> Law:
    """Each query with the training sets of the splits that test it, less what it must not meet.

    A split shares its weight among its test samples; all queries count alike.
    """
    of_query: dict[int, list[tuple[Fraction, tuple[int, ...]]]] = {}
    for split in law:
        for query in split.test:
            if is_query(query, n_gallery, labels, groups, exclude):
                met = tuple(
                    i for i in split.train if not must_not_meet(query, i, labels, groups, exclude)
                )
                of_query.setdefault(query, []).append((split.weight / len(split.test), met))
    found: Law = []
    for query, galleries in of_query.items():
        whole = len(of_query) * sum(weight for weight, _ in galleries)
        found += [Split(weight / whole, met, (query,)) for weight, met in galleries]
    return found
