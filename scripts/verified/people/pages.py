"""Self-contained pages for people: each includes its clips, works from a file and needs no network."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from verified.io.files import atomic_path
from verified.io.pages import data_url, page, write_page

FOLDER = Path(__file__).resolve().parent / "pages"
QUESTIONS = (FOLDER / "questions", FOLDER / "clip")
"""Parts of pages that ask about clips."""
STUDY = (*QUESTIONS, FOLDER / "study")
Parts = tuple[Path, ...]
"""The parts of a kind of page in addition to the common ones, by their paths without suffix."""


class Page(NamedTuple):
    """One page: `data` by the id of its element, `clips` (MP4) likewise."""

    file: str
    title: str
    data: Mapping[str, object]
    clips: Mapping[str, bytes]


def write_pages(folder: Path, kind: Parts, contents: Iterable[Page]) -> int:
    """Write pages of a kind into `folder`; returns their number."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for content in contents:
        clips = {name: f'"{data_url("video/mp4", clip)}"' for name, clip in content.clips.items()}
        with atomic_path(folder / content.file) as temporary:
            write_page(temporary, page([FOLDER / "people", *kind], content.title, {**content.data, **clips}))
        count += 1
    return count
