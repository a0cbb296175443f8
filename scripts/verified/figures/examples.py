"""Generated examples in the manner of Figures 1 to 4: the task, the pipeline, annotations, the evaluator's preferences.

Each function picks its moments and returns rows to draw; the picks follow from the data and the seed alone.
"""

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from PIL import Image

from verified.errors import InputError
from verified.figures.rows import MomentRow
from verified.io.fig import TYPES
from verified.io.jsonl import finite, read_jsonl
from verified.runtime.seeds import generator

EXAMPLES = 4
"""Moments per figure."""
COMPARED = 300
"""Moments that are searched for the most similar coarse captions."""


@dataclass
class Material:
    """Source of the examples: rows by moment, keyframes on request."""

    annotations: list[dict]
    scores: Mapping[int, list[dict]]
    captions: Mapping[tuple[int, str], dict]
    perturbations: Mapping[int, dict]
    seed: int
    split: str = ""
    """Split of the annotations if they are not of the test split, which then has none."""

    def location(self, row: dict) -> str:
        """Video and span of a moment, and its split if it is not the test split."""
        start, end = row["time"]
        return f"{row['video']}, {start:g}–{end:g} s" + (f" (split {self.split})" if self.split else "")


Frames = Mapping[int, list[tuple[float, Image.Image]]]


def first_with_rows(paths: Sequence[str | os.PathLike]) -> tuple[list[dict], str]:
    """Annotations of the first file that has any, and its split, or "" if that is the first file, the test split's.

    Raises InputError if all are empty.
    """
    for path in paths:
        if rows := read_jsonl(path):
            return rows, "" if path == paths[0] else Path(path).stem
    raise InputError("no split has an annotation to draw", file=paths[0], remedy="see annotations/counts.json")


def group_by_moment(rows: list[dict]) -> dict[int, list[dict]]:
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
    """`count` annotations of `count` different videos, drawn from `seed`, half of them statics if there are both."""
    order = [annotations[number] for number in generator(seed, "examples").permutation(len(annotations))]
    picked, videos = [], set()
    for turn in range(count):
        unused = [row for row in order if row["video"] not in videos]
        of_type = [row for row in unused if row.get("fig_desc_type") == TYPES[turn % 2]]
        if unused:
            picked.append((of_type or unused)[0])
            videos.add(picked[-1]["video"])
    return picked


def shared_caption(annotations: list[dict]) -> list[dict]:
    """Moments of different videos whose coarse captions are the same, or the most similar without equal ones.

    The caption that most moments share; else the pair with the largest share of words in common.
    """
    groups = defaultdict(dict)
    for row in annotations:
        groups[row["cog_desc"]].setdefault(row["video"], row)
    most = max(groups.values(), key=len, default={})
    if len(most) > 1:
        return list(most.values())[:EXAMPLES]
    pairs = [
        (first, second)
        for first, second in combinations(annotations[:COMPARED], 2)
        if first["video"] != second["video"]
    ]
    return list(max(pairs, key=lambda pair: _words_in_common(*pair), default=annotations[:1]))


def _words_in_common(first: dict, second: dict) -> float:
    words, other_words = (set(row["cog_desc"].lower().split()) for row in (first, second))
    return len(words & other_words) / max(1, len(words | other_words))


def widest_gaps(annotations: list[dict], scores: Mapping[int, list[dict]]) -> list[dict]:
    """Moments of different videos whose best and worst candidates are furthest apart."""

    def gap(row: dict) -> float:
        values = [entry["score"] for entry in rank_candidates(scores[row["desc_id"]])]
        return max(values) - min(values) if values else -1.0

    picks = {}
    for row in sorted(annotations, key=lambda row: (-gap(row), row["desc_id"])):
        picks.setdefault(row["video"], row)
    return list(picks.values())[:EXAMPLES]


def rank_candidates(scores: list[dict]) -> list[dict]:
    """Scored candidates, best first; those without a score are omitted."""
    return sorted((entry for entry in scores if finite(entry["score"])), key=lambda entry: -entry["score"])


def _head(row: dict, frames: Frames, material: Material) -> MomentRow:
    drawn = MomentRow(frames.get(row["desc_id"], []))
    drawn.add(material.location(row), bold=True)
    drawn.add(f"coarse: {row['cog_desc']}")
    return drawn


def task(rows: list[dict], frames: Frames, material: Material) -> list[MomentRow]:
    """Figure 1: one coarse caption fits several moments; the fine ones tell them apart."""
    drawn = []
    for row in rows:
        drawn.append(_head(row, frames, material))
        drawn[-1].add(f"fine ({row['fig_desc_type']}): {row['fig_desc']}", row["fig_desc_type"])
    return drawn


def annotations(rows: list[dict], frames: Frames, material: Material) -> list[MomentRow]:
    """Figure 3: the coarse caption, the chosen fine one with its score, and the best of the other type."""
    drawn = []
    for row in rows:
        line = _head(row, frames, material)
        score = row.get("fig_desc_score")
        kind = row["fig_desc_type"]
        line.add(f"{kind}, chosen{'' if score is None else f' ({score:.2f})'}: {row['fig_desc']}", kind, bold=True)
        of_other_type = [entry for entry in rank_candidates(material.scores[row["desc_id"]]) if entry["type"] != kind]
        if of_other_type:
            best = of_other_type[0]
            line.add(f"best of {best['type']} ({best['score']:.2f}): {best['caption']}", best["type"])
        drawn.append(line)
    return drawn


def evaluator(rows: list[dict], frames: Frames, material: Material) -> list[MomentRow]:
    """After Figure 4: moments whose candidates the evaluator tells apart most clearly, all candidates in its order."""
    drawn = []
    for row in rows:
        line = _head(row, frames, material)
        for entry in rank_candidates(material.scores[row["desc_id"]]):
            is_chosen = (entry["type"], entry["caption"]) == (row["fig_desc_type"], row["fig_desc"])
            mark = "chosen " if is_chosen else ""
            line.add(f"{mark}{entry['type']} {entry['score']:.2f}: {entry['caption']}", entry["type"], is_chosen)
        drawn.append(line)
    return drawn


FIGURES = {"task": task, "annotations": annotations, "evaluator": evaluator}
