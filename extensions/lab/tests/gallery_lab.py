"""One of each page of the lab (see tests/gallery.py)."""

from pathlib import Path

from media import counted, write_video
from small_review import build_pages

from verified.people.pages import Page, write_pages
from verified_lab.pages import PREFERENCE

NAMES = ("choice", "review")
FINE = ("one large red ball with dark dots moves to the left", "a person opens the fridge slowly", "two stars touch",
        "someone washes a cup")  # fmt: skip


def build(folder: Path) -> dict[str, Path]:
    """Pages of a review and of a choice between captions."""
    clip = write_video(folder / "choice.mp4", counted(16), 8).read_bytes()
    pairs = [{"question": n, "first": FINE[n], "second": FINE[n + 1]} for n in range(3)]
    choice = {"preference": "0123", "participant": 1, "questions": pairs}
    clips = {f"clip-{n}": clip for n in range(3)}
    write_pages(folder, PREFERENCE, [Page("choice.html", "Choice", {"preference": choice}, clips)])
    return {"choice": folder / "choice.html", "review": build_pages(folder / "review") / "page-001.html"}
