"""Judged captions of a run: candidates of the demo with its truth, and candidates with review decisions; a video LMM as
judge.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from verified.captions.clips import span_calls
from verified.demo.caption_facts import agreement, caption_facts
from verified.io.jsonl import finite
from verified.lmm.client import Call
from verified.lmm.session import Session
from verified.lmm.tasks.retrieval import GRADE
from verified.runtime.seeds import generator
from verified_lab.meta_evaluation.judgements import AGREEMENT, JUDGE, Judged, as_moments

TRUTH = "truth"
READINGS = {"evaluator": "score", "evaluator's cosine": "similarity"}
"""Metrics whose scores a run already has, and their keys in the rows of scores."""


def drawn(scores: Iterable[dict], moments: int, seed: int) -> list[dict]:
    """Draw the scored candidates of a number of moments; of equal captions of a moment the first."""
    by_moment: dict[int, dict[str, dict]] = {}
    for row in scores:
        by_moment.setdefault(row["desc_id"], {}).setdefault(row["caption"], row)
    order = generator(seed, "meta-evaluation").permutation(len(by_moment))[:moments]
    names = sorted(by_moment)
    return [row for place in sorted(order.tolist()) for row in by_moment[names[place]].values()]


def by_truth(
    rows: Iterable[dict], moments: Mapping[int, dict], truth: Iterable[dict], corrupted: Iterable[dict]
) -> list[Judged]:
    """Candidates graded by the share of their true statements; those corrupted on purpose are wrong.

    `rows` of scores, `moments` by desc_id, `truth` rows of corpus/truth.jsonl. A caption without statements is dropped.
    """
    facts = {event["desc_id"]: event["facts"] for video in truth for event in video["events"]}
    wrong = {(row["desc_id"], row["type"], row["candidate"]) for row in corrupted}
    found = []
    for row in rows:
        verdicts = agreement(caption_facts(row["caption"]), facts[row["desc_id"]])
        if verdicts:
            grade = sum(verdicts.values()) / len(verdicts)
            right = (row["desc_id"], row["type"], row["candidate"]) not in wrong
            found.append(_judged(row, moments[row["desc_id"]], ((TRUTH, grade),), right))
    return found


def undecided(rows: Iterable[dict], moments: Mapping[int, dict]) -> list[Judged]:
    """The same candidates, without any judgement."""
    return [_judged(row, moments[row["desc_id"]], (), None) for row in rows]


def by_review(rows: Iterable[dict], moments: Mapping[int, dict], reviewed: Sequence[Judged]) -> list[Judged]:
    """The reviewed captions that are still candidates of the run."""
    decided = {(one.desc_id, one.group, one.caption): one for one in reviewed}
    found = []
    for row in rows:
        one = decided.get((row["desc_id"], row["type"], row["caption"]))
        if one is not None and row["video"] == one.video:
            found.append(_judged(row, moments[row["desc_id"]], one.grades, one.right))
    return found


def _judged(row: dict, moment: dict, grades: tuple[tuple[str, float], ...], right: bool | None) -> Judged:
    return Judged(
        row["video"],
        row["caption"],
        grades,
        right,
        (moment["start"], moment["end"]),
        row["type"],
        (moment["caption"],),
        row["desc_id"],
    )


def judged_rows(judged: Sequence[Judged], scores: Iterable[dict], grades: np.ndarray) -> list[dict]:
    """Convert to rows for `judgements.plain`, one per person, with ``candidate`` and ``scores`` by metric.

    A missing score is null. `grades` [captions] are the judge's.
    """
    of_candidate = {(row["desc_id"], row["type"], row["caption"]): row for row in scores}
    rows = []
    for one, grade_of_judge in zip(judged, grades.tolist()):
        row = of_candidate[one.desc_id, one.group, one.caption]
        readings = {metric: row[key] for metric, key in READINGS.items()} | {JUDGE: grade_of_judge}
        for who, grade in one.grades:
            rows.append(
                {
                    "video": one.video,
                    **({"start": one.span[0], "end": one.span[1]} if one.span else {}),
                    "desc_id": one.desc_id,
                    "group": one.group,
                    "candidate": row["candidate"],
                    "caption": one.caption,
                    "references": list(one.references),
                    "person": who,
                    "grade": round(grade, 6),
                    "right": one.right,
                    "scores": {metric: value if finite(value) else None for metric, value in readings.items()},
                }
            )
    return rows


def stored_scores(rows: Iterable[dict], judged: Sequence[Judged], agreements: Iterable[dict]) -> dict[str, np.ndarray]:
    """[captions] by metric: the scores of `judged_rows`, and those of annotations/agreement.jsonl; NaN for a missing
    score.
    """
    of_caption = {(row["desc_id"], row["group"], row["caption"]): row for row in rows}
    agreed = {(row["desc_id"], row["type"], row["candidate"]): row["agreement"] for row in agreements}
    members = [of_caption[one.desc_id, one.group, one.caption] for one in judged]
    found = {
        metric: np.array([np.nan if row["scores"][metric] is None else row["scores"][metric] for row in members])
        for metric in (*READINGS, JUDGE)
    }
    agreement_of = [agreed.get((row["desc_id"], row["group"], row["candidate"]), np.nan) for row in members]
    return {**found, AGREEMENT: np.array(agreement_of)}


def grade_calls(
    judged: Sequence[Judged], videos: Mapping[str, dict], frames: int, session: Session
) -> tuple[list[int], list[Call]]:
    """(places in `judged`, calls) of the captions with readable clips.

    The judge gets a number of uniform frames of the clip and grades how well they match the caption, like a re-ranker
    in retrieval. `session` knows the task `GRADE`; `videos` are rows of videos.jsonl by id.
    """
    moments, of_caption = as_moments(judged, videos)
    numbered = [(number, moments[place]) for number, place in enumerate(of_caption) if place is not None]
    numbered.sort(key=lambda one: (one[1]["video"], one[1]["end"]))

    def make(position: int, digest: str, load: Callable[[], dict]) -> Call:
        number, moment = numbered[position]
        seconds = round(moment["end"] - moment["start"], 3)
        slots = {"caption": judged[number].caption, "duration": f"{seconds:g}", "frame_number": str(frames)}
        return session.call(GRADE, slots, media=(digest,), load=load)

    form, side = session.settings.video_lmm.video_input, session.settings.frame_side
    spans = [moment for _, moment in numbered]
    return [number for number, _ in numbered], span_calls(spans, videos, frames, side, form, session.known, make)


def judge_grades(judged: Sequence[Judged], videos: Mapping[str, dict], frames: int, session: Session) -> np.ndarray:
    """[captions] grade of a video LMM from 0 to 10, NaN without an answer."""
    places, calls = grade_calls(judged, videos, frames, session)
    outcomes = session.ask(GRADE, calls, len(calls))
    grades = np.full(len(judged), np.nan)
    grades[places] = [float(outcome.parsed.sections.get("grade", "nan")) for outcome in outcomes]
    return grades
