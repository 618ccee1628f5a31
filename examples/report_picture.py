"""Make the digits report and take the README's picture of it, in headless Chromium.

``python examples/report_picture.py [docs/report.png]`` needs the report extra, the PyPI package
playwright and Chromium (Debian: ``apt-get install chromium``).
"""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, report


def main(picture: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium is not installed: apt-get install chromium")
    X, y = load_digits(return_X_y=True)
    made = report(
        X, y, n_neighbors=range(1, 21), image_shape=(8, 8), title="Handwritten digits",
        against={"11 neighbours": evaluate(KNeighborsClassifier(11), X, y)},
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        address = made.save(Path(folder) / "report.html").as_uri()
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 1030})
        page.goto(address)
        page.locator("#overview .plot svg").hover(position={"x": 260, "y": 150})
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/report.png"))
