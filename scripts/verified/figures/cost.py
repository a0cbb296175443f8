"""Gain of more candidates: the score of the chosen caption and, for known truth, how often it is false.

Candidates are taken in the order in which they were written, as if fewer had been requested.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from verified.benchmark.intervals import mean_interval
from verified.figures.canvas import COLOURS, WIDE, direct_labels, draw_note, drawing
from verified.figures.examples import group_by_moment, rank_candidates
from verified.io.fig import TYPES

Key = tuple[int, str, int]
"""Moment, type and number of a candidate."""


class CandidateGain(NamedTuple):
    """Result with so many candidates of some types; `false` is (percent, low, high) where the truth is known."""

    types: str
    candidates: int
    """Candidates of a moment, of all types together."""
    calls: float
    """Calls per moment."""
    moments: int
    score: float
    false: tuple[float, float, float] | None


def calls_of_types(outcomes: Mapping) -> dict[str, float]:
    """Calls that the candidates of each type took, by moment (`outcomes.json`)."""
    return {
        kind: sum(task["calls"] for task in outcomes[kind]["tasks"]) / max(1, outcomes[kind]["moments"])
        for kind in TYPES
    }


def candidate_gains(
    scores: Sequence[dict], calls: Mapping[str, float], wrong: Collection[Key] | None
) -> list[CandidateGain]:
    """Gain by types (statics, dynamics, both) and number of candidates: the best-scored one of each moment.

    scores: rows of evaluator/scores; wrong: false candidates, None if the truth is unknown.
    """
    moments = group_by_moment(list(scores))
    most = max((row["candidate"] for row in scores), default=-1) + 1
    found = []
    for types, name in (*(((kind,), kind) for kind in TYPES), (TYPES, "both")):
        for count in range(1, most + 1):
            call_counts = (
                [row for row in rows if row["type"] in types and row["candidate"] < count] for rows in moments.values()
            )
            chosen = [ranked[0] for rows in call_counts if (ranked := rank_candidates(rows))]
            if not chosen:
                continue
            false = None
            if wrong is not None:
                hits = [(row["desc_id"], row["type"], row["candidate"]) in wrong for row in chosen]
                share = mean_interval(
                    100.0 * np.array(hits)[None, :, None], [row["video"] for row in chosen], top=100.0
                )
                false = (float(share.value[0]), float(share.low[0]), float(share.high[0]))
            score = float(np.mean([row["score"] for row in chosen]))
            asking = sum(calls[kind] for kind in types)
            found.append(CandidateGain(name, count * len(types), asking, len(chosen), score, false))
    return found


def draw_cost(bought: Sequence[CandidateGain], paths: Iterable[str | os.PathLike]) -> None:
    """The score of the chosen caption over the captions written for a moment, and in a second panel the share of false
    ones if the truth is known. A line states the number of calls of its types.
    """
    if not bought:
        draw_note(paths, "No candidate has a score: nothing can be said of what more of them buy.")
        return
    known = any(row.false for row in bought)
    with drawing(paths, 16.0 if known else WIDE, 5.2) as figure:
        axes = figure.subplots(1, 2 if known else 1, squeeze=False)[0]
        colours = dict(zip((*TYPES, "both"), (COLOURS["statics"], COLOURS["dynamics"], COLOURS["none"])))
        ends: list[dict[str, tuple[float, float, str]]] = [{} for _ in axes]
        for name, colour in colours.items():
            rows = [row for row in bought if row.types == name]
            if not rows:
                continue
            across, label = [row.candidates for row in rows], f"{name}, {rows[0].calls:.1f} calls"
            axes[0].plot(across, [row.score for row in rows], color=colour, marker="o")
            ends[0][label] = (across[-1], rows[-1].score, colour)
            shares = [row.false for row in rows if row.false]
            if shares:
                values, lows, highs = zip(*(tuple(np.nan_to_num(share, nan=share[0])) for share in shares))
                sides = np.clip([np.subtract(values, lows), np.subtract(highs, values)], 0, None)
                axes[1].errorbar(across, values, yerr=sides, color=colour, marker="o", capsize=4)
                ends[1][label] = (across[-1], values[-1], colour)
        for axis, labels in zip(axes, ends):
            axis.set_xlabel("captions written for a moment")
            axis.locator_params(axis="x", integer=True)
            axis.margins(y=0.15)
            direct_labels(axis, labels)
        axes[0].set_ylabel("mean score of the chosen caption")
        if known:
            axes[1].set_ylabel("chosen captions that are false, %")
            axes[1].set_ylim(bottom=0)
        header = ("types", "captions", "calls", "moments", "mean score", "false %", "low", "high")
        text = "; ".join(
            f"{row.candidates} of {row.types}, {row.calls:.1f} calls: score {row.score:.2f}"
            + (f", {row.false[0]:.1f} % false" if row.false else "")
            for row in bought
        )
        rows = [(*row[:5], *(row.false or ("", "", ""))) for row in bought]
        figure.describe(f"What more captions of a moment buy. {text}", header, rows)
