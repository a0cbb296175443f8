"""Questions across time in the report: a page of the questions, and one with all ReXTime tables.

A question is shown with its options, the spans of the named event and of its answer, and frames of its video, with
those in the spans marked.
"""

import html
from collections.abc import Iterable, Mapping
from pathlib import Path

from PIL import Image

from verified.io.files import atomic_path, write_text
from verified.io.pages import page, paragraphs, still_page, table, wide, write_page
from verified.io.video import VideoError, frames_of_spans
from verified.report.captions import EMBEDDED, thumbnail
from verified.tables.table import Table

QUESTIONS_PAGE = Path(__file__).resolve().parent / "pages" / "browser"
"""Body, style and script of the page, without their endings (see `io.pages`)."""
FRAMES = 8
"""Frames of a video, at the mid-points of equal parts."""


def shown_rows(questions: Iterable[Mapping]) -> list[dict]:
    """Rows of the page from rows of generated questions, in their order."""
    return [
        {
            **{key: row[key] for key in ("qid", "vid", "query", "answer", "duration", "kind", "direction", "split")},
            "options": row["options"],
            "ans": row["ans"],
            "window": row["relevant_windows"][0] if row["relevant_windows"] else None,
            "asked": row["question_windows"][0] if row["question_windows"] else None,
        }
        for row in questions
    ]


def frames_of(video: Mapping) -> list[list]:
    """``[time in seconds, data URL]`` of `FRAMES` frames of a row of videos.jsonl; empty for an unreadable one."""
    try:
        _, frames, times = next(iter(frames_of_spans(video["path"], [(0.0, video["duration"])], count=FRAMES)))
    except VideoError:
        return []
    return [[round(float(time), 3), thumbnail(Image.fromarray(frame))] for frame, time in zip(frames, times)]


def write_question_browser(
    target: Path, title: str, questions: Iterable[Mapping], videos: Mapping[str, Mapping]
) -> None:
    """Write the page. Videos get frames in the order of their first question, until these have `EMBEDDED` characters;
    the page states the number without any.
    """
    rows = shown_rows(questions)
    frames: dict[str, list[list]] = {}
    names, size = list(dict.fromkeys(row["vid"] for row in rows)), 0
    for name in names:
        if size <= EMBEDDED and name in videos and (taken := frames_of(videos[name])):
            frames[name] = taken
            size += sum(len(url) for _, url in taken)
    untimed = sum(row["window"] is None for row in rows)
    about = (
        f"{len(rows)} questions about {len(names)} videos, {len(names) - len(frames)} of them without frames here; "
        f"{untimed} questions wait for people to mark their answers."
    )
    with atomic_path(target) as temporary:
        index = {"title": title, "about": about, "questions": rows, "frames": frames}
        write_page(temporary, page([QUESTIONS_PAGE], title, {"index": index}))


def write_tables_page(target: Path, title: str, tables: Iterable[Table]) -> None:
    """Write one page with all ReXTime tables, each with its notes."""
    parts = [f"<h1>{html.escape(title)}</h1>"]
    for shown in tables:
        heading = f"<h2>{html.escape(f'{shown.key}: {shown.title}')}</h2>\n"
        below = f'<div class="below">{paragraphs(shown.notes)}</div>'
        parts.append(f"<section>{heading}{wide(table(shown.header, shown.texts()), shown.title)}{below}</section>")
    write_text(target, still_page(title, "\n".join(parts), "section { margin: 1.6rem 0; }"))
