"""A first coarse caption for each scene of videos without moments."""

import re
from collections.abc import Iterable, Iterator, Mapping

from verified.captions.clips import Clips, by_video, clip_digest, frames_given
from verified.io.characters import plain
from verified.lmm.asking import Call
from verified.lmm.outcome import Parsed
from verified.lmm.parsing import cleaned, json_value, unfenced
from verified.lmm.refusal import refusal
from verified.lmm.session import Session
from verified.lmm.task_registry import Task, register

TASK = "corpus/coarse_caption"
MOST_FRAMES = 64


def parse_caption(slots: Mapping[str, str], text: str, count: int, cut: bool) -> Parsed:
    """The caption of an answer: its JSON value, or its first line; one that is refused as a caption is missing."""
    text = unfenced(text)
    value = json_value(text)
    if isinstance(value, dict):
        text_read, form = next((entry for entry in value.values() if isinstance(entry, str)), ""), "json"
    else:
        lines = [line for line in text.splitlines() if line.strip()]
        text_read, form = re.sub(r"^\s*(?:caption|sentence)\s*:\s*", "", lines[0], flags=re.I) if lines else "", "line"
        text_read = "" if cut and len(lines) < 2 else text_read
    caption = plain(cleaned(text_read))
    reason = refusal(caption, "")
    if reason:
        return Parsed(refused=({"caption": caption[:1000], "reason": reason},) if caption else (), missing=1, form=form)
    return Parsed(items=(caption,), positions=(0,), form=form)


def _schema(_count: int) -> dict:
    text = {"type": "string", "minLength": 1}
    return {"type": "object", "properties": {"caption": text}, "required": ["caption"], "additionalProperties": False}


register(
    {
        TASK: Task(
            ("duration", "frame_number"),
            "video_lmm",
            parse_caption,
            _schema,
            15,
            Parsed(items=("a person does something",), positions=(0,)),
        )
    }
)


def caption_scenes(videos: Iterable[dict], dynamics: Mapping, session: Session) -> list[dict]:
    """One row a scene: video, start, end, caption (None with a `reason` where there is none) and lineage.

    `videos` are rows of `scenes.detect_scenes`, `dynamics` the data set's settings for frames: fps or frames, and
    max_frames (null: MOST_FRAMES).
    """
    dynamics = {**dynamics, "max_frames": dynamics["max_frames"] or MOST_FRAMES}
    known = {row["video"]: row for row in videos if row["scenes"]}
    moments = [
        {"video": video, "start": start, "end": end} for video, row in known.items() for start, end in row["scenes"]
    ]
    moments = [moments[number] for number in by_video(moments)]
    calls: list[Call] = []
    clips = Clips(moments, known, dynamics, session.settings.frame_side, lambda n: not session.known(calls[n]))
    calls += _calls(moments, known, dynamics, session, clips)
    outcomes = session.ask(TASK, calls, len(calls))
    return [
        {
            **moment,
            "caption": outcome.parsed.items[0] if outcome.status == "ok" else None,
            "reason": None if outcome.status == "ok" else f"{outcome.status}: {outcome.reason}",
            "lineage": outcome.key,
        }
        for moment, outcome in zip(moments, outcomes)
    ]


def _calls(moments: list[dict], known: Mapping, dynamics: Mapping, session: Session, clips: Clips) -> Iterator[Call]:
    side, form = session.settings.frame_side, session.settings.video_lmm.video_input
    for position, moment in enumerate(moments):
        duration = moment["end"] - moment["start"]
        slots = {
            "duration": f"{duration:.2f}".rstrip("0").rstrip("."),
            "frame_number": str(frames_given(duration, dynamics)[0]),
        }
        digest = clip_digest(known[moment["video"]], moment["start"], moment["end"], dynamics, side, form)

        def load(position: int = position) -> dict:
            return clips.load(position)

        yield session.call(TASK, slots, media=(digest,), load=load)
