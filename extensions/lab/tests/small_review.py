"""Six moments of one video with two candidates each, whose captions try to be markup, and their review pages."""

from pathlib import Path

import numpy as np
from candidate_rows import moment_row, score_row

from verified.annotations.selection import candidates_by_moment
from verified.config.annotations import Lint
from verified.config.trust import NOT_TRUSTED
from verified.demo.source import write_video
from verified.people.pages import write_pages
from verified_lab.pages import REVIEW
from verified_lab.review.decisions import VERSION, content_id
from verified_lab.review.pages import pages, queue, text_rules

COUNT = 6
MOMENTS = [
    moment_row(n, video="<v>", start=n / 4, end=n / 4 + 1, duration=4.0, caption=f"<i>coarse</i> {n}")
    for n in range(1, COUNT + 1)
]
SCORES = [
    score_row(n, kind, score=sign * n / 2, caption=f"<b>{kind}</b> of {n}", lineage=f"{kind}{n}")
    for n in range(1, COUNT + 1)
    for kind, sign in (("statics", -1), ("dynamics", 1))
]
GROUPS = candidates_by_moment(MOMENTS, SCORES)


def decision_row(moment: dict, judged: dict, what: str, **more: object) -> dict:
    """A decision on the candidate `judged` of a moment, as pages write it."""
    shown = {key: moment[key] for key in ("desc_id", "video", "start", "end")}
    shown["moment"] = content_id(moment["video"], moment["start"], moment["end"], moment["caption"])
    shown |= {key: judged[key] for key in ("type", "candidate", "caption")}
    row = {"version": VERSION, "dataset": "kitchen", **shown, "decision": what, "reviewer": "Ann"}
    return {**row, "when": "2026-01-01T00:00:00Z", **more}


def noise(folder: Path) -> list[dict]:
    """Write the video of the moments, four seconds of noise; its row."""
    frames = np.random.default_rng(0).integers(0, 255, (32, 48, 64, 3), dtype=np.uint8)
    write_video(folder / "v.mp4", frames, 8)
    return [{"video": "<v>", "path": str(folder / "v.mp4")}]


def build_pages(folder: Path, moments: int = 5) -> Path:
    """The folder of the review pages, with so many moments each."""
    shown = queue(MOMENTS, GROUPS, "doubt")
    made = pages("kitchen", "Kitchen", shown, noise(folder), moments, 64, NOT_TRUSTED, 0.5, text_rules(Lint()))
    write_pages(folder / "pages", REVIEW, made)
    return folder / "pages"
