"""Pictures of the search page on the clips of `make real`; see tests/pictures.py."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from browser import Browser
from pictures import LOADED
from PIL import Image
from search_walk import ask, served

from verified_search.folder import index_videos

WIDTH, HEIGHT = 900, 620


def take(chromium: Browser, results: Path) -> Iterator[tuple[str, Image.Image]]:
    chromium.scheme("light")
    chromium.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
    with tempfile.TemporaryDirectory() as folder:
        index_videos(Path("resources/real/videos"), Path(folder, "clips.index"), "packaged")
        for name, index, query in (
            ("search-real-clips", results / "real" / "search" / "joint", "a rabbit stretches"),
            ("search-folder", Path(folder, "clips.index"), "a man in a car"),
        ):
            with served(index.resolve(), Path()) as address:
                ask(chromium, address, query)
                chromium.wait(LOADED)
                yield name, Image.open(chromium.screenshot(name, WIDTH, HEIGHT)).convert("RGB")
