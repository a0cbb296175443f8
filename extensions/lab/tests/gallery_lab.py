"""The page of a review (see tests/gallery.py)."""

from pathlib import Path

from small_review import build_pages

NAMES = ("review",)


def build(folder: Path) -> dict[str, Path]:
    return {"review": build_pages(folder / "review") / "page-001.html"}
