"""A headless Chromium for all tests of pages; without it they skip and say so."""

import os
import shutil

import pytest


@pytest.fixture(scope="module")
def browser():
    """One browser for the tests of a file."""
    driver_of = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )
    if chromium is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    with driver_of.sync_playwright() as driver:
        # A root user, as in containers, has no sandbox; the pages are our own.
        made = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield made
        made.close()
