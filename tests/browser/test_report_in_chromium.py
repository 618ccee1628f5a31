"""The report in a real browser: nothing fails, nothing is fetched, everything answers."""

from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import FixedSize, Report, evaluate, report

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    other = evaluate(KNeighborsClassifier(9), X, y)
    return report(
        X, y, n_neighbors=range(1, 11), image_shape=(8, 8), against={"nine": other},
        title="Four hundred digits",
    )  # fmt: skip


@pytest.fixture(scope="module")
def address(digits, tmp_path_factory):
    return digits.save(tmp_path_factory.mktemp("page") / "report.html").as_uri()


@contextmanager
def opened(browser, address, **options):
    """A page that must neither complain nor ask for anything but itself."""
    page = browser.new_page(viewport={"width": 1000, "height": 900}, **options)
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    try:
        yield page
        assert complaints == []
        assert [url for url in requests if not url.startswith("data:")] == [address]
    finally:
        page.close()


@pytest.fixture
def page(browser, address):
    with opened(browser, address) as page:
        yield page


def selected(page):
    tabs = [t for t in page.get_by_role("tab").all() if t.get_attribute("aria-selected") == "true"]
    panels = [p for p in page.locator("main > section").all() if p.is_visible()]
    assert len(tabs) == len(panels) == 1
    assert tabs[0].get_attribute("aria-controls") == panels[0].get_attribute("id")
    return tabs[0].inner_text()


def test_it_opens_on_the_answer(page, digits):
    assert page.title() == "Four hundred digits"
    assert page.locator("#answer").inner_text().startswith(digits.summary["answer"])
    assert selected(page) == "Overview"
    assert page.locator("#comparisons").get_by_text("nine", exact=True).is_visible()


def test_tabs_switch_by_mouse(page):
    names = [tab.inner_text() for tab in page.get_by_role("tab").all()]
    assert names == ["Overview", "Curves", "Classes", "Samples", "Numbers"]
    for name in names:
        page.get_by_role("tab", name=name).click()
        assert selected(page) == name


def test_tabs_switch_by_keyboard(page):
    page.get_by_role("tab", name="Overview").focus()
    for key, name in (
        ("ArrowRight", "Curves"), ("ArrowRight", "Classes"), ("ArrowLeft", "Curves"),
        ("End", "Numbers"), ("ArrowRight", "Overview"), ("ArrowLeft", "Numbers"),
        ("Home", "Overview"),
    ):  # fmt: skip
        page.keyboard.press(key)
        assert selected(page) == name
        assert page.evaluate("document.activeElement.textContent") == name


def test_the_keyboard_reaches_the_curve(page):
    """Tab, arrow, tab, tab: from the first thing on the page into a curve."""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "svg"


def test_hovering_reads_the_nearest_value(page, digits):
    page.get_by_role("tab", name="Curves").click()
    plot = page.locator("#curves .plot").first
    svg, tip = plot.locator("svg"), plot.locator(".tip")
    assert tip.is_hidden()
    box = svg.bounding_box()
    curve = digits.summary["curves"][0]
    for index in (0, 4, 9):
        dot = plot.locator("circle.dot").nth(index).bounding_box()
        page.mouse.move(dot["x"] + dot["width"] / 2, box["y"] + box["height"] / 2)
        text = tip.inner_text().replace("\u00a0", " ")
        assert text == f"number of neighbours = {index + 1}: {100 * curve['scores'][index]:.2f} %"
    page.mouse.move(5, 5)
    assert tip.is_hidden()


def test_arrow_keys_walk_along_a_curve(page, digits):
    page.get_by_role("tab", name="Curves").click()
    plot = page.locator("#curves .plot").first
    plot.locator("svg").focus()
    best = digits.summary["curves"][0]["best"]
    assert plot.get_by_role("status").inner_text().startswith(f"number of neighbours = {best}:")
    page.keyboard.press("End")
    assert plot.get_by_role("status").inner_text().startswith("number of neighbours = 10:")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert plot.get_by_role("status").inner_text().startswith("number of neighbours = 8:")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    assert plot.get_by_role("status").inner_text().startswith("number of neighbours = 1:")


def test_pictures_are_decoded(page):
    page.get_by_role("tab", name="Samples").click()
    sizes = page.evaluate(
        "Array.from(document.images, i => i.complete ? [i.naturalWidth, i.naturalHeight] : 0)"
    )
    assert sizes
    assert all(size == [8, 8] for size in sizes)


def test_print_shows_every_part(page):
    page.emulate_media(media="print")
    assert all(panel.is_visible() for panel in page.locator("main > section").all())
    assert page.get_by_role("tablist").is_hidden()


def test_without_scripts_everything_is_there(browser, address):
    with opened(browser, address, java_script_enabled=False) as page:
        assert all(panel.is_visible() for panel in page.locator("main > section").all())
        assert page.locator("#tabs").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_their_ground(browser, address, scheme):
    """Contrast of 4.5 or more (WCAG AA) for every visible piece of text."""
    with opened(browser, address, color_scheme=scheme, reduced_motion="reduce") as page:
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != (
            "rgb(255, 255, 255)"
        )
        assert dark == (scheme == "dark")
        for tab in page.get_by_role("tab").all():
            tab.click()
            found = page.evaluate(COLORS)
            assert len(found) > 10
            poor = [(text, c) for text, *pair in found if (c := contrast(*pair)) < 4.5]
            assert poor == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_shade_of_the_confusion_matrix_is_readable(browser, digits, tmp_path, scheme):
    shades = np.linspace(0, 1, 400).reshape(20, 20)
    labels = [str(i) for i in range(20)]
    confusion = {"labels": labels, "shares": shades.tolist(), "pairs": []}
    shown = Report({**digits.summary, "confusion": confusion}, digits.evaluation)
    address = shown.save(tmp_path / "shades.html").as_uri()
    with opened(browser, address, color_scheme=scheme) as page:
        page.get_by_role("tab", name="Classes").click()
        found = page.evaluate(COLORS)
        assert len(found) > 400
        assert [(text, c) for text, *pair in found if (c := contrast(*pair)) < 4.5] == []


#: Text, its colour, and the ground under it with every layer blended in.
COLORS = """() => {
  const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const blend = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
  return Array.from(document.querySelectorAll("p, td, th, dt, dd, small, summary, button, svg text, li, h1, h2, h3"))
    .filter((e) => e.checkVisibility() && e.textContent.trim())
    .map((e) => {
      const layers = [];
      for (let at = e; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
      let ground = [255, 255, 255];
      for (const layer of layers.reverse()) ground = blend(layer, ground);
      const style = getComputedStyle(e);
      const ink = parse(e instanceof SVGElement ? style.fill : style.color);
      return [e.textContent.trim().slice(0, 30), blend(ink, ground), ground];
    });
}"""  # noqa: E501 - one line each in the page's language


def contrast(ink, ground):
    lights = sorted(luminance(color) for color in (ink, ground))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(color):
    shares = np.array(color) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_the_measure_of_contrast_is_the_known_one():
    assert contrast([0, 0, 0], [255, 255, 255]) == pytest.approx(21)
    assert contrast([119, 119, 119], [255, 255, 255]) == pytest.approx(4.48, abs=0.01)


def test_small_screens_do_not_scroll_sideways(browser, address):
    with opened(browser, address) as page:
        page.set_viewport_size({"width": 360, "height": 740})
        for tab in page.get_by_role("tab").all():
            tab.click()
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, tab.inner_text()


def test_numbers_stay_on_one_line(browser, tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    made = report(X, y, estimator=KNeighborsRegressor(5), n_neighbors=[5], curves=())
    with opened(browser, made.save(tmp_path / "rows.html").as_uri()) as page:
        page.get_by_role("tab", name="Samples").click()
        heights = page.evaluate(
            "Array.from(document.querySelectorAll('#samples td'), c => c.offsetHeight)"
        )
        # The hardest, and with their values the most harmful and the most helpful.
        assert len(heights) == 12 * (2 + X.shape[1]) + 24 * (3 + X.shape[1])
        assert max(heights) < 48


@pytest.mark.parametrize(("anchor", "name"), [("#samples", "Samples"), ("#curves", "Curves"),
                                              ("#splits", "Numbers"), ("#nowhere", "Overview"),
                                              ("#main", "Overview")])  # fmt: skip
def test_the_address_opens_a_part(browser, address, anchor, name):
    page = browser.new_page()
    page.goto(address + anchor)
    assert selected(page) == name
    page.get_by_role("tab", name="Classes").click()
    assert page.url.endswith("#classes")
    page.evaluate("location.hash = 'numbers'")
    page.wait_for_function("document.getElementById('numbers').checkVisibility()")
    assert selected(page) == "Numbers"
    page.close()


def test_the_first_part_has_pictures(page):
    assert page.locator("#overview .strip").is_visible()
    assert page.locator("#overview .plot svg").is_visible()
    box = page.locator("#overview .strip .track").first.bounding_box()
    place = page.locator("#overview .strip .me").bounding_box()
    share = (place["x"] + place["width"] / 2 - box["x"]) / box["width"]
    assert share == pytest.approx(0.99, abs=0.01)


def test_no_card_stretches_the_others(page):
    heights = page.evaluate(
        "Array.from(document.querySelectorAll('.figures div'), c => c.offsetHeight)"
    )
    assert len(heights) == 6
    assert max(heights) < 130


@pytest.mark.parametrize("width", [390, 360])
def test_charts_can_be_read_on_small_screens(browser, address, width):
    with opened(browser, address) as page:
        page.set_viewport_size({"width": width, "height": 800})
        page.get_by_role("tab", name="Curves").click()
        plot = page.locator("#curves .plot").first
        texts = [t.bounding_box() for t in plot.locator("svg text").all() if t.is_visible()]
        assert len(texts) >= 8
        assert min(box["height"] for box in texts) > 12  # a line of 11 pixels
        inside = plot.bounding_box()
        for i, a in enumerate(texts):
            assert a["x"] >= inside["x"] - 0.5
            assert not any(overlap(a, b) for b in texts[:i])
        plot.locator("svg").focus()
        for key in ("Home", "End"):
            page.keyboard.press(key)
            tip = plot.locator(".tip").bounding_box()
            assert tip["x"] >= 0
            assert tip["x"] + tip["width"] <= width


def overlap(a, b):
    return all(
        a[side] < b[side] + b[length] and b[side] < a[side] + a[length]
        for side, length in (("x", "width"), ("y", "height"))
    )


def test_thirty_long_names_fit(browser, tmp_path):
    names = [f"a rather long name of a class of things, number {i}" for i in range(30)]
    X = np.random.default_rng(0).normal(size=(120, 2))
    made = report(evaluate(KNeighborsClassifier(1), X, np.repeat(names, 4), cv=LeaveOneOut()))
    with opened(browser, made.save(tmp_path / "names.html").as_uri()) as page:
        page.get_by_role("tab", name="Classes").click()
        matrix = page.locator(".confusion")
        assert matrix.locator("thead").bounding_box()["height"] < 160
        rows = matrix.locator("tbody tr").all()
        assert max(row.bounding_box()["height"] for row in rows) < 30
        room = page.locator(".scroll", has=matrix)
        assert room.evaluate("e => e.scrollWidth <= e.clientWidth"), "clipped"
        heads = [h.inner_text() for h in matrix.locator("thead th").all()[1:]]
        assert len(set(heads)) == 30


def test_many_classes_are_searched(browser, tmp_path):
    names = np.array([f"person {i:04d}" for i in range(2000)])
    X = np.repeat(np.arange(2000.0), 2).reshape(-1, 1)
    found = evaluate(KNeighborsClassifier(1), X, np.repeat(names, 2), cv=FixedSize(3000))
    with opened(browser, report(found).save(tmp_path / "many.html").as_uri()) as page:
        for tab in page.get_by_role("tab").all():
            tab.click()
            assert page.evaluate("document.documentElement.scrollHeight") < 3000, tab.inner_text()
        page.get_by_role("tab", name="Classes").click()
        page.get_by_label("Find a class").fill("0123")
        shown = page.locator("#each tbody tr:visible th")
        assert shown.all_inner_texts() == ["person 0123"]
        assert page.locator(".find [role=status]").inner_text() == "1 of 2,000 classes"
        page.get_by_label("Find a class").fill("")
        assert page.locator(".find [role=status]").inner_text() == "2,000 of 2,000 classes"


def test_hostile_texts_run_nothing(browser, tmp_path):
    attack = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
    labels = np.array([attack, "</script><b>", "plain"], dtype=object)
    rng = np.random.default_rng(0)
    y = np.repeat(labels, 8)
    found = evaluate(KNeighborsClassifier(1), rng.normal(size=(24, 2)), y, cv=LeaveOneOut())
    made = report(found, X=rng.normal(size=(24, 2)), feature_names=[attack, "b"], title=attack)
    with opened(browser, made.save(tmp_path / "hostile.html").as_uri()) as page:
        assert page.title() == attack
        assert page.locator("img").count() == 0
        page.get_by_role("tab", name="Classes").click()
        assert page.get_by_role("rowheader", name="</script><b>").first.is_visible()


def test_the_policy_stops_what_is_not_ours(browser, digits, tmp_path):
    """Even a script that found its way into the file would not run."""
    attacked = digits.html().replace("</main>", "<script>document.title='taken'</script></main>")
    path = tmp_path / "attacked.html"
    path.write_text(attacked, encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.title() == "Four hundred digits"
    assert selected(page) == "Overview"
    page.close()


def test_notebooks_show_it(browser, digits, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><title>n</title>{digits._repr_html_()}", encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.get_by_role("tab", name="Classes").click()
    assert frame.get_by_role("tabpanel", name="Classes").is_visible()
    page.close()


@pytest.mark.parametrize("width", [1000, 390])
def test_suspects_stand_beside_their_neighbours(browser, tmp_path, width):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300].copy()
    y[[10, 50, 90]] = (y[[10, 50, 90]] + 3) % 10
    made = report(X, y, n_neighbors=3, curves=(), image_shape=(8, 8))
    shown = made.summary["suspects"]["samples"]
    assert shown
    with opened(browser, made.save(tmp_path / "suspects.html").as_uri()) as page:
        page.set_viewport_size({"width": width, "height": 900})
        page.get_by_role("tab", name="Samples").click()
        near = page.locator(".cards.wide .near")
        assert near.count() == len(shown)
        pictures = near.first.locator("img")
        assert pictures.count() == len(shown[0]["neighbors"])
        for i in range(pictures.count()):
            assert pictures.nth(i).evaluate("one => one.naturalWidth") == 8
            assert pictures.nth(i).bounding_box()["width"] > 20
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.get_by_text("Most harmful samples").is_visible()
