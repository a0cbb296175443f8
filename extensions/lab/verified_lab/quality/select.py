"""Select the moments whose measures keep the limits of the configuration."""

import itertools
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from verified.io.jsonl import iterate_jsonl, read_jsonl, write_jsonl
from verified_lab.config import Quality
from verified_lab.quality.repeats import repeated

log = logging.getLogger("verified")

LIMITS: tuple[tuple[str, str, str], ...] = (
    ("black", "black", "max_black"),
    ("blurred", "sharpness", "min_sharpness"),
    ("still", "motion", "min_motion"),
    ("text-overlay", "text", "max_text"),
    ("near-duplicate", "alike", "max_alike"),
    ("quiet", "loudness", "min_loudness"),
    ("little-speech", "speech", "min_speech"),
    ("much-speech", "speech", "max_speech"),
)
"""Reason of an exclusion, measure, limit."""


def judge(
    measured: Iterable[dict],
    transcripts: Mapping[str, dict],
    quality: Quality,
    repeats: Mapping[int, tuple[int, float]] | None = None,
) -> Iterator[dict[str, Any]]:
    """The rows of `measured` with alike, speech, said, and the reason and detail of those omitted; else None.

    `transcripts` are rows by video, `repeats` those of `repeats.repeated` in the whole data set. A moment without a
    measure is omitted if the limit is a minimum of its sound or speech, and remains otherwise: a single frame has no
    motion.
    """
    for row in measured:
        transcript = transcripts.get(row["video"], {})
        repeats_of, alike = (repeats or {}).get(row["desc_id"], (None, None))
        segments, span = transcript.get("segments"), (row["start"], row["end"])
        row = {
            **row,
            "alike": alike,
            "repeats": repeats_of,
            "speech": None if segments is None else spoken_share(segments, *span),
            "said": "" if segments is None else said_within(segments, *span),
        }
        yield {**row, **refusal(row, quality)}


def refusal(row: dict, quality: Quality) -> dict[str, str | None]:
    """`reason` and `detail` of a row of the table that does not keep the limits; both None for one that does."""
    for reason, measure, name in LIMITS:
        limit, value = getattr(quality, name), row.get(measure)
        if limit is None:
            continue
        least = name.startswith("min_")
        if value is None and least and measure in ("loudness", "speech"):
            measurement = "no sound" if measure == "loudness" else "no transcript"
            return {"reason": reason, "detail": f"{measurement}, and {name} is {limit:g}"}
        if value is not None and (value < limit if least else value > limit):
            measurement = f"{measure} {value:g}" + (f" to moment {row['repeats']}" if measure == "alike" else "")
            return {"reason": reason, "detail": f"{measurement}, and {name} is {limit:g}"}
    return {"reason": None, "detail": None}


def judge_shard(
    measures: str, transcript_files: Iterable[str], measures_of_all: Iterable[str], quality: Quality, output: str
) -> None:
    """Write the table of a shard: a row for each moment as `judge` makes it. `measures_of_all` shards are read where
    `max_alike` is set."""
    spoken = {row["video"]: row for file in transcript_files for row in iterate_jsonl(file)}
    repeats = {}
    if quality.max_alike is not None:
        everything = itertools.chain.from_iterable(map(iterate_jsonl, measures_of_all))
        repeats = repeated(everything, quality.max_alike)
    rows = list(judge(iterate_jsonl(measures), spoken, quality, repeats))
    write_jsonl(output, rows)
    reasons = Counter(row["reason"] for row in rows if row["reason"])
    log.info(
        "%d of %d moments are annotated; left out: %s",
        len(rows) - reasons.total(),
        len(rows),
        ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()) or "none",
    )


def select_shard(files: Mapping[str, str], quality: Quality, output: Mapping[str, str]) -> None:
    """Select the moments of a shard (`moments`, `videos`, `probes`) to annotate, by its table `quality`.

    `output` gets the same three files with the moments that keep the limits, and in the probes a row for each moment,
    by which the corpus lists those that are omitted.
    """
    rows = read_jsonl(files["quality"])
    left_out = {row["desc_id"] for row in rows if row["reason"]}
    said = {row["desc_id"]: {"said": row["said"]} if quality.transcripts else {} for row in rows}
    moments = [
        {**moment, **said[moment["desc_id"]]}
        for moment in iterate_jsonl(files["moments"])
        if moment["desc_id"] not in left_out
    ]
    used = {moment["video"] for moment in moments}
    write_jsonl(output["moments"], moments)
    write_jsonl(output["videos"], (row for row in iterate_jsonl(files["videos"]) if row["video"] in used))
    noted = (
        {**{name: row[name] for name in ("video", "start", "end", "reason", "detail")}, **said[row["desc_id"]]}
        for row in rows
    )
    write_jsonl(output["probes"], (*read_jsonl(files["probes"]), *noted))


def spoken_share(segments: Iterable[Sequence[Any]], start: float, end: float) -> float:
    """Share of [start, end), in seconds, in which somebody speaks; segments may overlap."""
    total, reached = 0.0, start
    for first, last, _ in sorted(segments, key=lambda segment: (segment[0], segment[1])):
        first, last = max(first, reached), min(last, end)
        if first < last:
            total, reached = total + last - first, last
    return round(total / (end - start), 4)


LONGEST = 4000
"""Most characters of a moment's speech: three minutes. It is part of prompts; subtitles may be longer."""


def said_within(segments: Iterable[Sequence[Any]], start: float, end: float) -> str:
    """Speech in [start, end), in seconds: the texts whose middle is there, on one line, cut at `LONGEST`."""
    text = " ".join(text for first, last, text in segments if start <= (first + last) / 2 < end)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2].rsplit(' ', 1)[0]} …"
