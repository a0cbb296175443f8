"""The page in a browser: a search, the player at its span, the keyboard, the address, hostile text, small screens."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from browser import browser
from running import PROJECT
from small_index import describe_videos, random_videos, write_corpus

from verified.common.fig import write_fig
from verified.common.jsonl import read_jsonl
from verified.search.update import update

HOSTILE = "</script><script>window.caught = true</script><img src=x onerror='window.caught = true'>"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of a served index of videos of ten seconds, two of whose captions are hostile."""
    folder = tmp_path_factory.mktemp("served")
    videos = {video: np.resize(clips, (10, clips.shape[1])) for video, clips in random_videos(5).items()}
    files, settings = write_corpus(folder, videos)
    describe_videos(folder, videos)
    rows = read_jsonl(files["annotations"][0])
    rows[0]["fig_desc"], rows[1]["cog_desc"] = HOSTILE, HOSTILE
    write_fig(files["annotations"][0], rows)
    update(folder / "index", files, {**settings, "thumbnails": 6})
    command = [sys.executable, "-m", "verified", "serve", "--index", str(folder / "index"), "--port", "0"]
    process = subprocess.Popen(
        command, cwd=PROJECT / "scripts", stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    try:
        yield re.search(r"http://\S+/", process.stdout.readline())[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


@pytest.fixture
def page(tmp_path):
    with browser(tmp_path / "browser") as one:
        yield one


def visit(page, address: str) -> None:
    page.call("Page.navigate", url="about:blank")
    page.call("Page.navigate", url=address)
    page.wait("document.readyState === 'complete' && location.protocol === 'http:'")


FOUND = "document.querySelectorAll('li.moment').length > 0"
PLAYER = "document.querySelector('video')"


def test_a_search_by_keyboard_plays_the_span_and_can_be_shared(page, address):
    visit(page, address)
    page.press("/", 191, "/")
    page.type("a red thing moves")
    page.press("Enter", 13, "\r")
    page.wait(FOUND)
    assert page.run("new URLSearchParams(location.search).get('q')") == "a red thing moves"
    count = page.run("document.querySelectorAll('li.moment').length")
    page.run("document.activeElement.blur()")
    page.press("j", 74, "j")
    page.press("j", 74, "j")
    assert page.run("document.activeElement === document.querySelectorAll('li.moment')[1]")
    page.press("k", 75, "k")
    start, end = page.run("(({start, end}) => [Number(start), Number(end)])(document.activeElement.dataset)")
    page.insist(lambda: page.press("Enter", 13, "\r"), f"{PLAYER} && {PLAYER}.readyState >= 2")
    page.wait(f"{PLAYER}.paused && {PLAYER}.currentTime >= {end}")  # it stops at the end of the span
    assert page.run(f"{PLAYER}.currentTime") < end + 1
    played = page.run(f"[...Array({PLAYER}.played.length).keys()].map((i) => {PLAYER}.played.start(i))")
    assert abs(min(played) - start) < 0.3
    page.press("Escape", 27)
    assert page.run(f"{PLAYER} === null")

    shared = page.run("location.href")
    visit(page, shared)
    page.wait(FOUND)
    assert page.run("document.querySelectorAll('li.moment').length") == count
    assert page.run("document.getElementById('query').value") == "a red thing moves"
    page.wait("[...document.images].some((one) => one.complete && one.naturalWidth > 0)")
    assert page.run("document.querySelectorAll('.strip img.inside').length") > 0
    assert not page.run("document.getElementById('hint').hidden")
    assert page.messages == []


def test_more_like_this_and_one_video_only(page, address):
    visit(page, f"{address}?q=a+thing")
    page.wait(FOUND)
    page.run("document.querySelector('li.moment').focus()")
    video = page.run("document.activeElement.dataset.video")
    page.press("v", 86, "v")
    page.wait(f"new URLSearchParams(location.search).get('video') === '{video}'")
    page.wait(f"{FOUND} && [...document.querySelectorAll('li.moment')].every((one) => one.dataset.video === '{video}')")
    page.run("document.querySelector('li.moment').focus()")
    page.press("m", 77, "m")
    page.wait("document.getElementById('status').textContent.includes('like ')")
    assert page.run(f"new URLSearchParams(location.search).get('like') === '{video}'")
    page.run("history.back()")
    page.wait("document.getElementById('status').textContent.includes('a thing')")
    page.run("document.getElementById('video').value = 'no such'; document.querySelector('#ask button').click()")
    page.wait("document.getElementById('status').textContent.startsWith(\"no video 'no such'\")")


def test_hostile_queries_and_captions_are_text(page, address):
    visit(page, address)
    page.run(f"document.getElementById('query').value = {HOSTILE!r}; document.querySelector('#ask button').click()")
    page.wait(FOUND)
    assert page.run("window.caught") is None
    assert page.run("document.getElementById('status').textContent").count("<script>") == 1
    assert page.run("document.body.textContent.split('window.caught = true').length") > 4  # both captions are shown
    assert page.run("[...document.images].every((one) => one.getAttribute('src').startsWith('thumbnail'))")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_used_at_400_pixels(scheme, page, address):
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    visit(page, f"{address}?q=a+red+thing")
    page.wait(FOUND)
    assert page.run("document.documentElement.scrollWidth") <= 400
    paper = page.run("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(23, 24, 26)")
    page.wait("[...document.querySelectorAll('.strip')[0].children].every((one) => one.complete)")
    page.screenshot(f"search-400-{scheme}", width=400, height=800)
    page.screenshot(f"search-1200-{scheme}")
