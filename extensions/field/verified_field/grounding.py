"""A video LMM after a first stage: it locates the query in its best videos, or grades its best moments.

Any model with a submission can be the first stage. The grounder sees the first K videos of each query and answers with
times and a confidence; its moments come first, by confidence, and the first stage's rows after them. In the list of
videos, one that does not show the query sinks below those without an answer. The re-ranker sees the first N moments of
each query as clips and grades them; they come first, by grade, ungraded ones last of them. Ties have the first stage's
order. For SVMR the true video is given, so the grounder sees it as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verified.benchmark.lists import NO_VIDEO, Lists
from verified.benchmark.vcmr.data import Moments
from verified.benchmark.vcmr.metrics import DEPTH, TASKS
from verified.benchmark.vcmr.submission import read_submission
from verified.captions.clips import Clips, uniform
from verified.errors import InputError
from verified.lmm.client import Call
from verified.lmm.request import Outcome
from verified.lmm.session import Session
from verified.lmm.tasks import Task
from verified_field.config import Grounder, Reranker
from verified_field.tasks import GRADE, GROUND, moments_of

LOWEST = float("-inf")
NOT_SHOWN, NO_ANSWER = -1.0, -0.5
"""Confidence of the grounder in a video without the moment, and without an answer."""


@dataclass(frozen=True)
class Pair:
    """A query and a part of a video that the LMM is shown; positions in `Moments` and its videos, times in seconds."""

    query: int
    video: int
    start: float
    end: float


def read_first_stage(path: str, moments: Moments) -> dict[str, Lists]:
    """The lists of a submission by task, queries and videos numbered as in `moments`; rows of other videos omitted.

    Raises InputError where a task is missing, or a query of `moments`.
    """
    submission = read_submission(path)
    names = {number: video for video, number in submission.video_index.items()}
    position = {video: place for place, video in enumerate(moments.videos)}
    lists = {}
    for task in TASKS:
        answered = submission.tasks.get(task, {})
        missing = [desc_id for desc_id in moments.desc_id.tolist() if desc_id not in answered]
        if missing:
            raise InputError(f"has no {task} list of query {missing[0]}", file=path)
        rows = []
        for desc_id in moments.desc_id.tolist():
            table = answered[desc_id].copy()
            numbers = [position.get(names.get(int(video), ""), NO_VIDEO) for video in table[:, 0]]
            table[:, 0] = numbers
            rows.append(table[table[:, 0] != NO_VIDEO][:DEPTH])
        lists[task] = Lists.pad(rows)
    return lists


def pairs_to_ground(
    first: Mapping[str, Lists], moments: Moments, durations: Sequence[float], videos: int
) -> list[Pair]:
    """Each query with its first `videos` videos and the true one, whole; those of one video are adjacent."""
    pairs = set()
    for query, own in enumerate(moments.video.tolist()):
        best = first["VR"].video[query]
        pairs |= {(video, query) for video in {own, *best[best != NO_VIDEO][:videos].tolist()}}
    return [Pair(query, video, 0.0, durations[video]) for video, query in sorted(pairs)]


def pairs_to_grade(first: Mapping[str, Lists], durations: Sequence[float], count: int) -> list[Pair]:
    """Each query with its first `count` moments of all videos, and of the true one; ordered by ends in a video."""
    pairs = set()
    for task in ("VCMR", "SVMR"):
        lists = first[task].top(count)
        for query, row in zip(*np.nonzero(lists.video != NO_VIDEO)):
            video = int(lists.video[query, row])
            end = min(float(lists.end[query, row]), durations[video])
            start = min(float(lists.start[query, row]), end)
            if end > start:
                pairs.add((video, round(end, 2), round(start, 2), int(query)))
    return [Pair(query, video, start, end) for video, end, start, query in sorted(pairs)]


def pair_calls(
    task: Task,
    pairs: Sequence[Pair],
    moments: Moments,
    videos: Mapping[str, dict],
    frames: int,
    session: Session,
) -> list[Call]:
    """The call of each pair; `videos` are rows of videos.jsonl by id."""
    spans = [{"video": moments.videos[pair.video], "start": pair.start, "end": pair.end} for pair in pairs]

    def make(position: int, digest: str, load) -> Call:
        pair = pairs[position]
        slots = {"caption": moments.caption[pair.query], "duration": f"{pair.end - pair.start:g}"}
        slots["frame_number"] = str(frames)
        return session.call(task, slots, media=(digest,), load=load)

    form = getattr(session.settings, task.role).video_input
    return Clips(spans, videos, uniform(frames), session.settings.frame_side).calls(form, session.has_answer, make)


def ground(
    first: Mapping[str, Lists], moments: Moments, videos: Mapping[str, dict], settings: Grounder, session: Session
) -> tuple[dict[str, Lists], dict]:
    """Lists by task after grounding by the LMM, and its costs (see `costs`)."""
    durations = [float(videos[video]["duration"]) for video in moments.videos]
    pairs = pairs_to_ground(first, moments, durations, settings.videos)
    calls = pair_calls(GROUND, pairs, moments, videos, settings.frames, session)
    outcomes = session.ask(GROUND, calls, len(calls))
    spans_of: dict[tuple[int, int], list[tuple[float, float, float]] | None] = {}
    for pair, outcome in zip(pairs, outcomes):
        spans_of[pair.query, pair.video] = _spans(outcome, pair.end)
    lists: dict[str, list[np.ndarray]] = {task: [] for task in TASKS}
    for query, own in enumerate(moments.video.tolist()):
        before = {task: _rows(first[task], query) for task in TASKS}
        best = before["VR"][: settings.videos, 0].astype(int).tolist()
        spans = [
            (confidence, rank, video, start, end)
            for rank, video in enumerate(best)
            for start, end, confidence in spans_of[query, video] or ()
        ]
        spans.sort(key=lambda span: (-span[0], span[1]))
        mine = sorted(spans_of[query, own] or (), key=lambda span: -span[2])
        lists["VCMR"].append(_ranked([(video, start, end) for _, _, video, start, end in spans], before["VCMR"]))
        lists["SVMR"].append(_ranked([(own, start, end) for start, end, _ in mine], before["SVMR"]))
        sure = {video: _confidence(spans_of[query, video]) for video in best}
        order = sorted(best, key=lambda video: -sure[video])  # stable: equals keep their order
        lists["VR"].append(_ranked([(video, 0.0, 0.0) for video in order], before["VR"][len(best) :]))
    return {task: Lists.pad(rows) for task, rows in lists.items()}, costs(outcomes, len(moments))


def rerank(
    first: Mapping[str, Lists], moments: Moments, videos: Mapping[str, dict], settings: Reranker, session: Session
) -> tuple[dict[str, Lists], dict]:
    """Lists by task after grading by the LMM, and its costs (see `costs`).

    A video scores as its best graded moment.
    """
    durations = [float(videos[video]["duration"]) for video in moments.videos]
    pairs = pairs_to_grade(first, durations, settings.moments)
    calls = pair_calls(GRADE, pairs, moments, videos, settings.frames, session)
    outcomes = session.ask(GRADE, calls, len(calls))
    grades = [float(outcome.parsed.sections.get("grade", LOWEST)) for outcome in outcomes]
    grade_by_place = {
        (pair.query, pair.video, pair.start, pair.end): grade for pair, grade in zip(pairs, grades, strict=True)
    }

    def grade_of(query: int, row: np.ndarray) -> float:
        video = int(row[0])
        end = min(float(row[2]), durations[video])
        place = query, video, round(min(float(row[1]), end), 2), round(end, 2)
        return grade_by_place.get(place, LOWEST)

    lists: dict[str, list[np.ndarray]] = {task: [] for task in TASKS}
    for query in range(len(moments)):
        for task in ("VCMR", "SVMR"):
            rows = _rows(first[task], query)
            graded = [(grade_of(query, row), row) for row in rows[: settings.moments]]
            graded.sort(key=lambda pair: -pair[0])
            lists[task].append(_ranked([(int(r[0]), r[1], r[2]) for _, r in graded], rows[settings.moments :]))
        best: dict[int, float] = {}
        for row in _rows(first["VCMR"], query)[: settings.moments]:
            video = int(row[0])
            best[video] = max(best.get(video, LOWEST), grade_of(query, row))
        rows = _rows(first["VR"], query)
        graded_rows = [row for row in rows if int(row[0]) in best]
        graded_rows.sort(key=lambda row: -best[int(row[0])])
        others = np.array([row for row in rows if int(row[0]) not in best]).reshape(-1, 4)
        lists["VR"].append(_ranked([(int(row[0]), 0.0, 0.0) for row in graded_rows], others))
    return {task: Lists.pad(rows) for task, rows in lists.items()}, costs(outcomes, len(moments))


def costs(outcomes: Sequence[Outcome], queries: int) -> dict:
    """Average cost of a query: calls, tokens, money at the configured prices; calls without an answer in all.

    Equal calls count once, with all of their attempts, whether new or found in the ledger.
    """
    once = {outcome.key: outcome for outcome in outcomes}.values()
    each = {
        "calls": sum(outcome.attempts for outcome in once),
        "tokens_in": sum(outcome.tokens_in for outcome in once),
        "tokens_out": sum(outcome.tokens_out for outcome in once),
        "money": sum(outcome.cost for outcome in once),
    }
    failed = sum(outcome.status != "ok" for outcome in once)
    return {"per_query": {name: amount / queries for name, amount in each.items()}, "without_answer": failed}


def _spans(outcome: Outcome, duration: float) -> list[tuple[float, float, float]] | None:
    """(start, end, confidence) within the video; None if there is no answer."""
    text = outcome.parsed.sections.get("moments") if outcome.status == "ok" else None
    if text is None:
        return None
    clamped = [(min(start, duration), min(end, duration), sure) for start, end, sure in moments_of(text)]
    return [span for span in clamped if span[0] < span[1]]


def _confidence(spans: list[tuple[float, float, float]] | None) -> float:
    if spans is None:
        return NO_ANSWER
    return max((confidence for _, _, confidence in spans), default=NOT_SHOWN)


def _rows(lists: Lists, query: int) -> np.ndarray:
    """The rows of a list [rows, 4] without pads."""
    table = np.column_stack([column[query] for column in vars(lists).values()])
    return table[lists.video[query] != NO_VIDEO]


def _ranked(leading: Sequence[tuple[int, float, float]], rest: np.ndarray) -> np.ndarray:
    """A list [at most 100, 4] of `leading` rows (video, start, end), then of `rest`; scores fall from 1 by rank."""
    rows = np.array([[*row] for row in leading], dtype=np.float64).reshape(-1, 3)
    rows = np.concatenate([rows, rest[:, :3]])[:DEPTH]
    return np.column_stack([rows, 1 - np.arange(len(rows)) / max(len(rows), 1)])
