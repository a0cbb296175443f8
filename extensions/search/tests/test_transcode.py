"""Videos that no browser plays: their spans are converted, played, and given up when nobody wants them any more."""

import io
import socket
import time
import urllib.request
from pathlib import Path

import av
import numpy as np
import pytest
from media import counted, number_of, write_video
from search_walk import served
from small_index import random_videos, write_corpus
from starlette.testclient import TestClient

from verified.io.jsonl import write_jsonl
from verified.io.video import probe
from verified_search.serve import application
from verified_search.update import update

pytestmark = pytest.mark.slow

FORMS = {"v0000": ("avi", "mpeg4", {}), "v0001": ("mpg", "mpeg2video", {}), "v0002": ("mp4", "libx265", {})}
SECONDS, FPS = 8, 25


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A folder with an AVI, an MPEG and an HEVC video of eight seconds, and their index in `index`."""
    folder = tmp_path_factory.mktemp("odd")
    videos = {video: np.resize(clips, (SECONDS, clips.shape[1])) for video, clips in random_videos(3).items()}
    files, settings = write_corpus(folder, videos, thumbnails=3)
    rows = []
    for video, (ending, codec, options) in FORMS.items():
        images = counted(FPS * SECONDS, (96, 128))
        path = write_video(folder / f"{video}.{ending}", images, FPS, codec=codec, options=options)
        rows.append({"video": video, "path": str(path), **probe(path)})
    write_jsonl(folder / "videos.jsonl", rows)
    update(folder / "index", files, settings)
    return folder


@pytest.fixture
def client(corpus):
    return TestClient(application(corpus / "index"), base_url="http://127.0.0.1:8017")


@pytest.mark.parametrize("video", FORMS)
def test_a_span_comes_as_h264_with_its_own_frames(video, client):
    answer = client.get("/span", params={"video": video, "start": 2.0, "end": 3.0})
    assert answer.status_code == 200 and answer.headers["content-type"] == "video/mp4"
    with av.open(io.BytesIO(answer.content)) as file:
        assert file.streams.video[0].codec_context.name == "h264" and not file.streams.audio
        frames = [number_of(frame.to_ndarray(format="rgb24")) for frame in file.decode(video=0)]
    assert len(frames) == pytest.approx(FPS, abs=1)
    assert frames[0] == pytest.approx(2 * FPS % 80, abs=2) and frames[-1] == pytest.approx((3 * FPS - 1) % 80, abs=2)


def wait_for_answer(address: str) -> None:
    """Return when the server takes connections; it says its address before."""
    for _ in range(200):
        try:
            return urllib.request.urlopen(f"{address}search.css").close()
        except OSError:
            time.sleep(0.1)


def _children(folder: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "verified_search.transcode" in line and folder in line:
            found.append(line)
    return found


def test_who_goes_away_takes_the_process_along(corpus):
    with served(corpus / "index") as address:
        host, port = address.removeprefix("http://").rstrip("/").split(":")
        wait_for_answer(address)
        with socket.create_connection((host, int(port))) as visitor:
            visitor.sendall(f"GET /span?video=v0002&start=0&end=7.9 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            until = time.monotonic() + 20
            while not (running := _children(str(corpus))) and time.monotonic() < until:
                time.sleep(0.01)
            assert len(running) == 1
        until = time.monotonic() + 20
        while _children(str(corpus)) and time.monotonic() < until:
            time.sleep(0.05)
        assert not _children(str(corpus))
