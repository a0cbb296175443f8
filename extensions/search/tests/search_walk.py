"""The page of `verified search --serve`, walked through in a browser as a person with a keyboard does."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from browser import Browser
from running import PROJECT

FOUND = "document.querySelectorAll('li.moment').length > 0"
PLAYER = "document.querySelector('video')"
SPANS = "[...document.querySelectorAll('li.moment')].map(({dataset: d}) => [d.video, Number(d.start), Number(d.end)])"
ASKED = "new URLSearchParams(location.search)"
IN_VIEW = (
    "(([strip, first]) => first.left >= strip.left && first.right <= strip.right)"
    "(['.strip', '.strip .inside'].map((one) => document.querySelector(one).getBoundingClientRect()))"
)
STATUS = "document.getElementById('status').textContent"


@contextlib.contextmanager
def served(index: Path, folder: Path | None = None) -> Iterator[str]:
    """The address of an index that `verified search --serve` serves; `folder`: where the command is given."""
    command = [sys.executable, "-m", "verified", "search", "--serve", "--index", str(index), "--port", "0"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(PROJECT / "scripts")}
    process = subprocess.Popen(command, cwd=folder or PROJECT, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        yield re.search(r"http://\S+/", process.stdout.readline())[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def visit(page: Browser, address: str) -> None:
    page.call("Page.navigate", url="about:blank")
    page.call("Page.navigate", url=address)
    page.wait("document.readyState === 'complete' && location.protocol === 'http:'")


def ask(page: Browser, address: str, query: str) -> list:
    """Type a sentence into the page that was just opened; (video, start, end) of what is found."""
    visit(page, address)
    page.wait("document.activeElement.id === 'query'")
    page.type(query)
    page.press("Enter", 13, "\r")
    page.wait(FOUND)
    page.wait("document.activeElement === document.querySelector('li.moment')")
    assert page.run(f"{ASKED}.get('q')") == query
    return page.run(SPANS)


def play(page: Browser) -> None:
    """Play the moment that has the focus: it begins and stops at its span, and Escape takes the player away."""
    start, end = page.run("(({start, end}) => [Number(start), Number(end)])(document.activeElement.dataset)")
    page.insist(lambda: page.press("Enter", 13, "\r"), f"{PLAYER} && {PLAYER}.readyState >= 2")
    page.wait(f"{PLAYER}.paused && {PLAYER}.currentTime > {start} + 0.1")
    stopped, ended = page.run(f"[{PLAYER}.currentTime, {PLAYER}.ended]")
    assert end - 0.01 <= stopped < end + 0.6 or ended
    assert abs(page.run(f"{PLAYER}.played.start(0)") - start) < 0.3
    assert page.run(f"{PLAYER}.videoWidth") > 0
    part = f"fetch({PLAYER}.src, {{headers: {{Range: 'bytes=2-11'}}}})"
    assert page.run(f"{part}.then(async (one) => [one.status, (await one.arrayBuffer()).byteLength])") == [206, 10]
    page.run(f"{PLAYER}.focus()")
    page.press("Escape", 27)
    assert page.run(f"{PLAYER} === null && document.activeElement.matches('li.moment')")


def walk(page: Browser, address: str, query: str) -> None:
    """Ask, go up and down, play, more like this, back, one video only, all again, and the address given to another."""
    found = ask(page, address, query)
    assert len(found) > 1
    bare = (
        "[...document.querySelectorAll('li.moment')].flatMap((one) => [...one.childNodes]).map((one) => one.nodeType)"
    )
    assert set(page.run(bare)) == {1}  # elements alone: what is missing is no text
    page.press("j", 74, "j")
    assert page.run("document.activeElement === document.querySelectorAll('li.moment')[1]")
    page.press("k", 75, "k")
    play(page)
    page.wait("[...document.querySelector('.strip').children].every((one) => one.complete && one.naturalWidth > 0)")
    assert page.run("document.querySelectorAll('.strip img.inside').length") > 0

    video, start, end = found[0]
    page.insist(lambda: page.press("m", 77, "m"), f"{ASKED}.get('like') === {video!r}")
    page.wait(f"{STATUS}.includes('like ')")
    assert not any(one == video and first < end and last > start for one, first, last in page.run(SPANS))
    page.run("history.back()")
    page.wait(f"{ASKED}.get('q') && {STATUS}.endsWith({query!r})")
    assert page.run(SPANS) == found

    page.run("document.querySelector('li.moment').focus()")
    page.insist(lambda: page.press("v", 86, "v"), f"{ASKED}.get('video') === {video!r}")
    page.wait(f"[...document.querySelectorAll('li.moment')].every((one) => one.dataset.video === {video!r})")
    page.wait("document.activeElement.matches('li.moment')")
    shared = page.run("location.href")
    page.insist(lambda: page.press("v", 86, "v"), f"!{ASKED}.get('video')")
    page.wait(f"JSON.stringify({SPANS}) === {json.dumps(json.dumps(found, separators=(',', ':')))}")

    visit(page, shared)
    page.wait(FOUND)
    assert {one[0] for one in page.run(SPANS)} == {video}
    assert page.run("[document.getElementById('query').value, document.getElementById('video').value]") == [
        query,
        video,
    ]
    assert page.messages == []
