"""Opens `inspect view` in a real headless Chromium and looks at a scored sample."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from inspect_ai.log import read_eval_log

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

TASK = "fluo-cell-counting-2d-cellfmcount"
TASKS = f"{TASK},he-nuinsseg-nuclear-segmentation"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("chromedriver") is None, reason="chromedriver is missing"),
]


@pytest.fixture(scope="module")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the log of the classical baseline on two tasks."""
    folder = tmp_path_factory.mktemp("viewer")
    command = [sys.executable, "-m", "inspect_ai", "eval", "evals/biaa"]
    command += ["--model", "none/none", "--solver", "evals/baseline", "--display", "none"]
    command += ["-T", f"tasks={TASKS}", "-T", "sandbox=local", "--log-dir", "logs"]
    subprocess.run(command, cwd=folder, check=True, timeout=240)
    return folder / "logs"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _serving(log_dir: Path, port: int) -> Iterator[str]:
    command = [sys.executable, "-m", "inspect_ai", "view", "--log-dir", str(log_dir)]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address)
            yield address
        finally:
            server.terminate()
            server.wait(timeout=20)


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.2)
    pytest.fail(f"inspect view did not answer at {address} within 60 s")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Chrome"]:
    """A headless Chromium with a fresh profile that looks nothing up on the network."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1400,1600",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(log_dir: Path) -> Iterator[str]:
    """The address of a running viewer on that log."""
    with _serving(log_dir, _free_port()) as where:
        yield where


def _open(browser: "Chrome", address: str, log_dir: Path, tab: str) -> None:
    [log] = log_dir.glob("*.eval")
    browser.get(f"{address}/#/logs/{quote(log.name)}/samples/sample/{TASK}/1/{tab}")


def _pictures(browser: "Chrome") -> list[tuple[int, int]]:
    """Return natural sizes (width, height) of the inline pictures that are really drawn."""
    script = """
        return Array.from(document.images)
            .filter(i => i.src.startsWith('data:image/') && i.complete && i.naturalWidth > 0
                         && i.getBoundingClientRect().width > 50)
            .map(i => [i.naturalWidth, i.naturalHeight]);
    """
    return [(int(width), int(height)) for width, height in browser.execute_script(script)]


def _keep_screenshot(browser: "Chrome", name: str) -> None:
    """Keep a picture of the page where EVALS_SCREENSHOTS names a folder."""
    if folder := os.environ.get("EVALS_SCREENSHOTS"):
        browser.save_screenshot(str(Path(folder) / name))


def test_the_scoring_tab_shows_the_overlay_and_the_table(
    browser: "Chrome", address: str, log_dir: Path
) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    _open(browser, address, log_dir, "scoring")
    WebDriverWait(browser, 60).until(lambda _: len(_pictures(browser)) >= 1)
    _keep_screenshot(browser, "scoring.png")
    text = browser.execute_script("return document.body.innerText")
    assert "outcome" in text
    assert browser.execute_script("return document.querySelectorAll('table').length") >= 1
    assert all(width >= 100 and height >= 100 for width, height in _pictures(browser))


def test_the_sample_list_reads_outcome_passed_and_strict(
    browser: "Chrome", address: str, log_dir: Path
) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    [log] = log_dir.glob("*.eval")
    browser.get(f"{address}/#/logs/{quote(log.name)}/samples")
    WebDriverWait(browser, 60).until(
        lambda _: TASK[:12] in browser.execute_script("return document.body.innerText")
    )
    _keep_screenshot(browser, "samples.png")
    text = browser.execute_script("return document.body.innerText").lower()
    assert all(column in text for column in ("outcome", "passed", "strict"))
    for sample in read_eval_log(str(log)).samples or []:
        value = (sample.scores or {})["grade"].value
        assert isinstance(value, dict)
        assert str(value["outcome"]) in text
