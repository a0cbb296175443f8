"""A headless Chromium driven through its DevTools pipe: no driver program, no further package.

Tests that need it call `browser(tmp_path)` and are skipped where no Chromium is found. `make test-browser` runs them
alone; screenshots land in the folder that VERIFIED_SCREENSHOTS names, or in the test's own.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 60  # seconds
BETWEEN_PAGES = ("context", "navigated", "not defined", "of null", "of undefined")
"""Words of what a browser answers while one page goes and the next is not whole."""
SEEN = """
JSON.stringify([document.activeElement.id, document.body.innerText,
  ...[...document.querySelectorAll('input, textarea')].map((field) => field.value)])
"""
"""What a person sees of a page: its text, what stands in its fields, and where the focus is."""


class Browser:
    def __init__(self, process: subprocess.Popen, write, read, folder: Path):
        self._process, self._write, self._read, self.folder = process, write, read, folder
        self._buffer, self._number = b"", 0
        self.messages: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self._call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def call(self, method: str, **parameters) -> dict:
        return self._call(method, session=self._session, **parameters)

    def _call(self, method: str, session: str | None = None, **parameters) -> dict:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._write.write(json.dumps(message).encode() + b"\0")
        self._write.flush()
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _receive(self) -> dict:
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], PATIENCE)[0]:
                raise RuntimeError(f"the browser said nothing for {PATIENCE} s")
            chunk = os.read(self._read.fileno(), 1 << 20)
            if not chunk:
                raise RuntimeError("the browser went away")
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(line)

    def _note(self, event: dict) -> None:
        """Keep what the page complains about: exceptions, and log entries such as a breach of its policy."""
        if event.get("method") == "Runtime.exceptionThrown":
            self.messages.append(json.dumps(event["params"]["exceptionDetails"]))
        if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.messages.append(event["params"]["entry"]["text"])

    def open(self, path: Path, fragment: str = "") -> None:
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"{path.resolve().as_uri()}{fragment}")
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def run(self, script: str):
        """Value of a JavaScript expression; promises are awaited."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def wait(self, condition: str) -> None:
        """Return when a JavaScript condition holds; between two pages, nothing does."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if self.run(condition):
                    return
                said = self.run("document.body?.innerText")
            except RuntimeError as error:
                said = str(error)
                if not any(words in said for words in BETWEEN_PAGES):
                    raise
            assert time.monotonic() < end, f"not so after {PATIENCE} s: {condition}\n{said and said[-900:]}"
            time.sleep(0.05)

    def insist(self, act: Callable[[], None], condition: str, once: bool = False) -> None:
        """Do something, again if need be, until a JavaScript condition holds: a headless browser misses an event now
        and then. `once`: only while the page is as it was before, for what must not be done twice."""
        end = time.monotonic() + PATIENCE
        before = self.run(SEEN)
        while True:
            act()
            for _ in range(20):
                if self.run(condition):
                    return
                time.sleep(0.05)
            if once and self.run(SEEN) != before:
                return self.wait(condition)
            page = self.run("document.body.innerText")
            assert time.monotonic() < end, f"not so after {PATIENCE} s: {condition}\n{page[-900:]}"

    def press(self, key: str, code: int, text: str = "") -> None:
        """One key, as from a keyboard: its name and its Windows key code."""
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def scheme(self, name: str) -> None:
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def downloaded(self, pattern: str) -> Path:
        """The file that the page saved under such a name, once it is whole: before, an empty one stands there."""
        end = time.monotonic() + PATIENCE
        while not (whole := [path for path in self.folder.glob(pattern) if path.stat().st_size]):
            assert time.monotonic() < end, f"no {pattern} after {PATIENCE} s"
            self.run("new Promise((resolve) => setTimeout(resolve, 50))")
        return whole[0]

    def violations(self) -> list[tuple[str, str, list[str]]]:
        """What axe-core (npm) finds serious or critical on the page as it is: rule, impact, the first elements.

        axe-core is no part of the project: `make test-browser` installs it beside the environment and names it in
        VERIFIED_AXE. Skips the test where it is not there.
        """
        given = os.environ.get("VERIFIED_AXE")
        if not given:
            pytest.skip("axe-core is not here: `make test-browser` installs it and names it in VERIFIED_AXE")
        self.run(f"{Path(given).read_text(encoding='utf-8')}; null")
        found = json.loads(self.run("axe.run(document).then((result) => JSON.stringify(result.violations))"))
        print(len(found), "violations of any kind")
        return [
            (one["id"], one["impact"], [node["html"][:120] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]

    def screenshot(self, name: str, width: int = 1200, height: int = 1000) -> Path:
        """A picture of the page in the folder of screenshots."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        folder = Path(os.environ.get("VERIFIED_SCREENSHOTS") or self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
        return path


@contextlib.contextmanager
def browser(folder: Path):
    """A `Browser` that keeps its profile and downloads in `folder`; skips the test where there is no Chromium."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium on this machine: `make test-browser` says how to get one")
    folder.mkdir(parents=True, exist_ok=True)
    from_browser, to_us = os.pipe()
    from_us, to_browser = os.pipe()
    profile = folder / "profile"

    def connect() -> None:
        # The browser reads commands from 3 and writes to 4; the copies keep either from overwriting the other.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (from_us, to_us)]
        for end, wanted in zip(ends, (3, 4)):
            os.dup2(end, wanted)

    process = subprocess.Popen(
        [program, *FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(3, 4),
        preexec_fn=connect,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(from_us)
    os.close(to_us)
    write, read = os.fdopen(to_browser, "wb"), os.fdopen(from_browser, "rb")
    try:
        yield Browser(process, write, read, folder)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (write, read):
            with contextlib.suppress(OSError):
                stream.close()
