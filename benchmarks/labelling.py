"""The labelling page: from an answer to the next sample, with a large pool and many labels.

A person answers every PACE seconds, while the thread behind the page asks the committee about the
whole pool. What is timed is one request (answer, next sample) as a browser sends it; with Chromium
and playwright there, also from the key that is pressed to the next sample on the screen.
"""

from __future__ import annotations

import http.client
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from allsplits import ActiveLearner
from benchmarks._data import gaussian_classes
from benchmarks._timing import Result, print_results

N_POOL, D, N_LABELLED, N_CLASSES = 100_000, 64, 2_000, 10
ANSWERS, PACE, GOAL = 40, 0.5, 0.1


def measure() -> list[Result]:
    X, truth = gaussian_classes(N_POOL, D, N_CLASSES, spread=0.6)
    y = np.where(np.arange(N_POOL) < N_LABELLED, truth, np.nan)
    learner = ActiveLearner(diversity=4, random_state=0).fit(X, y)
    what = f"labelling page, pool of {N_POOL:,} x {D}, {N_LABELLED:,} labels"
    with (
        tempfile.TemporaryDirectory() as folder,
        learner.serve(Path(folder) / "x.sqlite", image_shape=(8, 8)) as page,
    ):
        requests, files = _requests(page, truth)
        screen = _on_the_screen(page, truth)
    found = [
        Result(f"{what}: answer to next sample, median", float(np.median(requests)), None, GOAL),
        Result(f"{what}: the same, the slowest of {ANSWERS}", float(np.max(requests))),
        Result(
            "a file of the page, which needs no work (how busy the machine is)",
            float(np.median(files)),
        ),
    ]
    if screen is not None:
        median = float(np.median(screen))
        found.append(Result(f"{what}: key press to screen (Chromium), median", median, None, GOAL))
        found.append(Result(f"{what}: the same, 9 of 10 within", float(np.quantile(screen, 0.9))))
    return found


def _requests(page, truth) -> tuple[list[float], list[float]]:
    """Seconds of each answer, and of a file that is only sent, over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", page.port)
    token = page.address.partition("token=")[2]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(method: str, path: str, body: dict | None = None) -> dict:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return json.loads(connection.getresponse().read())

    question = ask("GET", "/api/next?session=s")["question"]
    taken, files = [], []
    for i in range(ANSWERS):
        time.sleep(PACE)
        start = time.perf_counter()
        connection.request("GET", "/icon.svg", None, headers)
        connection.getresponse().read()
        files.append(time.perf_counter() - start)
        row = question["row"]
        body = {
            "row": row, "seen": question["seen"], "label": str(truth[row]), "who": "",
            "session": "s", "reason": question["reason"], "nonce": f"n{i}",
        }  # fmt: skip
        start = time.perf_counter()
        question = ask("POST", "/api/answer", body)["question"]
        taken.append(time.perf_counter() - start)
    connection.close()
    return taken, files


def _on_the_screen(page, truth) -> list[float] | None:
    """Seconds from key to picture, as the page itself measures; None without a browser."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if chromium is None:
        return None
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        view = browser.new_page()
        view.goto(page.address)
        view.wait_for_selector("#sample img")
        taken = [_press(view, lambda row: str(truth[row])) for _ in range(ANSWERS)]
        browser.close()
    return taken


def _press(view, label: Callable[[int], str]) -> float:
    time.sleep(PACE)
    row = int(view.locator("#sample img").get_attribute("src").rpartition("/")[2])
    view.evaluate("() => delete document.body.dataset.delay")
    view.keyboard.press(label(row))
    view.wait_for_selector("body[data-delay]")
    return float(view.evaluate("() => document.body.dataset.delay")) / 1000


if __name__ == "__main__":
    print_results(measure())
