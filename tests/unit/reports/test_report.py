"""`report`: what the page and the summary say, from evaluations and from data, and bad input."""

import json
import re
import struct
import sys
import zlib
from base64 import b64decode
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.model_selection import KFold, LeaveOneGroupOut, LeavePOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    FixedSize,
    cmc_curve,
    compare,
    evaluate,
    order_neighbors,
    report,
    validation_curve,
)
from allsplits.exceptions import MissingExtraError
from unit.refused import refused

VOID = {"meta", "link", "br", "img", "input", "line", "circle", "path", "polyline"}


class Page(HTMLParser):
    """The tags of a page with their attributes, and its text outside of scripts and styles."""

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.feed(page)
        assert self.open == [], "tags left open"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"{tag} closed twice"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text += data

    def of(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def seven(iris):
    return evaluate(KNeighborsClassifier(7), *iris, cv=LeavePOut(30))


@pytest.fixture(scope="module")
def made(iris):
    return report(*iris, n_neighbors=range(1, 16), cv=KFold(5))


def test_the_summary_repeats_the_evaluation(iris, seven):
    summary = report(seven, X=iris[0]).summary
    assert summary["score"]["value"] == seven.score
    assert summary["score"]["error_bound"] == seven.error_bound
    assert summary["law"]["text"] == str(seven.law)
    assert summary["law"]["n_splits_written_out"].replace(",", "") == str(seven.n_splits)
    assert (summary["interval"]["low"], summary["interval"]["high"]) == tuple(seven.interval())
    assert summary["data"]["n_samples"] == 150
    shares = np.array(summary["confusion"]["shares"])
    np.testing.assert_allclose(np.diag(shares).mean(), seven.score, atol=1e-9)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
    suspected = {one["row"] for one in summary["suspects"]["samples"]}
    hard = [row for row in seven.hardest(40).tolist() if row not in suspected]
    assert [one["row"] for one in summary["hardest"]] == hard[:12]


def test_the_page_says_what_the_summary_says(iris, seven):
    made = report(seven, X=iris[0], title="Three irises", notes=["Petals are in centimetres."])
    page = Page(made.html())
    assert made.summary["answer"] in page.text
    assert "96.4" in made.summary["answer"]
    assert "noise of splitting" in page.text
    assert "noise of sampling" in page.text
    assert "each sample was taken out" in page.text
    assert "Petals are in centimetres." in page.text
    assert "petal length (cm)" in page.text
    assert made.summary["law"]["n_splits_written_out"] in page.text
    assert "scikit-learn" in page.text
    assert page.of("title") == [{}]


def test_the_page_needs_no_network(made):
    page = Page(made.html())
    for _, attributes in page.tags:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:")), (name, value)
    assert not re.search(r"@import|url\(", made.html())
    policy = next(m["content"] for m in page.of("meta") if "http-equiv" in m)
    assert policy.startswith("default-src 'none'")


def test_it_can_be_read_without_seeing_it(made):
    page = Page(made.html())
    assert page.of("html")[0]["lang"] == "en"
    assert all("aria-label" in svg for svg in page.of("svg"))
    assert all("scope" in th for th in page.of("th"))
    assert all("alt" in img for img in page.of("img"))
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))


def test_the_summary_is_plain_json(made):
    assert json.loads(made.json()) == json.loads(json.dumps(made.summary))
    assert json.loads(made.json())["curves"][0]["parameter"] == "n_neighbors"


def test_data_alone_choose_k_and_draw_both_curves(iris, made):
    curve = validation_curve(KNeighborsClassifier(), *iris, n_neighbors=range(1, 16), cv=KFold(5))
    assert made.evaluation.n_neighbors == curve.best
    assert made.summary["score"]["value"] == pytest.approx(curve.best_score, abs=1e-12)
    assert [c["parameter"] for c in made.summary["curves"]] == ["n_neighbors", "train_size"]
    np.testing.assert_allclose(made.summary["curves"][0]["scores"], curve.scores, atol=1e-13)
    assert any("is the best of 15" in n and "flatters by" in n for n in made.summary["notes"])
    assert set(made.summary["timings"]) == {
        "score against k", "evaluation", "learning curve", "a look at the labels",
        "what samples are worth", "what the choice flatters by",
    }  # fmt: skip


def test_an_estimator_keeps_its_k(iris):
    made = report(*iris, estimator=KNeighborsClassifier(4), curves=())
    assert made.evaluation.n_neighbors == 4
    assert made.summary["curves"] == []
    assert not any("is the best of" in note for note in made.summary["notes"])
    assert "Curves" not in Page(made.html()).text


def test_k_goes_only_as_far_as_the_training_sets(iris):
    made = report(*iris, cv=FixedSize(10), curves=None)
    assert made.summary["curves"][0]["x"] == list(range(1, 11))


def test_regression():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    made = report(X, y, estimator=KNeighborsRegressor(10), n_neighbors=range(5, 20))
    assert made.summary["confusion"] is None
    assert made.summary["suspects"] is None
    low, high = (float(word) for word in made.summary["interval"]["in_words"])
    assert low < -made.evaluation.score < high
    text = Page(made.html()).text
    assert "mean squared error" in text
    assert "expected squared error" in text
    assert f"{-made.evaluation.score:.6g}" in text


def test_recall_and_balanced_accuracy(iris):
    recall = report(*iris, scoring="recall@3")
    assert "among the 3 nearest" in recall.summary["answer"]
    assert recall.summary["baseline"] is None
    assert [c["parameter"] for c in recall.summary["curves"]] == ["train_size"]
    Page(recall.html())
    balanced = report(*iris, scoring="balanced_accuracy", curves=())
    assert "average over the classes" in balanced.summary["answer"]


def test_groups_have_no_learning_curve(iris):
    made = report(*iris, cv=LeaveOneGroupOut(), groups=np.arange(150) % 15, n_neighbors=[1, 3])
    assert [c["parameter"] for c in made.summary["curves"]] == ["n_neighbors"]
    assert made.summary["interval"]["unit"] == "groups"


def test_fractions_are_written_out(iris):
    X, y = iris[0][:60], iris[1][:60] + np.arange(60) % 2
    exact = evaluate(KNeighborsClassifier(1), X, y, cv=LeavePOut(5), exact=True)
    top, bottom = report(exact).summary["score"]["fraction"].replace(",", "").split(" / ")
    assert (int(top), int(bottom)) == (exact.fraction.numerator, exact.fraction.denominator)


def test_nothing_is_hard_where_all_is_right():
    X = np.concatenate([np.arange(10.0), 1000 + np.arange(10.0)]).reshape(-1, 1)
    made = report(evaluate(KNeighborsClassifier(1), X, np.repeat([0, 1], 10), cv=LeavePOut(1)))
    assert made.summary["hardest"] == []
    assert made.summary["suspects"]["samples"] == []
    assert "always right" in Page(made.html()).text


def test_comparisons(iris, seven):
    one = evaluate(KNeighborsClassifier(1), *iris, cv=LeavePOut(30))
    made = report(seven, against={"one neighbour": one})
    row = made.summary["comparisons"][0]
    expected = compare(seven, one)
    assert row["difference"] == expected.difference
    assert (row["low"], row["high"]) == tuple(expected.interval)
    assert "one neighbour" in Page(made.html()).text
    assert report(seven, against=one).summary["comparisons"][0]["name"] == "the other"


def test_given_curves_are_shown(iris, seven):
    curve = cmc_curve(*iris, ranks=range(1, 4))
    assert report(seven, curves=[curve]).summary["curves"][0]["parameter"] == "rank"
    assert report(seven, curves=curve).summary["curves"][0]["scores"] == curve.scores.tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_rows_of_frames_have_names(make, iris, seven):
    frame = make({"a b": iris[0].iloc[:, 0].to_numpy(), "word": ["w"] * 150})
    made = report(seven, X=frame)
    assert made.summary["data"]["features"] == ["a b", "word"]
    first = made.summary["hardest"][0]
    assert first["values"] == [f"{iris[0].iloc[first['row'], 0]:.6g}", "w"]


def test_orders_have_no_rows(iris):
    made = report(order_neighbors(iris[0]), iris[1], n_neighbors=3, curves=())
    assert made.summary["data"]["n_features"] is None
    assert made.summary["hardest"][0]["values"] == []
    refused(
        lambda: report(order_neighbors(iris[0]), iris[1], image_shape=(2, 2)), "image_shape", "X"
    )


def test_pictures_are_the_samples():
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    made = report(X, y, n_neighbors=1, image_shape=(8, 8), curves=())
    first = made.summary["hardest"][0]
    np.testing.assert_array_equal(
        read_png(first["picture"]), np.rint(255 * X[first["row"]].reshape(8, 8) / 16)
    )
    assert first["picture"] in made.html()
    colour = report(made.evaluation, X=np.repeat(X, 3, axis=1), image_shape=(8, 8, 3))
    assert read_png(colour.summary["hardest"][0]["picture"], 3).shape == (8, 24)


def read_png(address, colours=1):
    """The pixels of a PNG without filters, after checking every checksum."""
    data = b64decode(address.removeprefix("data:image/png;base64,"))
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (check,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert check == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert lines.shape[1] == 1 + colours * width
    return lines[:, 1:]


def test_many_classes_are_listed():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 5)
    made = report(evaluate(KNeighborsClassifier(1), rng.normal(size=(200, 2)), y, cv=5))
    assert len(made.summary["confusion"]["shares"]) == 40
    page = Page(made.html())
    assert not any(t.get("class") == "confusion" for t in page.of("table"))
    assert "Confused most" in page.text


def test_notebooks_show_the_page_in_a_frame_of_its_own(seven):
    shown = Page(report(seven)._repr_html_())
    (frame,) = shown.of("iframe")
    assert Page(frame["srcdoc"]).of("main")
    assert frame["sandbox"] == "allow-scripts"


def test_the_repr_is_the_answer(made):
    assert repr(made) == f"Report({made.summary['answer']})"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y": [1]}, ["y", "Evaluation"]),
        ({"cv": 5, "scoring": "accuracy"}, ["cv", "scoring", "Evaluation"]),
        ({"X": np.zeros((3, 2))}, ["X", "150", "3"]),
        ({"X": np.zeros((150, 6)), "image_shape": (2, 2)}, ["image_shape", "6"]),
        ({"X": np.zeros((150, 6)), "image_shape": 6}, ["image_shape", "height"]),
        ({"X": np.zeros((150, 6)), "image_shape": (1, 3, 2)}, ["image_shape", "3 colours"]),
        ({"X": np.zeros((150, 6)), "image_shape": (1.5, 4)}, ["image_shape", "1.5"]),
        ({"image_shape": (2, 2)}, ["image_shape", "X"]),
        ({"X": np.zeros((150, 2)), "feature_names": ["a"]}, ["feature_names", "2"]),
        ({"confidence": 2}, ["confidence"]),
        ({"n_samples_shown": -1}, ["n_samples_shown"]),
        ({"curves": [1]}, ["curves", "int"]),
        ({"against": 3}, ["against", "int"]),
        ({"against": {"a": 3}}, ["Evaluation", "int"]),
        ({"path": 3}, ["path", "3"]),
    ],
)
def test_bad_input_is_refused(seven, arguments, words):
    refused(lambda: report(seven, **arguments), *words)


def test_bad_data_are_refused(iris):
    X, y = iris
    refused(lambda: report(X), "y", "None")
    refused(lambda: report(X, y, X=X), "X", "twice")
    refused(lambda: report(X, y[:20]), "y", "150", "20")
    refused(lambda: report(None, y), "X", "None")
    refused(lambda: report(X, y, n_neighbors=200), "n_neighbors", "120")
    refused(lambda: report(X, y, estimator="knn"), "estimator", "str")
    refused(lambda: report(X, y, cv="five"), "cv")


def test_without_jinja2_the_extra_is_named(seven, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    made = report(seven)
    assert json.loads(made.json())
    with pytest.raises(MissingExtraError, match=r"allsplits\[report\]"):
        made.html()


def test_strata_of_a_regressor():
    X, y = load_diabetes(return_X_y=True)
    X, y = np.repeat(X[:30], 2, axis=0), y[:60]
    strata, knn = np.digitize(y, [120.0]), KNeighborsRegressor(4)
    page = report(X, y, estimator=knn, cv=StratifiedKFold(3), strata=strata, curves=[])
    expected = evaluate(knn, X, y, cv=StratifiedKFold(3), strata=strata)
    assert page.summary["score"]["value"] == expected.score
    # Strata are no labels that could be doubted, and values of samples do without them.
    plain = report(X, y, estimator=knn, cv=KFold(3), curves=[])
    assert page.summary["suspects"] == plain.summary["suspects"]
    for part in ("helpful", "harmful"):
        rows, others = ([one["row"] for one in p.summary["values"][part]] for p in (page, plain))
        assert rows == others
    refused(lambda: report(X, y, estimator=knn, cv=StratifiedKFold(3)), "strata")
    refused(lambda: report(expected, strata=strata), "strata", "Evaluation")
