"""Labels, column names, titles and cells come from anywhere: the page shows them as text."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, report

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "'; alert(4); //",
    "{{ 7 * 7 }}{% for x in y %}",
    "</title></style><svg onload=alert(5)>",
    "&lt;b&gt;",
    "javascript:alert(6)",
    "\u202egnp.exe",
    "line\nbreak\ttab\x00null\x1b[31m",
    "\ud800 lone surrogate",
    "long " * 2000,
]


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, sorted(name for name, _ in attrs)))

    def handle_data(self, data):
        self.text += data


def tame(i):
    return f"label {i:02d}"


@pytest.fixture(scope="module")
def pages():
    """The page of hostile texts, and the page of tame ones that must have the same tags."""
    made = []
    for texts in (sorted(HOSTILE), [tame(i) for i in range(len(HOSTILE))]):
        rng = np.random.default_rng(0)
        n = 4 * len(texts)
        numbers = rng.normal(size=(n, len(texts)))
        y = np.repeat(np.array(texts, dtype=object), 4)
        found, other = (
            evaluate(KNeighborsClassifier(k), numbers, y, cv=LeaveOneOut()) for k in (1, 2)
        )
        # pandas itself refuses lone surrogates
        columns = [text.encode("utf-8", "replace").decode() for text in texts]
        X = pd.DataFrame(numbers, columns=columns)
        X.insert(0, "cells", (columns * 4)[:n])
        made.append(
            report(
                found, X=X, title=texts[0], notes=[texts[1]], against={texts[2]: other},
                n_samples_shown=n,
            )
        )  # fmt: skip
    return made


def test_no_text_becomes_a_tag(pages):
    hostile, tame_page = (Tags(page.html()) for page in pages)
    assert hostile.found == tame_page.found


def test_every_text_is_shown_as_it_is(pages):
    text = Tags(pages[0].html()).text
    for one in HOSTILE[:8]:
        assert one in text
    assert "line\\nbreak\\ttab\\x00null\\x1b[31m" in text
    assert "\\ud800 lone surrogate" in text
    assert "long " * 400 not in text


def test_notebooks_get_the_same(pages):
    hostile, tame_page = (Tags(page._repr_html_()) for page in pages)
    assert hostile.found == tame_page.found == [("iframe", ["sandbox", "srcdoc", "style", "title"])]


def test_the_file_and_the_json_can_be_written_and_read(pages, tmp_path):
    path = pages[0].save(tmp_path / "page.html")
    assert path.read_bytes().decode("utf-8") == pages[0].html()
    labels = json.loads(pages[0].json())["confusion"]["labels"]
    assert HOSTILE[0] in labels


def test_the_comparison_of_tags_can_fail():
    assert Tags("<b>x</b>").found != Tags("&lt;b>x").found
