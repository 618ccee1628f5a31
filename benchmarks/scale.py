"""50,000 images: what the exact average costs beyond the plain neighbour search, and backends.

All k ≤ 50, training sets of 80 %, MNIST reduced to 64 dimensions (without the data folder classes
of the same size). The plain search is scikit-learn's, as deep as the average needs it.
"""

from __future__ import annotations

from importlib.util import find_spec

from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from allsplits import FixedSize, order_neighbors, validation_curve
from benchmarks._data import mnist
from benchmarks._timing import Result, interleaved, needed_depth, print_environment, print_results

K_MAX = 50


def measure(repeats: int = 2) -> list[Result]:
    name, X, y = mnist()
    law = FixedSize(len(X) * 4 // 5)
    depth = needed_depth(len(X), len(X) * 4 // 5, K_MAX)

    def plain():
        return NearestNeighbors(n_neighbors=depth, n_jobs=-1).fit(X).kneighbors(X)

    def exact():
        ks = range(1, K_MAX + 1)
        return validation_curve(KNeighborsClassifier(), X, y, n_neighbors=ks, cv=law)

    rivals = [exact, plain]
    backends = [
        backend
        for backend, module in (("exact", "sklearn"), ("faiss", "faiss"), ("torch:cpu", "torch"))
        if find_spec(module) is not None
    ]
    for backend in backends:
        rivals.append(lambda backend=backend: order_neighbors(X, depth=depth, backend=backend))
    ours, search, *others = interleaved(rivals, repeats)
    what = f"{name}, {len(X):,} x {X.shape[1]}"
    results = [Result(f"{what}: all k ≤ {K_MAX} / plain search (depth {depth})", ours, search, 1.5)]
    for backend, seconds in zip(backends, others, strict=True):
        results.append(Result(f"{what}: order by {backend} / plain search", seconds, search))
    return results


if __name__ == "__main__":
    print_environment()
    print_results(measure())
