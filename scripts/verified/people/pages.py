"""Self-contained pages for people: each with its clips, which works from a file and needs no network."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from verified.io.files import atomic_path
from verified.report import pages

FOLDER = Path(__file__).resolve().parent / "pages"
PARTS = {"study": ("people", "questions"), "rextime": ("people", "questions"), "review": ("people",)}
"""Kinds of pages, and what the style and script of each begin with."""


class Page(NamedTuple):
    """One page: `data` by the id of its element, `clips` (MP4) likewise."""

    file: str
    title: str
    data: Mapping[str, object]
    clips: Mapping[str, bytes]


def page_digest(kind: str) -> str:
    """Digest of the files of pages of a kind, for rules: they are not Python modules."""
    return pages.page_digest(*(FOLDER / stem for stem in (*PARTS[kind], kind)))


def write_pages(folder: Path, kind: str, contents: Iterable[Page]) -> int:
    """Write pages of a kind (see PARTS) into `folder`; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    shared = [FOLDER / stem for stem in PARTS[kind]]
    count = 0
    for content in contents:
        clips = {name: f'"{pages.data_url("video/mp4", clip)}"' for name, clip in content.clips.items()}
        with atomic_path(folder / content.file) as temporary:
            text = pages.page(FOLDER / kind, content.title, {**content.data, **clips}, shared=shared)
            pages.write_page(temporary, text)
        count += 1
    return count
