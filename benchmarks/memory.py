"""Memory of large searches, the peak of a process of its own.

50,000 x 64 at depth 100; a fixed test set beside a mapped file of float32; texts.
"""

from __future__ import annotations

from benchmarks._memory import GIB, answer_of
from benchmarks._timing import Result, print_results

N, D, DEPTH = 50_000, 64, 100

PROGRAM = f"""
import numpy as np
from allsplits import order_neighbors, validation_curve
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

rng = np.random.default_rng(0)
y = rng.integers(0, 10, {N})
X = rng.standard_normal((10, {D}))[y] + 2 * rng.standard_normal(({N}, {D}))
before = peak()
start = time.perf_counter()
order = order_neighbors(X, depth={DEPTH})
seconds = time.perf_counter() - start
search = peak()
validation_curve(KNeighborsClassifier(), order, y, n_neighbors=range(1, 16), cv=KFold(5))
answer = [before, search, peak(), seconds]
"""

#: A fixed test set: samples of a mapped file, 195 MiB of float32, and questions in memory.
OUTSIDE = """
import tempfile
import numpy as np
from allsplits import evaluate
from sklearn.neighbors import KNeighborsClassifier

rng = np.random.default_rng(0)

def ask(X, Z):
    y, y_test = np.arange(len(X)) % 10, np.arange(len(Z)) % 10
    evaluate(KNeighborsClassifier(), X, y, X_test=Z, y_test=y_test)

ask(rng.standard_normal((5000, 64)), rng.standard_normal((50, 64)))
with tempfile.NamedTemporaryFile(suffix=".npy") as file:
    table = np.lib.format.open_memmap(file.name, "w+", np.float32, (50_000, 1024))
    for start in range(0, 50_000, 1000):
        table[start : start + 1000] = rng.standard_normal((1000, 1024), dtype=np.float32)
    table.flush()
    del table
    X, Z = np.load(file.name, mmap_mode="r"), rng.standard_normal((500, 1024))
    before = peak()
    ask(X, Z)
    answer = peak() - before
"""

#: Rows of 80 words among 30,000: 9 MiB as they are, 1.8 GiB as dense rows.
TEXTS = """
import numpy as np
from allsplits import KNeighborsClassifierCV
from scipy.sparse import csr_array

def words(n, n_words, seed):
    rng = np.random.default_rng(seed)
    columns = (30_000 * rng.random(n * n_words) ** 4).astype(np.int64)
    rows = np.repeat(np.arange(n), n_words)
    return csr_array((rng.random(n * n_words), (rows, columns)), (n, 30_000))

def choose(X, Z):
    model = KNeighborsClassifierCV(range(1, 16), metric="cosine")
    model.fit(X, np.arange(X.shape[0]) % 5).predict(Z)

choose(words(400, 5, 0), words(300, 5, 1))
X, Z = words(8000, 80, 2), words(1000, 80, 3)
before = peak()
choose(X, Z)
answer = peak() - before
"""


def measure() -> list[Result]:
    before, search, after, seconds = answer_of(PROGRAM)
    outside, texts = answer_of(OUTSIDE), answer_of(TEXTS)
    what = f"{N:,} x {D} at depth {DEPTH}"
    return [
        Result(f"{what}: peak memory of the search", search / GIB, None, 1.5, "GiB"),
        Result(f"{what}: before it (imports and X)", before / GIB, None, None, "GiB"),
        Result(f"{what}: with all k ≤ 15 evaluated after it", after / GIB, None, None, "GiB"),
        Result(f"{what}: time of the search", seconds),
        Result(
            "fixed test set of 500, mapped float32 file of 50,000 x 1024 (195 MiB): memory beyond "
            "it", outside / GIB, None, 0.5, "GiB",
        ),
        Result(
            "KNeighborsClassifierCV on sparse 8,000 x 30,000 (9 MiB), cosine, fit and predict: "
            "memory beyond it", texts / GIB, None, 0.5, "GiB",
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    print_results(measure())
