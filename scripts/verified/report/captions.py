"""The caption browser: every moment with its keyframes, its candidates and their scores.

The page has an index of all captions, which it searches and sorts. The cards of `PART` moments each are read when first
shown: from the page itself if they are small together, otherwise from scripts in a folder next to it (a page opened
from a disk may load scripts, but no other data).
"""

import html
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from verified.io.fig import TYPES
from verified.io.files import atomic_path, write_text
from verified.io.jsonl import finite
from verified.io.pages import clock, data_url, inert_json, page, thumb, write_page
from verified.keyframes.archive import KeyframeTar
from verified.report import CAPTIONS_PAGE

PART = 128
"""Moments whose cards are read at once."""
EMBEDDED = 24_000_000
"""Most characters of cards that are embedded in the page itself."""
SIDE = 160
"""Longest side of a keyframe on the page, in pixels."""
QUALITY = 80


class Candidate(NamedTuple):
    """A fine-grained caption of a moment."""

    type: str
    number: str
    """From 1; "" for a caption that is no candidate."""
    caption: str
    score: float | None


class Moment(NamedTuple):
    """A moment of the page. All times are in seconds."""

    id: int
    video: str
    start: float
    end: float
    duration: float
    """Duration of its video."""
    split: str
    coarse: str
    candidates: list[Candidate]
    chosen: int | None
    """Place of the chosen caption among the candidates."""
    notes: list[str]


class Thumbnails:
    """Small JPEGs of keyframes, read on demand from the archives of all shards."""

    def __init__(self, archives: Iterable[str | Path]):
        self._stills = KeyframeTar(*archives)

    def of(self, desc_id: int) -> list[tuple[float, str]]:
        """(time in seconds, data URL) of each keyframe of a moment."""
        if desc_id not in self._stills.rows:
            return []
        frames = self._stills.keyframes(desc_id)
        return [
            (frame["time"], thumbnail(Image.open(io.BytesIO(self._stills.image(frame["file"]))))) for frame in frames
        ]


def thumbnail(picture: Image.Image) -> str:
    """A small JPEG of a picture as a data URL; its longer side has at most `SIDE` pixels."""
    image = picture.convert("RGB")
    image.thumbnail((SIDE, SIDE))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=QUALITY, subsampling=0)
    return data_url("image/jpeg", out.getvalue())


def generated_rows(
    moments: list[dict], scores: Iterable[dict], captions: Iterable[dict], annotations: Iterable[dict]
) -> list[Moment]:
    """Moments that the workflow annotated, in the order of the corpus.

    `captions` are statics and dynamics rows, `scores` one row per candidate, `annotations` the chosen captions. One
    that is not a candidate (written by people, or the coarse one as a fallback) is listed below these.
    """
    score = {(row["desc_id"], row["type"], row["candidate"]): row["score"] for row in scores}
    captions_of = defaultdict(dict)
    for row in captions:
        captions_of[row["desc_id"]][row["type"]] = row
    annotation_of = {row["desc_id"]: row for row in annotations}
    rows = []
    for moment in moments:
        by_type = captions_of[moment["desc_id"]]
        candidates = [
            Candidate(kind, str(number + 1), entry["caption"], _number(score.get((moment["desc_id"], kind, number))))
            for kind in TYPES
            if kind in by_type
            for number, entry in enumerate(by_type[kind]["candidates"])
        ]
        chosen, notes = None, []
        for kind, row in by_type.items():
            counts = ((row["shortfall"], "missing"), (len(row["refused"]), "refused"))
            facts = [f"{count} {word}" for count, word in counts if count] + [row["reason"]] * bool(row["reason"])
            notes += [f"{kind}: {', '.join(facts)}"] if facts else []
        if row := annotation_of.get(moment["desc_id"]):
            selected = (row["fig_desc_type"], row["fig_desc"])
            places = [place for place, entry in enumerate(candidates) if (entry.type, entry.caption) == selected]
            chosen = places[0] if places else len(candidates)
            candidates += [] if places else [Candidate(row["fig_desc_type"], "", row["fig_desc"], None)]
            if "review" in row:
                notes.append(f"{row['review']['decision']} by {', '.join(row['review']['reviewers'])}")
        rows.append(_moment(moment, moment["caption"], candidates, chosen, notes))
    return rows


def released_rows(annotations: Iterable[dict]) -> list[Moment]:
    """Moments of published annotations: the one caption there is, and its score."""
    rows = []
    for row in annotations:
        start, end = row["time"]
        fine = []
        if "fig_desc" in row:
            fine = [Candidate(row.get("fig_desc_type", ""), "", row["fig_desc"], _number(row["fig_desc_score"]))]
        rows.append(_moment({**row, "start": start, "end": end}, row["cog_desc"], fine, 0 if fine else None, []))
    return rows


def _moment(row: Mapping, coarse: str, candidates: list[Candidate], chosen: int | None, notes: list[str]) -> Moment:
    identity = (row["desc_id"], row["video"], row["start"], row["end"], row["duration"], row["split"])
    return Moment(*identity, coarse, candidates, chosen, notes)


def _number(score: float | None) -> float | None:
    return score if finite(score) else None


def _lines(moment: Moment) -> list[tuple[str, str, str]]:
    """Class, remark and text of each line of a card: the coarse caption, and each candidate."""
    scores = {place: entry.score for place, entry in enumerate(moment.candidates) if entry.score is not None}
    lowest = min(reversed(scores), key=lambda place: scores[place]) if len(scores) > 1 else None
    lines = [("", "coarse", moment.coarse)]
    for place, entry in enumerate(moment.candidates):
        role = "✓ chosen" if place == moment.chosen else "lowest" if place == lowest else ""
        score = "not scored" if entry.score is None else f"{entry.score:.3f}"
        kind = " ".join(filter(None, (role, entry.type, entry.number)))
        lines.append(("chosen" if place == moment.chosen else "", f"{kind}, {score}", entry.caption))
    return lines


def _head(moment: Moment) -> str:
    span = f"{clock(moment.start)}–{clock(moment.end)} of {clock(moment.duration)}"
    return f"{moment.video}, {span}, {moment.split}"


def index_row(moment: Moment) -> list:
    """Id, score (of the chosen caption, or the best), distance of best and worst score, and text of a moment."""
    scores = [entry.score for entry in moment.candidates if entry.score is not None]
    of_chosen = None if moment.chosen is None else moment.candidates[moment.chosen].score
    score, gap = (max(scores), round(max(scores) - min(scores), 6)) if scores else (None, None)
    texts = [f"{kind}: {text}" for _, kind, text in _lines(moment)]
    text = "\n".join([f"{moment.id}: {_head(moment)}", *texts, *moment.notes])
    return [str(moment.id), score if of_chosen is None else of_chosen, gap, text]


def card(moment: Moment, frames: Iterable[tuple[float, str]]) -> str:
    """A moment in markup."""
    pictures = [thumb(url, f"Keyframe of moment {moment.id} at {clock(at)}", clock(at)) for at, url in frames]
    lines = [
        f'<li class="{looks}"><span class="soft">{html.escape(kind)}</span>'
        f'<span class="caption" dir="auto">{html.escape(text)}</span></li>'
        for looks, kind, text in _lines(moment)
    ]
    notes = "".join(f'<p class="soft">{html.escape(note)}</p>' for note in moment.notes)
    return (
        f'<article class="card" aria-labelledby="moment-{moment.id}" tabindex="-1"><h2 id="moment-{moment.id}">'
        f'<a href="#moment={moment.id}">Moment {moment.id}</a></h2><p class="soft">{html.escape(_head(moment))}</p>'
        f'<div class="frames">{"".join(pictures)}</div><ul class="captions">{"".join(lines)}</ul>{notes}</article>'
    )


def write_browser(
    target: Path,
    folder: Path,
    about: Mapping[str, str],
    rows: list[Moment],
    archives: Iterable[str | Path] = (),
    embedded: int = EMBEDDED,
) -> None:
    """Write the page `target`, and its cards into `folder` when they are longer than `embedded` together.

    `about` holds title, about, warning and foot. `folder` is always created: it stays empty when all is in the page.
    """
    thumbnails = Thumbnails(archives)
    folder.mkdir(parents=True, exist_ok=True)
    within: list[str] = []
    size = 0
    for start in range(0, len(rows), PART):
        within.append(inert_json([card(row, thumbnails.of(row.id)) for row in rows[start : start + PART]]))
        size += len(within[-1])
        if size > embedded:
            first = start // PART + 1 - len(within)
            for number, part in enumerate(within, first):
                write_text(folder / f"{number:04d}.js", f"captionPart({number},{part});\n")
            within = []
    beside = folder.name if size > embedded else ""
    index = {**about, "part": PART, "beside": beside, "moments": [index_row(row) for row in rows]}
    data = {"index": index, **{f"part-{number}": part for number, part in enumerate(within)}}
    with atomic_path(target) as temporary:
        write_page(temporary, page([CAPTIONS_PAGE], about["title"], data, side_files=bool(beside)))
