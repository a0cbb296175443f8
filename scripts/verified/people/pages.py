"""Self-contained pages for people: each includes its clips, works from a file and needs no network."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from verified.io.files import atomic_path
from verified.io.pages import data_url, page, write_page
from verified.io.pages import page_digest as digest_of

FOLDER = Path(__file__).resolve().parent / "pages"
KINDS = {
    "study": ("questions", "clip", "study"),
    "preference": ("questions", "clip", "preference"),
    "review": ("review",),
}
"""Kinds of pages, and the parts of each besides the common ones."""
Kind = str | tuple[Path, ...]
"""One of KINDS, or such parts, by their paths without suffix."""


class Page(NamedTuple):
    """One page: `data` by the id of its element, `clips` (MP4) likewise."""

    file: str
    title: str
    data: Mapping[str, object]
    clips: Mapping[str, bytes]


def page_digest(kind: Kind) -> str:
    """Digest of the files of a kind of page, for rules: they are not Python modules."""
    return digest_of(*_stems(kind))


def _stems(kind: Kind) -> list[Path]:
    parts = (FOLDER / name for name in KINDS[kind]) if isinstance(kind, str) else kind
    return [FOLDER / "people", *parts]


def page_parts(kind: Kind, title: str, data: Mapping[str, object], served: bool = False) -> Iterator[str]:
    """The parts of one page of a kind, to be written or sent in order (see `io.pages.page`)."""
    return page(_stems(kind), title, data, served=served)


def write_pages(folder: Path, kind: Kind, contents: Iterable[Page]) -> int:
    """Write pages of a kind into `folder`; returns their number."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for content in contents:
        clips = {name: f'"{data_url("video/mp4", clip)}"' for name, clip in content.clips.items()}
        with atomic_path(folder / content.file) as temporary:
            write_page(temporary, page_parts(kind, content.title, {**content.data, **clips}))
        count += 1
    return count
