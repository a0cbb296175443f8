"""Moments proposed for videos without any: first captions of scenes, and a moments file for people to correct."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from verified.captions.clips import Clips, clip_digest, frames_given, order_by_video
from verified.corpus.splits import NO_COPIES, divide
from verified.io.text_tables import write_csv
from verified.lmm.client import Call
from verified.lmm.session import Session
from verified.lmm.tasks.coarse_caption import COARSE_CAPTION

MOST_FRAMES = 64
COLUMNS = ("video", "start", "end", "caption", "split")
"""Of the moments file."""


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
    moments = [moments[number] for number in order_by_video(moments)]
    calls: list[Call] = []
    clips = Clips(moments, known, dynamics, session.settings.frame_side, lambda n: not session.known(calls[n]))
    calls += _calls(moments, known, dynamics, session, clips)
    outcomes = session.ask(COARSE_CAPTION, calls, len(calls))
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

        yield session.call(COARSE_CAPTION, slots, media=(digest,), load=load)


def write_proposals(
    path: str | Path,
    rows: Iterable[dict],
    shares: Mapping,
    splits: Mapping,
    seed: int,
    copies: Mapping[str, str] = NO_COPIES,
) -> dict:
    """Write a moments file (CSV) of all scenes, in the order of videos and times; returns counts.

    All scenes of a video go into one split, by `splits.divide`, with those of its `copies`. A scene without a caption
    keeps its row with an empty one: a person may write it; until then the row is left out and counted. A caption that
    most scenes have tells of none of them, and is left out too (``same_caption``).
    """
    rows = sorted(rows, key=lambda row: (row["video"], row["start"]))
    repeated = caption_of_most([row["caption"] or "" for row in rows])
    same_caption = sum(row["caption"] == repeated for row in rows) if repeated else 0
    rows = [{**row, "caption": None} if repeated and row["caption"] == repeated else row for row in rows]
    names = (splits["train_split"], splits["selection_split"], splits["test_split"])
    divided = divide(rows, splits, {**shares, "seed": seed}, copies)
    cells = ([row["video"], row["start"], row["end"], row["caption"] or "", row["split"]] for row in divided)
    write_csv(path, [COLUMNS, *cells])
    return {
        "videos": len({row["video"] for row in rows}),
        "moments": len(rows),
        "without_caption": sum(not row["caption"] for row in rows),
        "same_caption": same_caption,
        "splits": {name: sum(row["split"] == name for row in divided) for name in dict.fromkeys(names)},
    }


def caption_of_most(captions: Iterable[str]) -> str | None:
    """The caption that more than half of the captions, and at least five of them, are; None where there is none."""
    counts = Counter(caption for caption in captions if caption)
    caption, count = next(iter(counts.most_common(1)), ("", 0))
    return caption if count >= 5 and 2 * count > counts.total() else None
