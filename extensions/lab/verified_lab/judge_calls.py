"""Calls of the judge of captions that a run would make, for a quote."""

from collections.abc import Sequence
from pathlib import Path

from verified.config import Config
from verified.io.jsonl import iterate_jsonl
from verified.layout import Layout
from verified.lmm.client import Call
from verified.lmm.session import Session
from verified.lmm.tasks import words
from verified.lmm.tasks.retrieval import GRADE
from verified.stage import CAPTION_TOKENS
from verified_lab.config import MetaEvaluation
from verified_lab.meta_evaluation.judgements import review
from verified_lab.meta_evaluation.of_run import by_review, drawn, grade_calls, undecided


def judge_calls(
    name: str, config: Config, shards: Sequence[tuple[list[dict], dict[str, dict]]], session: Session
) -> list[Call]:
    """The calls that `judge_captions` makes of a data set; exact once candidates have scores.

    Otherwise the configuration's maximum: all candidates of the moments drawn, or the captions reviewed.
    """
    section = config.section(MetaEvaluation)
    files = [Path(file) for file in Layout(config).shards(Layout.scores, name)]
    moments = {row["desc_id"]: row for rows, _ in shards for row in rows}
    videos = {video: row for _, found in shards for video, row in found.items()}
    known = config.datasets[name].source.has_truth
    if all(file.is_file() for file in files):
        scores = [row for file in files for row in iterate_jsonl(file) if row["desc_id"] in moments]
        if known:
            judged = undecided(drawn(scores, section.moments, config.seed), moments)
        else:
            judged = by_review(scores, moments, review(config.annotations.review))
        return grade_calls([one for one in judged if one.video in videos], videos, section.frames, session)[1]
    if known:
        count = 2 * config.generation.candidates * min(section.moments, len(moments))
    else:
        count = len(review(config.annotations.review))
    slots = {"duration": "10", "frame_number": str(section.frames)}
    return [
        session.call(
            GRADE, {"caption": words(CAPTION_TOKENS, f"{number:016x}"), **slots}, media=(f"unknown: judge, {number}",)
        )
        for number in range(count)
    ]
