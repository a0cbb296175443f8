"""A video LMM as judge of captions."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from verified.captions.clips import span_calls
from verified.lmm.client import Call
from verified.lmm.request import Outcome
from verified.lmm.session import Session
from verified.lmm.tasks.retrieval import GRADE
from verified_lab.meta_evaluation.judgements import Judged, as_moments


def grade_calls(
    judged: Sequence[Judged], videos: Mapping[str, dict], frames: int, session: Session
) -> tuple[list[int], list[Call]]:
    """(places in `judged`, calls) of the captions with readable clips.

    The judge gets a number of uniform frames of the clip and grades how well they match the caption, like a re-ranker
    in retrieval. `session` knows the task `GRADE`; `videos` are rows of videos.jsonl by id.
    """
    moments, of_caption = as_moments(judged, videos)
    asked = [(number, moments[place]) for number, place in enumerate(of_caption) if place is not None]
    asked.sort(key=lambda one: (one[1]["video"], one[1]["end"]))

    def make(position: int, digest: str, load: Callable[[], dict]) -> Call:
        number, moment = asked[position]
        seconds = round(moment["end"] - moment["start"], 3)
        slots = {"caption": judged[number].caption, "duration": f"{seconds:g}", "frame_number": str(frames)}
        return session.call(GRADE, slots, media=(digest,), load=load)

    form, side = session.settings.video_lmm.video_input, session.settings.frame_side
    spans = [moment for _, moment in asked]
    return [number for number, _ in asked], span_calls(spans, videos, frames, side, form, session.known, make)


def judge_grades(
    judged: Sequence[Judged], videos: Mapping[str, dict], frames: int, session: Session
) -> tuple[np.ndarray, list[Outcome]]:
    """[captions] grade of a video LMM from 0 to 10, NaN without an answer, and the outcomes of its calls."""
    places, calls = grade_calls(judged, videos, frames, session)
    outcomes = session.ask(GRADE, calls, len(calls))
    grades = np.full(len(judged), np.nan)
    grades[places] = [float(outcome.parsed.sections.get("grade", "nan")) for outcome in outcomes]
    return grades, outcomes
