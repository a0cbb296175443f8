"""The caption browser: every moment with its keyframes, its candidates, their scores, and the calls behind them.

The page has an index of all captions, which it searches and sorts; keyframes, prompts and refusals are in parts of
`PART` moments that are loaded when first shown. The parts are embedded in the page if they are small together,
otherwise they are scripts in a folder next to it (a page opened from a disk may load scripts, but no other data).
"""

import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from verified.io.fig import TYPES
from verified.io.files import atomic_path, write_text
from verified.io.jsonl import finite
from verified.io.pages import data_url, inert_json, page, write_page
from verified.keyframes.archive import KeyframeTars
from verified.lmm.ledger import Ledger
from verified.report import CAPTIONS_PAGE

PART = 128
"""Moments whose keyframes and prompts are read at once."""
EMBEDDED = 24_000_000
"""Most characters of parts that are embedded in the page itself."""
SIDE = 160
"""Longest side of a keyframe on the page, in pixels."""
QUALITY = 80


CHOSEN_BY = {
    "confidence": "that of the highest confidence",
    "agreement": "the one that agrees most with the other candidates, the keyframes and the coarse caption",
    "random": "one at random",
}
CHOSEN, LOWEST = 1, 2
"""Roles of a candidate; 0: no role."""


BETWEEN, AFTER = "\x1f", "\x1e"
"""Between the texts of a moment, and behind each moment, in the page's one long text; they are in no caption there."""
NO_SIGNS = str.maketrans({BETWEEN: " ", AFTER: " "})


class Candidate(NamedTuple):
    """A fine-grained caption of a moment."""

    type: int
    """Index of its type in TYPES, or their number if the type is unknown."""
    number: int
    caption: str
    score: float | None
    role: int


class Moment(NamedTuple):
    """Index entry of a moment, stored as columns (see `columns`)."""

    id: int
    video: str
    start: float
    end: float
    duration: float
    """Duration of its video. All times are in seconds."""
    split: str
    coarse: str
    candidates: list[Candidate]
    refused: int
    missing: int
    note: str


class Thumbnails:
    """Small JPEGs of keyframes, read on demand from the archives of all shards."""

    def __init__(self, archives: Iterable[str | Path]):
        self._stills = KeyframeTars(archives)

    def of(self, desc_id: int) -> list[list]:
        """``[time in seconds, data URL]`` of each keyframe of a moment."""
        if desc_id not in self._stills.of_moment:
            return []
        frames = self._stills.keyframes(desc_id)
        return [
            [frame["time"], thumbnail(Image.open(io.BytesIO(self._stills.image(frame["file"]))))] for frame in frames
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
    """Index rows of moments that the workflow annotated, in the order of the corpus.

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
        ident = moment["desc_id"]
        by_type = captions_of[ident]
        candidates = [
            Candidate(TYPES.index(kind), number, entry["caption"], _number(score.get((ident, kind, number))), 0)
            for kind in TYPES
            if kind in by_type
            for number, entry in enumerate(by_type[kind]["candidates"])
        ]
        row = annotation_of.get(ident)
        candidates = _mark_roles(candidates, (row["fig_desc_type"], row["fig_desc"]) if row else None)
        if row and not any(candidate.role == CHOSEN for candidate in candidates):
            candidates.append(Candidate(len(TYPES), len(candidates), row["fig_desc"], None, CHOSEN))
        refused = sum(len(row["refused"]) for row in by_type.values())
        missing = sum(row["shortfall"] for row in by_type.values())
        notes = [f"{kind}: {by_type[kind]['reason']}" for kind in by_type if by_type[kind]["reason"]]
        if row and "review" in row:
            notes.append(f"{row['review']['decision']} by {', '.join(row['review']['reviewers'])}")
        reasons = "; ".join(notes)
        rows.append(_index_row(moment, moment["caption"], candidates, refused, missing, reasons))
    return rows


def released_rows(annotations: Iterable[dict]) -> list[Moment]:
    """Index rows of published annotations: the one caption there is, and its score."""
    rows = []
    for row in annotations:
        start, end = row["time"]
        moment = {**row, "start": start, "end": end}
        kind = row.get("fig_desc_type")
        number = TYPES.index(kind) if kind in TYPES else len(TYPES)
        fine = (
            [Candidate(number, 0, row["fig_desc"], _number(row["fig_desc_score"]), CHOSEN)] if "fig_desc" in row else []
        )
        rows.append(_index_row(moment, row["cog_desc"], fine, 0, 0, ""))
    return rows


def about_generated(title: str, origin: str, rows: list[Moment], chosen_by: str, warning: str) -> dict[str, str]:
    """Head and foot of the page of a corpus that the workflow annotated."""
    about = (
        f"{len(rows)} moments, {sum(len(row.candidates) for row in rows)} fine-grained candidates. Of each moment's, "
        f"{CHOSEN_BY[chosen_by]} became its caption; scores are the evaluator's confidence and may be wrong."
    )
    return {"title": f"Captions of {title}", "about": about, "warning": warning, "foot": origin}


def about_released(title: str, origin: str, rows: list[Moment]) -> dict[str, str]:
    """Head and foot of the page of published annotations."""
    about = f"{len(rows)} moments. Published annotations hold one caption a moment, and no videos or prompts."
    return {"title": f"Captions of {title}", "about": about, "foot": origin}


def _index_row(
    moment: Mapping, coarse: str, candidates: list[Candidate], refused: int, missing: int, note: str
) -> Moment:
    identity = (moment["desc_id"], moment["video"], moment["start"], moment["end"], moment["duration"], moment["split"])
    return Moment(*identity, coarse, candidates, refused, missing, note)


def _number(score: float | None) -> float | None:
    return score if finite(score) else None


def _mark_roles(candidates: list[Candidate], selected: tuple[str, str] | None) -> list[Candidate]:
    """The candidates with the role of the first that is the chosen caption, and of the last that scores lowest."""
    roles = [0] * len(candidates)
    scores = {number: score for number, candidate in enumerate(candidates) if (score := candidate.score) is not None}
    if len(scores) > 1:
        roles[min(reversed(scores), key=lambda number: scores[number])] = LOWEST
    for number, candidate in enumerate(candidates):
        if selected is not None and (TYPES[candidate.type], candidate.caption) == selected:
            roles[number] = CHOSEN
            break
    return [candidate._replace(role=role) for candidate, role in zip(candidates, roles)]


def part_of(
    rows: list[Moment], captions_of: Mapping[int, list[dict]], thumbnails: Thumbnails, ledger: Ledger | None
) -> dict:
    """Keyframes, refusals, facts and calls of some moments. Prompts share their lines, as most come from templates."""
    lines: dict[str, int] = {}
    calls: dict[str, dict | None] = {}
    entries = {}
    for row in rows:
        ident = row.id
        by_type = {}
        for caption in captions_of.get(ident, ()):
            keys = _calls(caption)
            by_type[caption["type"]] = {
                "facts": _facts(caption),
                "refused": [[entry["caption"], entry["reason"]] for entry in caption["refused"]],
                "calls": keys,
            }
            for key in keys:
                if key not in calls:
                    calls[key] = _call(ledger, key, lines)
        entries[ident] = {"frames": thumbnails.of(ident), "made": by_type}
    return {"moments": entries, "calls": calls, "lines": list(lines)}


def _calls(row: Mapping) -> list[str]:
    """Ledger keys behind a row, in the order of the calls, each once."""
    keys = [frame.get("lineage") for frame in row.get("keyframes", ())]
    keys += row.get("lineage", {}).values()
    keys += [candidate["lineage"] for candidate in row["candidates"]]
    return list(dict.fromkeys(key for key in keys if key))


def _facts(row: Mapping) -> list[list[str]]:
    facts = []
    for frame in row.get("keyframes", ()):
        values = [frame.get(name) for name in ("background", "foreground", "description")]
        facts.append([f"keyframe at {frame['time']:.1f} s", " ".join(text for text in values if text)])
    questions, answers = row.get("questions") or [], row.get("answers") or []
    for number, question in enumerate(questions):
        facts.append([question, answers[number] if number < len(answers) else "no answer"])
    if row.get("description"):
        facts.append(["description", row["description"]])
    if row.get("frames") is not None:
        facts.append(["frames shown", f"{row['frames']}{', thinned' if row.get('thinned') else ''}"])
    return facts


def _call(ledger: Ledger | None, key: str, lines: dict[str, int]) -> dict | None:
    call = ledger.get(key) if ledger else None
    if call is None:
        return None
    prompt = [lines.setdefault(line, len(lines)) for line in call["prompt"].split("\n")]
    return {name: call[name] for name in ("task", "model", "revision", "engine", "sampling")} | {"prompt": prompt}


def columns(rows: list[Moment]) -> dict[str, object]:
    """The page's index: columns of moments and of candidates, and all texts as one. A browser reads and searches these
    in a fraction of the time and memory that an object for each moment takes.

    ``text`` holds id, video, coarse caption and candidates of each moment. Columns of candidates continue from moment
    to moment, `count` each; `chosen` and `lowest` are indices within the moment, -1 for none.
    """
    videos, splits = sorted({row.video for row in rows}), list(dict.fromkeys(row.split for row in rows))
    rank_of = {text: rank for rank, text in enumerate(sorted({row.coarse for row in rows}))}
    video_at, split_at = ({name: place for place, name in enumerate(names)} for names in (videos, splits))
    candidates = [candidate for row in rows for candidate in row.candidates]
    texts = ((str(row.id), row.video, row.coarse, *(candidate.caption for candidate in row.candidates)) for row in rows)
    return {
        "videos": videos,
        "splits": splits,
        "video": [video_at[row.video] for row in rows],
        "split": [split_at[row.split] for row in rows],
        "start": [row.start for row in rows],
        "end": [row.end for row in rows],
        "duration": [row.duration for row in rows],
        "coarse": [rank_of[row.coarse] for row in rows],
        "refused": [row.refused for row in rows],
        "missing": [row.missing for row in rows],
        "notes": {str(place): row.note for place, row in enumerate(rows) if row.note},
        "count": [len(row.candidates) for row in rows],
        "chosen": [_place_of(CHOSEN, row) for row in rows],
        "lowest": [_place_of(LOWEST, row) for row in rows],
        "type": [candidate.type for candidate in candidates],
        "number": [candidate.number for candidate in candidates],
        "score": [None if candidate.score is None else round(candidate.score, 6) for candidate in candidates],
        "text": "".join(BETWEEN.join(text.translate(NO_SIGNS) for text in row) + AFTER for row in texts),
    }


def _place_of(role: int, row: Moment) -> int:
    return next((place for place, candidate in enumerate(row.candidates) if candidate.role == role), -1)


def write_browser(
    target: Path,
    folder: Path,
    about: Mapping[str, str],
    rows: list[Moment],
    captions: Iterable[dict] = (),
    archives: Iterable[str | Path] = (),
    ledger: Ledger | None = None,
    embedded: int = EMBEDDED,
) -> None:
    """Write the page `target`, and its parts into `folder` when they are longer than `embedded` together.

    `about` holds title, about and foot. `folder` is always created: it stays empty when everything is in the page.
    """
    captions_of = defaultdict(list)
    for row in captions:
        captions_of[row["desc_id"]].append(row)
    thumbnails = Thumbnails(archives)
    folder.mkdir(parents=True, exist_ok=True)
    within: dict[str, str] | None = {}
    if captions_of or archives:
        for number, start in enumerate(range(0, len(rows), PART)):
            part = inert_json(part_of(rows[start : start + PART], captions_of, thumbnails, ledger))
            if within is not None:
                within[f"part-{number}"] = part
                if sum(map(len, within.values())) > embedded:
                    for name, earlier in within.items():
                        _write_part(folder, int(name.removeprefix("part-")), earlier)
                    within = None
            else:
                _write_part(folder, number, part)
    index = {
        **about,
        "part": PART,
        "parts": within is None or bool(within),
        "beside": folder.name if within is None else "",
        "types": list(TYPES) if any(c.type < len(TYPES) for row in rows for c in row.candidates[:1]) else [],
        **columns(rows),
    }
    with atomic_path(target) as temporary:
        data = {"index": index, **(within or {})}
        write_page(temporary, page([CAPTIONS_PAGE], about["title"], data, side_files=within is None))


def _write_part(folder: Path, number: int, part: str) -> None:
    write_text(folder / f"{number:04d}.js", f"captionPart({number},{part});\n")
