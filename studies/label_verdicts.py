"""Label errors with human verdicts: MNIST's test set, 100 suspects, five people each.

Northcutt, Athalye & Mueller (2021) let a neural network and cleanlab pick 100 of MNIST's 10,000
test images and showed each to five people, who chose the given label, the suggested one, both or
neither. A label is *rejected* here if at most two of the five chose it (or both), where another one
had been suggested: the 15 errors that the authors count. Do the suspects of `find_label_errors`
hold
them, in which places, and which others come before them that nobody was asked about?

The rule was fixed before, on planted errors of other data sets (suspects.py); nothing is chosen
here.

``python studies/label_verdicts.py`` writes label_verdicts.md and the page in docs/demos. It needs
ALLSPLITS_DATA, the folder of mnist_70000.npz and mnist_test_label_verdicts.csv, and cleanlab.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from _report import DEMOS, environment, markdown_table, save_figure, write_demo, write_page
from cleanlab.rank import get_label_quality_scores
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from allsplits import (
    Bernoulli,
    Suspects,
    evaluate,
    find_label_errors,
    order_neighbors,
)

FIRST = (100, 200, 500)
SHOWN = 30
AMONG_ALL = "doubt, among all 70,000 images"
ALONE = "doubt, test images alone"
PIXELS = "doubt, test images alone, 28 × 28"


def folder() -> Path:
    return Path(os.environ["ALLSPLITS_DATA"])


def images() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All images, their labels, and which are test images."""
    file = np.load(folder() / "mnist_70000.npz")
    return file["X"], file["y"].astype(int), file["is_test"] == 1


def halved(X: np.ndarray) -> np.ndarray:
    """Means of 2 × 2 pixels: a quarter of the work."""
    return X.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(len(X), -1)


def verdicts() -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the 100 test images, and whether people rejected the given label."""
    table = np.loadtxt(
        folder() / "mnist_test_label_verdicts.csv", delimiter=",", skiprows=1, dtype=int
    )
    index, given, suggested, says_given, _, says_both, _ = table.T
    # Where the given label was suggested after all, nobody was asked to reject it.
    return index, (given != suggested) & (says_given + says_both <= 2)


def peers(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Other rankings from the same neighbours of the test images alone."""
    found = evaluate(KNeighborsClassifier(1), X, y, cv=Bernoulli(0.2), n_jobs=1)
    shares = np.clip(found.prediction_proba, 0, 1)
    shares /= shares.sum(axis=1, keepdims=True)
    near = order_neighbors(X, depth=10, n_jobs=1).indices[:, :10]
    disagreement = np.mean(y[near] != y[:, None], axis=1)
    return {
        "cleanlab, self-confidence, shares of neighbours": 1 - get_label_quality_scores(y, shares),
        "cleanlab, normalized margin, shares of neighbours": 1 - get_label_quality_scores(
            y, shares, method="normalized_margin"
        ),
        "plain disagreement of 10 neighbours": disagreement,
    }  # fmt: skip


def places(doubt: np.ndarray) -> np.ndarray:
    """The place of each sample in a ranking, from 1; those that are level share the middle one."""
    _, level, counts = np.unique(-doubt, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[level]


def table(
    rankings: dict[str, np.ndarray],
    asked: np.ndarray,
    rejected: np.ndarray,
    times: dict[str, float],
) -> str:
    rows = []
    for name, doubt in rankings.items():
        at = places(doubt)
        wrong, of_asked = at[asked[rejected]], doubt[asked]
        rows.append([
            name, f"{average_precision_score(rejected, of_asked):.2f}",
            f"{roc_auc_score(rejected, of_asked):.2f}",
            *(f"{np.sum(wrong <= first)} ({np.sum(at[asked] <= first)})" for first in FIRST),
            f"{np.median(wrong):.0f}", f"{times[name]:.0f} s" if name in times else "",
        ])  # fmt: skip
    header = ["ranking", "average precision among the 100", "AUC among the 100",
              *(f"rejected (asked) in the first {first}" for first in FIRST),
              "median place of a rejected one", "processor time"]  # fmt: skip
    return markdown_table(header, rows)


# ------------------------------------------------------------ picture and pages


def draw(X: np.ndarray, titles: list[tuple[int, str]], n_rejected: int) -> None:
    """The rejected ones above, those that nobody was asked about below; ten in a row."""
    upper, lower = -(-n_rejected // 10), -(-(len(titles) - n_rejected) // 10)
    figure, axes = plt.subplots(upper + lower, 10, figsize=(9.2, 1.12 * (upper + lower) + 0.6))
    for each in axes.ravel():
        each.axis("off")
    spots = [*axes[:upper].ravel()[:n_rejected], *axes[upper:].ravel()]
    for spot, (row, title) in zip(spots, titles, strict=False):
        spot.imshow(255 - X[row].reshape(28, 28), cmap="gray", vmin=0, vmax=255)
        spot.set_title(title, fontsize=7, pad=2)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.91, bottom=0.01, hspace=0.75, wspace=0.1)
    figure.text(0.01, 0.97, "Rejected by people, by our place: given → what neighbours say (place)",
                fontsize=9, weight="bold")  # fmt: skip
    top = spots[n_rejected].get_position().y1
    figure.text(0.01, top + 0.042, "Our first ones that nobody was asked about", fontsize=9,
                weight="bold")  # fmt: skip
    DEMOS.mkdir(exist_ok=True)
    save_figure(figure, "label_verdicts", DEMOS)


def page(s: dict[str, object]) -> str:
    return f"""# Label errors with human verdicts

`python studies/label_verdicts.py` · {environment()}

![Digits that people rejected, and others of ours](../docs/demos/label_verdicts.png)

MNIST's 10,000 test images. Of 100 that cleanlab picked with a neural network, five people each
rejected {s["n_rejected"]} labels (at most two of
five chose the given one; for 13 of the 100 the given label was also the suggested one, and they
count as not rejected). Means of 2 × 2
pixels (to save three quarters of the work; one row has all pixels), Euclidean distance,
`find_label_errors` with its default settings, fixed on planted errors of other data sets before
(`studies/suspects.md`).

{s["table"]}

Rejected (asked): how many of the {s["n_rejected"]}, and of all 100, are among the first so many
of our ranking of all 10,000. A ranking at random
has an average precision of about {s["chance"]} among the 100. {s["n_rejected"]} are few: one
image more or less in a column is nothing.

## What we find
- Among all 70,000 images the {s["n_rejected"]} are in places {s["places"]}. Without the training
  images: {s["places_alone"]}.
- The list that `find_label_errors` calls suspects has {s["n_suspects"]} of the 10,000 among all
  images (about {s["n_expected"]} are expected to be wrong in the 70,000), and
  {s["n_listed"]} of the {s["n_rejected"]} are on it.
- Of our first {s["first"]} test images people were asked about {s["asked_first"]}. The picture
  shows the first {SHOWN} of the others: {s["stranger"]} come before the median of the
  {s["n_rejected"]}. Nobody has judged them, and most look rightly labelled to us: odd digits, not
  errors.

## How fair this is
- The 100 were picked by cleanlab with the probabilities of a convolutional network trained on
  MNIST. Errors that it did not doubt were never
  shown to people: it cannot miss any, while we can; its 100 hold all {s["n_rejected"]} by
  construction. Nothing here says who finds more errors.
- Within the 100 the order is ours alone, and the network's order is not in the file. The rows
  named cleanlab above are its scores of
  *our* probabilities from neighbours, not of the network's.
- Pixels and Euclidean distance know less about digits than a convolutional network does.
"""


def demo(s: dict[str, object]) -> str:
    return f"""# Label errors with human verdicts

**{s["in_100"]} of the {s["n_rejected"]} labels of MNIST's test set that people rejected are among
the first 100 of 10,000 in the order of `find_label_errors`, {s["in_500"]} among the first 500, with
no model trained; and {s["not_asked"]} of our first {s["first"]} were never shown to anybody.**

![Digits that people rejected, and our first ones that nobody was asked about](label_verdicts.png)

Northcutt, Athalye and Mueller (2021) had a neural network and cleanlab pick 100 test images, and
showed each to five people. At most two of the
five chose the given label for {s["n_rejected"]} of them, above. Below are the first {SHOWN} of
our order that were not among the 100. Nobody has judged them; most look rightly labelled to us,
odd digits rather than errors.

Our order asks who is near, over all ways of learning from a fifth of the images, in closed form:

```python
from allsplits import find_label_errors

small = images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(len(images), 196)
found = find_label_errors(small, labels)  # training images have a say, too
found.doubt[is_test].argsort()[::-1][:100]  # the first hundred test images
```

{s["table"]}

*How fair is it?* The 100 were picked by cleanlab, so it cannot miss any of the {s["n_rejected"]},
and we can: errors that its network did not doubt are not
known. The rows named cleanlab are its scores of our neighbours' probabilities, not of its
network's. The rule was fixed before, on planted errors of other data sets;
nothing was chosen on these. {s["n_rejected"]} are few. More:
[studies/label_verdicts](../../studies/label_verdicts.md),
[the guide](../values.md#labels-that-look-wrong).
"""


def main() -> None:
    X, y, is_test = images()
    asked, rejected = verdicts()
    tested = np.flatnonzero(is_test)
    times: dict[str, float] = {}

    def suspects(name: str, points: np.ndarray, labels: np.ndarray) -> Suspects:
        start = time.process_time()
        found = find_label_errors(points, labels, n_jobs=1)
        times[name] = time.process_time() - start
        print(f"{name}: {times[name]:.0f} s", flush=True)
        return found

    small = halved(X)
    pixels = suspects(PIXELS, X[tested].reshape(len(tested), -1).astype(float), y[tested])
    alone = suspects(ALONE, small[tested], y[tested])
    others = peers(small[tested], y[tested])
    among = suspects(AMONG_ALL, small, y)
    rankings = {
        AMONG_ALL: among.doubt[tested], ALONE: alone.doubt, PIXELS: pixels.doubt,
        **others,
    }  # fmt: skip
    at, at_alone = places(rankings[AMONG_ALL]), places(alone.doubt)
    wrong = asked[rejected]
    by_place = np.argsort(at, kind="stable")
    strangers = by_place[~np.isin(by_place, asked)]
    shown = [*sorted(wrong, key=lambda row: at[row]), *strangers[:SHOWN]]
    suggested = among.suggested[tested]
    given = y[tested]
    titles = [(row, f"{given[row]} → {suggested[row]} ({at[row]:.0f})") for row in shown]
    draw(X[tested], titles, len(wrong))
    listed = among.rows[is_test[among.rows]]
    first = 100
    figures: dict[str, object] = {
        "n_rejected": len(wrong), "table": table(rankings, asked, rejected, times),
        "chance": f"{rejected.mean():.2f}", "n_expected": f"{among.n_expected:.0f}",
        "places": ", ".join(f"{each:.0f}" for each in np.sort(at[wrong])),
        "places_alone": ", ".join(f"{each:.0f}" for each in np.sort(at_alone[wrong])),
        "n_suspects": len(listed), "n_listed": int(np.isin(tested[wrong], listed).sum()),
        "first": first, "asked_first": int(np.isin(by_place[:first], asked).sum()),
        "not_asked": int(np.sum(~np.isin(by_place[:first], asked))),
        "stranger": int(np.sum(at[strangers] < np.median(at[wrong]))),
        "in_100": int(np.sum(at[wrong] <= 100)), "in_500": int(np.sum(at[wrong] <= 500)),
    }  # fmt: skip
    write_demo("label_verdicts", demo(figures))
    write_page("label_verdicts", page(figures))


if __name__ == "__main__":
    main()
