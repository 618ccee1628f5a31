"""The labelling page in a real browser: by keyboard, with others, on a phone, for everybody."""

import os
import re
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from allsplits import ActiveLearner
from unit.labelling.talk import learner

#: axe.min.js of the npm package axe-core, where somebody has it: it is not kept here.
AXE = os.environ.get("AXE_CORE")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra label is not installed")
ATTACK = "<img src=x onerror=\"document.title='taken'\">"


@pytest.fixture(scope="module")
def digits():
    found = load_digits()
    return found.data[:400], found.target[:400]


@pytest.fixture
def served(digits, tmp_path):
    made = ActiveLearner(range(1, 6), diversity=4, random_state=0, n_jobs=1).fit(digits[0])
    with made.serve(
        tmp_path / "x.sqlite", classes=range(10), image_shape=(8, 8), target="digit"
    ) as page:
        yield page


@contextmanager
def person(browser, served, *, refused=0, **options):
    """A browser of its own, which must neither complain nor ask anybody else.

    `refused` is how many requests the server is meant to refuse: browsers write those down.
    """
    context = browser.new_context(
        **{"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce", **options}
    )
    page = context.new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(served.address)
    page.wait_for_selector("#classes button")
    try:
        yield page
        own = f"http://127.0.0.1:{served.port}/"
        assert [url for url in requests if not url.startswith(own)] == []
        assert len(complaints) == refused, complaints
        assert all("responded with a status of 409" in words for words in complaints)
    finally:
        context.close()


def row_of(page):
    """The row of the picture on the screen."""
    return int(page.locator("#sample img").get_attribute("src").rpartition("/")[2])


def press(page, key):
    """Press a key and wait until the page shows what follows."""
    page.evaluate("() => delete document.body.dataset.delay")
    page.keyboard.press(key)
    page.wait_for_selector("body[data-delay]")


def test_thirty_samples_by_keyboard(browser, served, digits):
    with person(browser, served) as page:
        assert "token" not in page.url
        asked, rows = [], []
        for _ in range(30):
            row = row_of(page)
            rows.append(row)
            asked.append(page.locator("#why").inner_text())
            press(page, str(digits[1][row]))
        assert len(set(rows)) == 30
        labels = served.store.labels()
        assert labels == {row: int(digits[1][row]) for row in rows}
        assert sum(words.startswith("Drawn at random, to measure") for words in asked) >= 4
        page.wait_for_selector("#accuracy small:has-text('to')")
        assert re.search(r"\d+\.\d\s%", page.locator("#accuracy").inner_text())
        assert page.locator("#k").inner_text().startswith("k = ")
        # The page says so when the answer to its last question has come.
        page.wait_for_selector("#count:text-is('30 of 400 labelled')")


def test_undo_and_reload_in_the_middle(browser, served, digits):
    with person(browser, served) as page:
        for _ in range(3):
            press(page, str(digits[1][row_of(page)]))
        current = row_of(page)
        page.reload()
        page.wait_for_selector("#sample img")
        assert row_of(page) == current
        wrong = str((digits[1][current] + 1) % 10)
        press(page, wrong)
        assert served.store.labels()[current] == int(wrong)
        press(page, "u")
        assert row_of(page) == current
        assert current not in served.store.labels()
        press(page, str(digits[1][current]))
        press(page, "s")
        assert len(served.store.labels()) == 4
        assert len(served.store.skipped()) == 1


def test_two_browsers_get_different_samples(browser, served):
    with person(browser, served) as ann, person(browser, served) as bob:
        ann.locator("#who").fill("Ann")
        ann.locator("#who").blur()
        seen = []
        for _ in range(5):
            first, second = row_of(ann), row_of(bob)
            assert first != second
            seen += [first, second]
            press(ann, "1")
            press(bob, "2")
        assert len(set(seen)) == 10
        assert {a.who for a in served.store.history()} == {"Ann", ""}
        ann.wait_for_selector("#count:has-text('10 of 400')")  # without a click


def test_somebody_elses_answer_is_not_overwritten(browser, served):
    with person(browser, served, refused=1) as page:
        row = row_of(page)
        served.store.answer(row, 7, who="Bob", session="b")
        page.keyboard.press("1")
        page.wait_for_selector("#trouble:has-text('by Bob')")
        assert served.store.labels() == {row: 7}


def test_a_new_class_and_a_class_by_name(browser, served):
    with person(browser, served) as page:
        row = row_of(page)
        page.keyboard.press("n")
        page.keyboard.type("42")
        page.keyboard.press("Enter")
        page.wait_for_selector("#classes button:has-text('42')")
        page.wait_for_selector("#count:has-text('1 of 400')")
        assert served.store.labels() == {row: 42}
        page.keyboard.press("c")
        page.keyboard.type("42")
        page.keyboard.press("Enter")
        page.wait_for_selector("#count:has-text('2 of 400')")
        assert list(served.store.labels().values()) == [42, 42]


def test_an_earlier_answer_is_found_and_changed(browser, served):
    with person(browser, served) as page:
        row = row_of(page)
        press(page, "3")
        following = row_of(page)
        page.keyboard.press("/")
        page.keyboard.type(str(row))
        page.locator("#earlier button", has_text=f"Sample {row}").first.click()
        page.wait_for_selector("#before:has-text('Labelled 3')")
        page.keyboard.press("5")
        page.wait_for_selector(f"#sample img[src='/picture/{following}']")
        assert served.store.labels()[row] == 5
        assert [a.label for a in served.store.history()] == [3, 5]


def test_keys_can_be_switched_off_and_do_not_repeat(browser, served):
    with person(browser, served) as page:
        page.locator("#keys").uncheck()
        page.keyboard.press("3")
        page.locator("#keys").check()
        page.locator("#who").fill("1234")
        page.locator("#who").blur()
        assert served.store.labels() == {}
        page.keyboard.down("3")
        for _ in range(5):
            page.keyboard.down("3")  # held down
        page.keyboard.up("3")
        page.wait_for_selector("#count:has-text('1 of 400')")
        assert len(served.store.labels()) == 1


def test_the_keyboard_alone_reaches_everything(browser, served):
    with person(browser, served) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.className") == "skip"
        reached = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate(
                    "() => document.activeElement.id || document.activeElement.textContent"
                )
            )
        assert {"who", "skip", "undo", "new", "choose", "search", "keys", "download"} <= reached
        page.locator("#classes button").nth(4).focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#count:has-text('1 of 400')")


@pytest.mark.parametrize("width", [360, 390])
def test_on_a_phone(browser, served, width):
    with person(
        browser, served, viewport={"width": width, "height": 740}, has_touch=True, is_mobile=True
    ) as page:
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        place = page.locator("#classes button").last.bounding_box()
        assert place["y"] + place["height"] <= 740  # all answers without scrolling
        assert place["height"] >= 40
        page.locator("#classes button").first.tap()
        page.wait_for_selector("#count:has-text('1 of 400')")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_hostile_texts_run_nothing(browser, tmp_path):
    names = [ATTACK] * 60
    with learner().serve(
        tmp_path / "x.sqlite", classes=["a", ATTACK, "</script><b>x</b>"], names=names,
        texts=[ATTACK + "\nsecond line"] * 60, target=ATTACK,
    ) as served, person(browser, served) as page:  # fmt: skip
        assert page.locator("#what").inner_text() == ATTACK
        assert page.locator("#sample .text").inner_text() == f"{ATTACK}\nsecond line"
        page.keyboard.press("1")  # the class "a" has itself as its key
        page.wait_for_selector("#count:has-text('1 of 60')")
        page.wait_for_selector("#earlier button")
        assert page.title().startswith("Label <img")
        assert page.locator("main img").count() == 0
        assert served.store.labels().popitem()[1] == ATTACK


def test_a_server_that_comes_back_gets_the_answer(browser, digits, tmp_path):
    """The page keeps an answer that nobody heard, and sends it again."""
    made = ActiveLearner([1], random_state=0, n_jobs=1).fit(digits[0])
    options = {
        "classes": range(10), "image_shape": (8, 8), "token": "the-token-of-the-tests-0123456789",
    }  # fmt: skip
    served = made.serve(tmp_path / "x.sqlite", **options)
    context = browser.new_context()
    page = context.new_page()
    page.goto(served.address)
    page.wait_for_selector("#sample img")
    row, port = row_of(page), served.port
    served.stop()
    page.keyboard.press("3")
    page.wait_for_selector("#trouble:has-text('does not answer')", timeout=60_000)
    with made.serve(tmp_path / "x.sqlite", port=port, **options) as again:
        page.wait_for_selector("#count:has-text('1 of 400')", timeout=60_000)
        assert again.store.labels() == {row: 3}
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rules_of_accessibility(browser, served, digits, scheme):
    if AXE is None or not Path(AXE).exists():
        pytest.skip("AXE_CORE does not name axe.min.js (npm pack axe-core; MPL-2.0)")
    context = browser.new_context(
        bypass_csp=True, color_scheme=scheme, viewport={"width": 1200, "height": 900}
    )
    page = context.new_page()
    page.goto(served.address)
    page.wait_for_selector("#sample img")
    for _ in range(12):
        press(page, str(digits[1][row_of(page)]))
    page.add_script_tag(path=AXE)
    found = page.evaluate("() => axe.run()")
    wrong = [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]]
    context.close()
    assert wrong == []


def test_the_state_is_told_to_screen_readers(browser, served):
    with person(browser, served) as page:
        row = row_of(page)
        press(page, "3")
        assert page.get_by_role("status").first.inner_text() == f"Sample {row}: 3."
        assert page.locator("#sample img").get_attribute("alt") == f"Sample {row_of(page)}"
        shortcuts = [
            button.get_attribute("aria-keyshortcuts")
            for button in page.locator("#classes button").all()
        ]
        assert shortcuts == [str(i) for i in range(10)]
        assert np.all([b.inner_text() != "" for b in page.locator("button:visible").all()])
