"""One of each page of questions, small (see tests/gallery.py)."""

from pathlib import Path

from media import counted, write_video

from verified.io.video import probe
from verified.people.pages import Page, write_pages
from verified.tables.table import Estimate, Table
from verified_rextime.browser import write_question_browser, write_tables_page
from verified_rextime.people import PAGE

NAMES = ("questions", "mark", "tables")


def questions(folder: Path) -> Path:
    """The browser of questions across time."""
    path = write_video(folder / "seen.mp4", counted(16), 8)
    rows = [
        {
            "qid": f"q/{n}",
            "vid": "seen",
            "query": "What happens after the <b>ball</b> has stopped?",
            "answer": "It grows.",
            "duration": 2.0,
            "kind": "sequential",
            "direction": "forward",
            "split": "test",
            "options": ["It turns.", "It grows.", "It falls.", "Nothing."],
            "ans": "B",
            "relevant_windows": [[1.0, 1.5]],
            "question_windows": [[0.1, 0.9]],
        }
        for n in range(3)
    ]
    videos = {"seen": {"video": "seen", "path": str(path), **probe(path)}}
    write_question_browser(folder / "questions.html", "Questions across time", rows, videos)
    return folder / "questions.html"


def marking(folder: Path) -> Path:
    """The page on which people mark spans."""
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


def tables(folder: Path) -> Path:
    """The page of the tables."""
    rows = [["a model", Estimate(20.5, 18.0, 23.0)], ["another <b>model</b>", 3.0]]
    shown = Table("models", "who takes the test", ("By", "mIoU"), rows)
    write_tables_page(folder / "tables-page.html", "Tables", [shown])
    return folder / "tables-page.html"


def build(folder: Path) -> dict[str, Path]:
    """All of them by name."""
    return {"questions": questions(folder), "mark": marking(folder), "tables": tables(folder)}
