"""The site, built once: no warnings, all public names, a search that finds, also on a phone."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

import pytest

import allsplits
from allsplits import exceptions

fcntl = pytest.importorskip("fcntl", reason="no locks between processes here")
pytest.importorskip("sphinx", reason="Sphinx is not installed (pip install 'allsplits[docs]')")
pytest.importorskip("sphinx_gallery", reason="sphinx-gallery is not installed")

ROOT = Path(__file__).parents[2]
PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built by the first process that asks; warnings are errors."""
    temporary = tmp_path_factory.getbasetemp()
    folder = (temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary) / "site"
    folder.mkdir(exist_ok=True)
    built = folder / "built"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            done = subprocess.run(
                [sys.executable, ROOT / "docs" / "make_site.py", folder],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
            built.touch()
    return folder / "site"


@contextmanager
def opened(browser, address, **options):
    """A page that must neither complain nor ask another host."""
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
    page = context.new_page()
    complaints, requests = [], []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    try:
        yield page
        assert complaints == []
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    finally:
        context.close()


def address_of(site, name):
    return (site / name).as_uri()


class Asked(HTMLParser):
    """What a page loads: scripts, styles, pictures, fonts."""

    def __init__(self, text):
        super().__init__()
        self.addresses = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag in ("script", "img", "iframe", "source"):
            self.addresses.append(values.get("src") or "")
        elif tag == "link" and values.get("rel") in ("stylesheet", "preload", "icon"):
            self.addresses.append(values.get("href") or "")


def test_every_public_name_has_a_page(site):
    names = [f"allsplits.{name}" for name in allsplits.__all__]
    names += [f"allsplits.exceptions.{name}" for name in exceptions.__all__]
    assert [name for name in names if not (site / "api" / f"{name}.html").exists()] == []
    page = (site / "api.html").read_text(encoding="utf-8")
    assert [name for name in names if f'href="api/{name}.html"' not in page] == []


def test_no_page_loads_anything_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 100
    for page in pages:
        loaded = Asked(page.read_text(encoding="utf-8")).addresses
        assert [url for url in loaded if url.startswith(("http", "//"))] == [], page


def test_examples_are_there_as_programs_and_as_notebooks(site):
    programs = sorted(path.stem for path in (ROOT / "examples" / "gallery").glob("plot_*.py"))
    assert len(programs) >= 6
    for ending in ("py", "ipynb"):
        offered = sorted(path.stem for path in (site / "_downloads").rglob(f"plot_*.{ending}"))
        assert offered == programs


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_search_finds_a_page_and_opens_it(browser, site, scheme):
    with opened(browser, address_of(site, "index.html"), color_scheme=scheme) as page:
        assert page.locator("html").get_attribute("data-theme") == scheme
        page.keyboard.press("Control+k")
        page.locator("dialog input[type=search]").fill("galleries")
        page.keyboard.press("Enter")
        found = page.locator("#search-results ul.search a")
        found.filter(has_text=re.compile("^Retrieval$")).click()
        page.wait_for_url("**/retrieval.html*")
        assert page.locator("h1").inner_text().startswith("Retrieval")
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(map(int, colour[4:-1].split(","))) > 3 * 128
        assert light == (scheme == "light")


@pytest.mark.parametrize(
    "name",
    [
        "index.html",
        "guide.html",
        "jobs/choose_k.html",
        "math.html",
        "laws.html",
        "api/allsplits.evaluate.html",
        "api/allsplits.Evaluation.html",
        "gallery/index.html",
        "gallery/plot_choose_k.html",
        "studies/README.html",
        "coming_from/scikit_learn.html",
    ],
)
def test_a_phone_can_read_it(browser, site, name):
    """No page is wider than the screen: wide tables and blocks scroll by themselves."""
    with opened(browser, address_of(site, name), viewport=PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert page.locator("h1").first.is_visible()


def test_the_bar_leads_to_every_part(browser, site):
    with opened(browser, address_of(site, "index.html")) as page:
        bar = page.locator("header nav a.nav-link").all_inner_texts()
        parts = ["Guide", "Gallery", "Demonstrations", "Reference", "Coming from", "Questions"]
        assert [part for part in parts if part not in [text.strip() for text in bar]] == []
