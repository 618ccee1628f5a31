"""Label some digits on the labelling page and take its picture, in headless Chromium.

``python examples/labelling_picture.py [docs/labelling.png]`` needs the label extra, the PyPI
package playwright and Chromium (Debian: ``apt-get install chromium``).
"""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from sklearn.datasets import load_digits

from allsplits import ActiveLearner

LABELS = 120
#: Every so many answers one is wrong, so that there is something to look at again.
SLIP = 37


def main(picture: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium is not installed: apt-get install chromium")
    X, y = load_digits(return_X_y=True)
    learner = ActiveLearner(diversity=4, random_state=0).fit(X)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        store = Path(folder) / "digits.sqlite"
        with learner.serve(store, classes=range(10), image_shape=(8, 8), target="digit") as served:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1180, "height": 1010})
            page.goto(served.address)
            page.wait_for_selector("#sample img")
            page.locator("#who").fill("Ann")
            page.locator("#who").blur()
            count = 0
            while count < LABELS or not page.locator("#votes .votes").count():
                answer(page, y, wrong=count % SLIP == SLIP - 1)
                count += 1
            page.wait_for_timeout(3000)  # the last answer is being measured
            page.screenshot(path=picture)
            browser.close()


def answer(page: Page, y, *, wrong: bool) -> None:
    """Press the key of the digit on the screen, and wait for the next one."""
    row = int(page.locator("#sample img").get_attribute("src").rpartition("/")[2])
    page.evaluate("() => delete document.body.dataset.delay")
    page.keyboard.press(str((y[row] + wrong) % 10))
    page.wait_for_selector("body[data-delay]")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/labelling.png"))
