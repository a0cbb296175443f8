"""Recall by number of answers considered, lengths of moments and queries, positions of moments in videos.

Models are those trained and tested on fine captions, each in a separate colour, with its name at its line.
"""

import gzip
import json
import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from verified.benchmark.intervals import mean_interval
from verified.benchmark.vcmr.results import PerQuery
from verified.figures.canvas import COLOURS, direct_labels, drawing
from verified.io.characters import length_in_words
from verified.io.pages import colour_of

TASKS = {"VR": "r", "SVMR": "0.5/r", "VCMR": "0.5/r"}
"""Prefix of K in a task's metric."""
BINS = 4
"""Groups of queries, as many in each as can be."""
PARTS = 8
"""Parts of a video in which the middle of a moment may be."""
METRIC = "SVMR/0.5/r1"
"""The metric by length: the right video is given, so that only grounding is measured."""


def draw_curves(models: Mapping[str, PerQuery], paths: Iterable[str | os.PathLike]) -> None:
    """Draw recall in percent over K, a panel per task, with chance level (K different random videos) for VR."""
    rows: list[tuple] = []
    with drawing(paths, 15.0, 4.8) as figure:
        for axis, (task, prefix) in zip(figure.subplots(1, len(TASKS)), TASKS.items()):
            ends = {}
            for name, of in models.items():
                points = _curve(of, task, prefix)
                rows += [(name, task, prefix + str(k), value) for k, value in points]
                if points:
                    ks, values = zip(*points)
                    axis.plot(ks, values, color=colour_of(name), marker="o", clip_on=False)
                    ends[name] = ks[-1], values[-1], colour_of(name)
            if task == "VR" and models:
                videos = len(np.unique(next(iter(models.values())).video))
                ks = np.array([1, 5, 10, 100])
                chance = np.minimum(100.0, 100.0 * ks / videos)
                axis.plot(ks, chance, color=COLOURS["soft"], linestyle="--")
                ends["chance"] = 100, float(chance[-1]), COLOURS["soft"]
            axis.set(xscale="log", xlim=(1, 100), ylim=(0, 100), title=f"{task} {prefix}K", xlabel="K answers")
            axis.set_xticks([1, 5, 10, 100], ["1", "5", "10", "100"])
            axis.minorticks_off()
            direct_labels(axis, ends)
        figure.axes[0].set_ylabel("recall, %")
        text = "; ".join(
            f"{name}, {task} {metric} {value:.1f}" for name, task, metric, value in rows if metric[-2:] == "r1"
        )
        figure.describe(f"Recall in percent over K. {text}", ("Method", "Task", "Metric", "Recall %"), rows)


def _curve(of: PerQuery, task: str, prefix: str) -> list[tuple[int, float]]:
    ks = [int(name.rpartition("r")[2]) for name in of.values if name.startswith(f"{task}/{prefix}")]
    return [(k, float(100 * of.values[f"{task}/{prefix}{k}"].mean())) for k in sorted(ks)]


def draw_lengths(models: Mapping[str, PerQuery], rows: Sequence[Mapping], paths: Iterable[str | os.PathLike]) -> None:
    """Recall with its 95 % interval by the length of the moment (seconds) and of the query (words); `rows`: annotations
    of the queries."""
    moments = {row["desc_id"]: row["time"][1] - row["time"][0] for row in rows}
    words = {row["desc_id"]: length_in_words(row["fig_desc"]) for row in rows}
    entries: list[tuple] = []
    with drawing(paths, 15.0, 5.2) as figure:
        for axis, (by, lengths, unit) in zip(
            figure.subplots(1, 2, sharey=True), (("moment", moments, "s"), ("query", words, "words"))
        ):
            ends = {}
            for number, (name, of) in enumerate(models.items()):
                groups = _groups(np.array([float(lengths[ident]) for ident in of.desc_id]))
                shift, middles, values, bounds = (number - (len(models) - 1) / 2) * 0.08, [], [], []
                for place, members in enumerate(groups):
                    found = mean_interval(100 * of.values[METRIC][:, members, None], of.video[members], top=100)
                    value, low, high = (float(side[0]) for side in (found.value, found.low, found.high))
                    middles.append(place + shift)
                    values.append(value)
                    bounds.append((value if np.isnan(low) else low, value if np.isnan(high) else high))
                    entries.append((name, by, *_range(lengths, of, members), int(members.sum()), value, low, high))
                below, above = zip(*((value - low, high - value) for value, (low, high) in zip(values, bounds)))
                sides = np.clip([below, above], 0, None)
                axis.errorbar(middles, values, yerr=sides, color=colour_of(name), marker="o", capsize=4)
                ends[name] = middles[-1], values[-1], colour_of(name)
            of = next(iter(models.values()))
            groups = _groups(np.array([float(lengths[ident]) for ident in of.desc_id]))
            names = ["–".join(f"{edge:g}" for edge in _range(lengths, of, members)) for members in groups]
            axis.set_xticks(range(len(groups)), names)
            axis.set(xlabel=f"length of the {by}, {unit}", ylim=(0, 100))
            direct_labels(axis, ends)
        figure.axes[0].set_ylabel("SVMR 0.5/r1, %")
        text = "; ".join(
            f"{name}, {by} {low:g} to {high:g}: {value:.1f}" for name, by, low, high, _, value, *_ in entries
        )
        header = ("Method", "By length of", "From", "To", "Queries", "Recall %", "Low", "High")
        figure.describe(f"SVMR 0.5/r1 in percent by the length of the moment and of the query. {text}", header, entries)


def _groups(lengths: np.ndarray) -> list[np.ndarray]:
    """Masks of at most `BINS` groups of queries by length; equal lengths stay together, empty groups are omitted."""
    edges = np.quantile(lengths, np.linspace(0, 1, BINS + 1)[1:-1])
    groups = np.searchsorted(edges, lengths, side="left")
    return [mask for place in range(BINS) if (mask := groups == place).any()]


def _range(lengths: Mapping, of: PerQuery, members: np.ndarray) -> tuple[float, float]:
    values = [lengths[ident] for ident in of.desc_id[members]]
    return round(float(min(values)), 1), round(float(max(values)), 1)


def first_spans(path: str | os.PathLike) -> dict[int, tuple[float, float]]:
    """The first span (start, end) in seconds that a submission answers in the right video, by query."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = json.load(file).get("SVMR", [])
    return {row["desc_id"]: tuple(row["predictions"][0][1:3]) for row in rows if row["predictions"]}


def draw_positions(
    models: Mapping[str, Mapping[int, tuple[float, float]]],
    rows: Sequence[Mapping],
    paths: Iterable[str | os.PathLike],
) -> None:
    """Middle of the predicted span against that of the true one: shares of each column add up to 100; a model that
    grounds well is dark along the diagonal."""
    entries: list[tuple] = []
    edges = np.linspace(0, 1, PARTS + 1)
    with drawing(paths, 3.2 * max(2, len(models)) + 0.8, 4.0) as figure:
        axes = figure.subplots(1, max(2, len(models)), sharey=True)
        for axis in axes[len(models) :]:
            axis.axis("off")
        for axis, (name, spans) in zip(axes, models.items()):
            true, predicted = [], []
            for row in rows:
                if row["desc_id"] in spans:
                    true.append(np.mean(row["time"]) / row["duration"])
                    predicted.append(np.mean(spans[row["desc_id"]]) / row["duration"])
            counts, _, _ = np.histogram2d(np.clip(predicted, 0, 1), np.clip(true, 0, 1), bins=(edges, edges))
            shares = 100 * counts / np.maximum(1, counts.sum(axis=0))
            axis.imshow(shares, origin="lower", extent=(0, 1, 0, 1), cmap="Greys", vmin=0, vmax=100)
            axis.plot([0, 1], [0, 1], color=COLOURS["soft"], linewidth=1.2, linestyle="--")
            axis.set_title(name, color=colour_of(name))
            axis.set_xticks([0, 0.5, 1], ["start", "middle", "end"])
            axis.set_yticks([0, 0.5, 1], ["start", "middle", "end"])
            entries += [
                (name, float(edges[x]), float(edges[y]), int(counts[y, x]), float(shares[y, x]))
                for x in range(PARTS)
                for y in range(PARTS)
            ]
        axes[0].set_ylabel("predicted")
        axes[0].set_xlabel("true middle of the moment")
        near = {
            name: 100
            * sum(row[3] for row in entries if row[0] == name and row[1] == row[2])
            / max(1, sum(row[3] for row in entries if row[0] == name))
            for name in models
        }
        text = "; ".join(f"{name} {share:.0f} %" for name, share in near.items())
        alt = f"Predicted by true position of moments in their video; predicted in the true eighth of it: {text}"
        figure.describe(alt, ("Method", "True from", "Predicted from", "Queries", "Share of the column %"), entries)
