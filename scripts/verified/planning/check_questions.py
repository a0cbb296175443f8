"""Preflight checks of given questions: whether they can be read and asked, and questions without a video."""

from collections.abc import Iterator
from pathlib import Path

from verified.benchmark.rextime import paths
from verified.benchmark.rextime.answer import tasks_for, without_options
from verified.benchmark.rextime.prepare import asked_rows
from verified.benchmark.rextime.rows import read_questions
from verified.benchmark.rextime.sample import choose
from verified.benchmark.submissions import list_some
from verified.config import Config
from verified.corpus.video_folder import VideoFolder
from verified.errors import InputError
from verified.planning.findings import Finding


def question_findings(settings: Config, stuck: set[str]) -> Iterator[Finding]:
    """Questions that a video LMM would answer, for each file of given questions; `stuck` holds keys with another
    problem."""
    for name in paths.answered(settings):
        key, given = f"rextime.released.{name}", settings.rextime.released[name]
        if any(other.startswith(key) for other in stuck):
            continue
        try:
            rows = asked_rows(choose(read_questions(given.questions, given.scored), given, settings.seed))
            for protocol in paths.protocols(settings):
                tasks_for(protocol, rows)
        except InputError as error:
            yield Finding("problem", key, str(error), "correct the file, or what is asked of it")
            continue
        there = VideoFolder(Path(str(given.videos))).paths
        videos = {row["vid"] for row in rows}
        asked = "spans alone, as no question has options" if without_options(rows) else "letters too"
        counted = f"{len(rows)} questions in {len(videos)} videos, asked for {asked}"
        if missing := sorted(videos - set(there)):
            lost = sum(row["vid"] not in there for row in rows)
            message = f"{counted}; {lost} would be answered by nothing, as no video is there: {list_some(missing)}"
            level = "problem" if lost == len(rows) else "note"
            yield Finding(level, key, message, f"put the videos into {given.videos}, named by video id")
        else:
            yield Finding("ok", key, f"{counted}; each has its video")
