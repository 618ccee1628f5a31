"""Geometry of the curves, and numbers as the page writes them."""

import numpy as np
import pytest

from allsplits import Curve
from allsplits.reports._chart import chart
from allsplits.reports._summary import _curve
from allsplits.reports._text import as_text, count_as_text, percent, percent_digits, written_out


def drawn(x, scores, scoring="accuracy", parameter="n_neighbors"):
    curve = Curve(parameter, np.array(x), np.array(scores, dtype=float), scoring, 1e-14)
    return chart(_curve(curve))


def test_points_lie_where_their_values_are():
    made = drawn([1, 2, 3, 5], [0.5, 0.7, 0.6, 0.9])
    xs, ys = (np.array([p[i] for p in made["points"]]) for i in range(2))
    np.testing.assert_allclose(np.diff(xs) / np.diff(xs)[0], [1, 1, 2], atol=0.01)
    ticks = {text: y for y, text in made["y_ticks"]}
    assert ys[3] == pytest.approx(ticks["90\u00a0%"], abs=0.1)
    assert np.argmin(ys) == 3  # SVG counts downwards
    assert made["best"] == made["points"][made["best_index"]][:2] == [xs[3], ys[3]]
    assert made["left"] <= xs.min() <= xs.max() <= made["right"]
    assert made["top"] <= ys.min() <= ys.max() <= made["bottom"]


def test_unsorted_values_are_drawn_from_left_to_right():
    made = drawn([3, 1, 5], [0.6, 0.9, 0.7])
    assert [p[2].split(":")[0] for p in made["points"]] == [
        f"number of neighbours = {k}" for k in (1, 3, 5)
    ]
    assert made["best_index"] == 0


@pytest.mark.parametrize("scores", [[0.7], [0.7, 0.7, 0.7]])
def test_flat_curves_and_single_points_stay_on_the_page(scores):
    made = drawn(range(1, len(scores) + 1), scores)
    values = [v for p in made["points"] for v in p[:2]]
    assert np.isfinite(values).all()
    assert made["y_ticks"]
    assert made["x_ticks"]


def test_wide_ranges_are_logarithmic():
    made = drawn(range(1, 1001), np.linspace(0.1, 0.9, 1000), parameter="train_size")
    assert [text for _, text in made["x_ticks"]] == ["1", "10", "100", "1,000"]
    np.testing.assert_allclose(
        np.diff([x for x, _ in made["x_ticks"]]), (made["right"] - made["left"]) / 3, atol=0.1
    )


def test_radii_have_ticks_of_their_own():
    made = drawn([0.25, 0.5, 1.25], [0.6, 0.9, 0.7], parameter="radius")
    assert [text for _, text in made["x_ticks"]] == ["0.25", "0.4", "0.6", "0.8", "1", "1.2"]
    made = drawn([0.003, 0.05], [0.6, 0.9], parameter="radius")
    assert "0" not in [text for _, text in made["x_ticks"]]


def test_long_curves_are_thinned_but_keep_the_best():
    scores = np.linspace(0.1, 0.8, 50_000)
    scores[12_345] = 0.9
    made = drawn(range(1, 50_001), scores, parameter="train_size")
    assert len(made["points"]) <= 601
    assert len(made["table"]) <= 61
    assert made["points"][made["best_index"]][2].startswith("training samples = 12346:")
    assert 12346 in [row[0] for row in made["table"]]
    assert made["points"][0][2].startswith("training samples = 1:")
    assert made["points"][-1][2].startswith("training samples = 50000:")


def test_squared_errors_are_positive_on_the_page():
    made = drawn([1, 2], [-30.0, -20.0], scoring="neg_mean_squared_error")
    assert made["points"][0][2] == "number of neighbours = 1: 30"
    assert made["points"][1][1] < made["points"][0][1]  # the better one is higher
    assert all("-" not in text for _, text in made["y_ticks"])


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"), (12, "12"), (4950, "4,950"), (10**6, "1,000,000"), (123456, "123,456"),
    ],
)  # fmt: skip
def test_numbers_are_written_out_in_groups(number, text):
    assert written_out(number) == text


def test_very_long_numbers_are_written_out_up_to_a_limit():
    number = 7**20_000  # longer than Python writes at once
    digits = written_out(number).replace(",", "")
    total = 0
    for start in range(0, len(digits), 1000):
        piece = digits[start : start + 1000]
        total = total * 10 ** len(piece) + int(piece)
    assert total == number
    assert written_out(10**30_000) is None


def test_counts_are_printed_with_powers():
    assert count_as_text(4950) == "4,950"
    assert count_as_text(154 * 10**93) == "1.54 · 10⁹⁵"
    assert count_as_text(10**380) == "about 10³⁸⁰"


def test_nearly_all_is_not_all_and_hardly_any_is_some():
    assert percent(1.0) == percent(1 - 1e-12) == percent(1 + 4e-16) == "100.00\u00a0%"
    assert percent(0.99999) == ">99.99\u00a0%"
    assert percent(0.0) == percent(1e-12) == percent(-1e-17) == "0.00\u00a0%"
    assert percent(0.00001) == "<0.01\u00a0%"
    assert percent(0.00006) == "0.01\u00a0%"
    assert [percent_digits(v, 0) for v in (0, 0.001, 0.5, 0.999, 1)] == [
        "0", "<1", "50", ">99", "100",
    ]  # fmt: skip


@pytest.mark.parametrize(("low", "high"), [(0.965, 0.985), (0.1, 0.9), (0.99991, 0.99999)])
def test_ticks_have_the_digits_they_need(low, high):
    texts = [text for _, text in drawn([1, 2, 3], [low, (low + high) / 2, high])["y_ticks"]]
    assert len(set(texts)) == len(texts) > 2
    values = np.array([float(text.removesuffix("\u00a0%")) for text in texts])
    np.testing.assert_allclose(np.diff(values), np.diff(values)[0], rtol=1e-6)


def test_texts_can_be_printed():
    assert as_text("Grün ß 数") == "Grün ß 数"
    assert as_text("a\x00\n") == "a\\x00\\n"
    assert as_text(np.str_("b")) == "b"
    assert as_text(3.5) == "3.5"
    assert len(as_text("x" * 5000)) == 200
