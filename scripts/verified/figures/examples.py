"""Generated examples in the manner of Figures 1 to 4: the task, the pipeline, annotations, the evaluator's preferences.

Each function picks its moments and returns rows to draw; the picks follow from the data and the seed alone.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image

from verified.common.fig import TYPES
from verified.common.seeds import generator
from verified.figures.rows import MomentRow

EXAMPLES = 4
"""Moments per figure."""


@dataclass
class Material:
    """What the examples are drawn from; rows by moment, keyframes on request."""

    annotations: list[dict]
    scores: Mapping[int, list[dict]]
    captions: Mapping[tuple[int, str], dict]
    perturbations: Mapping[int, dict]
    seed: int


Frames = Mapping[int, list[tuple[float, Image.Image]]]


def by_moment(rows: list[dict]) -> dict[int, list[dict]]:
    """Rows grouped by their moment."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["desc_id"]].append(row)
    return groups


def picks(material: Material) -> dict[str, list[dict]]:
    """The annotations that each figure shows, by the figure's name."""
    return {
        "task": shared_caption(material.annotations),
        "pipeline": pick(material.annotations, 1, material.seed),
        "annotations": pick(material.annotations, EXAMPLES, material.seed),
        "evaluator": widest_gaps(material.annotations, material.scores),
    }


def pick(annotations: list[dict], count: int, seed: int) -> list[dict]:
    """`count` annotations of `count` different videos, drawn from `seed`, half of them statics where there are both."""
    order = generator(seed, "examples").permutation(len(annotations))
    picked, videos = [], set()
    for wanted in [TYPES[turn % 2] for turn in range(count)]:
        for position in order:
            row = annotations[position]
            if row["video"] not in videos and row.get("fig_desc_type", wanted) == wanted:
                picked.append(row)
                videos.add(row["video"])
                break
    return picked


def shared_caption(annotations: list[dict]) -> list[dict]:
    """Moments of different videos that have the same coarse caption: the one that most moments share."""
    groups = defaultdict(dict)
    for row in annotations:
        groups[row["cog_desc"]].setdefault(row["video"], row)
    most = max(groups.values(), key=len, default={})
    return list(most.values())[:EXAMPLES] if len(most) > 1 else []


def widest_gaps(annotations: list[dict], scores: Mapping[int, list[dict]]) -> list[dict]:
    """Moments of different videos whose best and worst candidates lie furthest apart."""

    def gap(row: dict) -> float:
        values = [entry["score"] for entry in scores[row["desc_id"]] if entry["score"] is not None]
        return max(values) - min(values) if values else -1.0

    chosen = {}
    for row in sorted(annotations, key=lambda row: (-gap(row), row["desc_id"])):
        chosen.setdefault(row["video"], row)
    return list(chosen.values())[:EXAMPLES]


def _head(row: dict, frames: Frames) -> MomentRow:
    drawn = MomentRow(frames.get(row["desc_id"], []))
    start, end = row["time"]
    drawn.add(f"{row['video']}, {start:g}–{end:g} s", bold=True)
    drawn.add(f"coarse: {row['cog_desc']}")
    return drawn


def task(rows: list[dict], frames: Frames, material: Material) -> list[MomentRow]:
    """Figure 1: one coarse caption fits several moments; the fine ones tell them apart."""
    drawn = []
    for row in rows:
        drawn.append(_head(row, frames))
        drawn[-1].add(f"fine ({row['fig_desc_type']}): {row['fig_desc']}", row["fig_desc_type"])
    return drawn


def pipeline(rows: list[dict], frames: Frames, material: Material) -> list[MomentRow]:
    """Figure 2: what each module makes of one moment."""
    drawn = []
    for row in rows:
        ident = row["desc_id"]
        line = _head(row, frames)
        statics, dynamics = (material.captions.get((ident, kind), {}) for kind in TYPES)
        line.add("A. Statics: what the keyframes show", bold=True)
        for frame in statics.get("keyframes", ()):
            line.add(f"{frame['time']:.1f} s: {frame['description']}", "soft")
        line.add("B. Dynamics: questions, and answers from the frames", bold=True)
        for question, answer in zip(dynamics.get("questions", ()), dynamics.get("answers", ())):
            line.add(f"{question} {answer}", "soft")
        line.add("C. Evaluator: learns from disturbed captions, then scores the candidates", bold=True)
        selected = material.perturbations.get(ident, {}).get("selected", {})
        for name, colour in (("positive", "none"), ("statics", "false"), ("dynamics", "false")):
            if selected.get(name):
                said = "same meaning" if name == "positive" else f"{name} disturbed"
                line.add(f"{said}: {selected[name]}", colour)
        _candidates(line, row, material)
        drawn.append(line)
    return drawn


def _candidates(line: MomentRow, row: dict, material: Material) -> None:
    for entry in sorted(material.scores[row["desc_id"]], key=lambda entry: -entry["score"]):
        chosen = (entry["type"], entry["caption"]) == (row["fig_desc_type"], row["fig_desc"])
        mark = "chosen " if chosen else ""
        line.add(f"{mark}{entry['type']} {entry['score']:.2f}: {entry['caption']}", entry["type"], chosen)


def annotations(rows: list[dict], frames: Frames, material: Material) -> list[MomentRow]:
    """Figure 3: coarse and fine captions, the best of each type with its score."""
    drawn = []
    for row in rows:
        line = _head(row, frames)
        for kind in TYPES:
            of_kind = [entry for entry in material.scores[row["desc_id"]] if entry["type"] == kind]
            if of_kind:
                best = max(of_kind, key=lambda entry: entry["score"])
                chosen = kind == row["fig_desc_type"]
                mark = ", chosen" if chosen else ""
                line.add(f"{kind} ({best['score']:.2f}{mark}): {best['caption']}", kind, chosen)
        drawn.append(line)
    return drawn


def evaluator(rows: list[dict], frames: Frames, material: Material) -> list[MomentRow]:
    """After Figure 4: moments whose candidates the evaluator tells apart most clearly, all candidates in its order."""
    drawn = []
    for row in rows:
        drawn.append(_head(row, frames))
        _candidates(drawn[-1], row, material)
    return drawn


FIGURES = {"task": task, "pipeline": pipeline, "annotations": annotations, "evaluator": evaluator}
