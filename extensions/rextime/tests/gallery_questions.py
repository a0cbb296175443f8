"""The page of questions, small (see tests/gallery.py)."""

from pathlib import Path

from media import counted, write_video

from verified.people.pages import Page, write_pages
from verified_rextime.people import PAGE

NAMES = ("mark",)


def marking(folder: Path) -> Path:
    clip = write_video(folder / "clip.mp4", counted(16), 8).read_bytes()
    item = {
        "clip": 0,
        "kind": "sequential",
        "video": "seen",
        "duration": 2.0,
        "query": "What <b>grows</b>?",
        "answer": "It grows.",
    }
    items = [{"item": n, "qid": f"q/{n}", **item} for n in range(3)]
    task = {"task": "0123", "tool": "verify", "annotator": 1, "title": "Kitchen", "items": items}
    write_pages(folder, PAGE, [Page("mark.html", "Mark", {"task": task}, {"video-0": clip})])
    return folder / "mark.html"


def build(folder: Path) -> dict[str, Path]:
    return {"mark": marking(folder)}
