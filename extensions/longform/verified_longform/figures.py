"""Figures 1 to 6 of the MAD paper for the available data sets."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from verified.figures.canvas import LABEL, SERIES, WIDE, direct_labels, drawing, literal
from verified.figures.text import line_height, wrap

EXAMPLES = 8
"""Sentences that Figure 2 spells out."""


def draw_moments(groups: Sequence[tuple[str, Mapping]], paths: Iterable[str | os.PathLike]) -> None:
    """Figures 3 and 5: where moments start and end by the video's length, and how long they are.

    groups: (label, histograms as `statistics.describe` gives them), one line each.
    """
    with drawing(paths, 15.0, 5.6) as figure:
        names = ("start", "end", "seconds")
        figure.describe(
            "Where moments start and end in their video, and how long they are", HISTOGRAM, _rows(groups, names)
        )
        axes = figure.subplots(1, 3)
        for axis, name, label in zip(
            axes, ("start", "end", "seconds"), ("start / video length", "end / video length", "moment in seconds")
        ):
            for number, (title, histograms) in enumerate(groups):
                _line(axis, histograms[name], title, number)
            axis.set_xlabel(label)
        axes[0].set_ylabel("share of moments")
        figure.legend(*axes[2].get_legend_handles_labels(), loc="outside lower center", ncols=2)


def draw_sentences(groups: Sequence[tuple[str, Mapping]], paths: Iterable[str | os.PathLike]) -> None:
    """Figure 6: length of sentences in tokens."""
    with drawing(paths, WIDE, 5.6) as figure:
        figure.describe("Tokens of a sentence by data set", HISTOGRAM, _rows(groups, ("tokens",)))
        axis = figure.subplots()
        for number, (title, histograms) in enumerate(groups):
            _line(axis, histograms["tokens"], title, number)
        axis.set_xlabel("tokens of a sentence")
        axis.set_ylabel("share of sentences")
        axis.legend(loc="lower left", bbox_to_anchor=(0, 1))


HISTOGRAM = ("group", "of", "from", "to", "count")


def _rows(groups: Sequence[tuple[str, Mapping]], names: Sequence[str]) -> list[tuple]:
    """Bins of histograms; the last of a histogram of lengths has no end."""
    return [
        (title, name, place * histograms[name]["width"], (place + 1) * histograms[name]["width"], count)
        for title, histograms in groups
        for name in names
        for place, count in enumerate(histograms[name]["counts"])
    ]


def _line(axis, histogram: Mapping, title: str, number: int) -> None:
    """One group's shares; lengths beyond the last bin of a histogram are written, not drawn as a peak."""
    shares = np.array(histogram["counts"], float)
    shares /= max(1.0, shares.sum())
    if histogram["width"] >= 1:  # lengths, whose last bin is open; positions end with the video
        beyond, shares = shares[-1], np.trim_zeros(shares[:-1], "b")
        if beyond:
            title = f"{title} ({100 * beyond:.2g} % longer)"
    edges = np.arange(len(shares) + 1) * histogram["width"]
    colour, _, style = SERIES[number % len(SERIES)]
    axis.stairs(shares, edges, label=literal(title), color=colour, linestyle=style, linewidth=2)


def draw_lengths(
    curves: Sequence[tuple[str, Sequence[float | None], Mapping[int, Sequence[float]]]],
    paths: Iterable[str | os.PathLike],
) -> None:
    """Figure 4: recall at IoU 0.5 by the length of the video.

    curves: (label, lengths in seconds, None for whole movies, {K: recall in percent per length}).
    """
    with drawing(paths, 15.0, 5.2) as figure:
        rows = [
            (title, k, "movie" if length is None else length, recall)
            for title, lengths, values in curves
            for k in (1, 5)
            for length, recall in zip(lengths, values[k])
        ]
        figure.describe("Recall at IoU 0.5 by the length of the video", ("model", "K", "seconds", "recall %"), rows)
        axes = figure.subplots(1, 2)
        for axis, k in zip(axes, (1, 5)):
            ends = {}
            for number, (title, lengths, values) in enumerate(curves):
                colour, marker, style = SERIES[number % len(SERIES)]
                axis.plot(
                    range(len(lengths)),
                    values[k],
                    color=colour,
                    marker=marker,
                    linestyle=style,
                )
                ends[title] = (len(lengths) - 1, values[k][-1], colour)
            labels = ["movie" if seconds is None else f"{seconds:g} s" for seconds in curves[0][1]] if curves else []
            axis.set_xticks(range(len(labels)), labels, rotation=45)
            axis.set_xlabel("length of the video")
            axis.set_ylabel(f"R@{k}, IoU=0.5, %")
            direct_labels(axis, ends)


def draw_datasets(groups: Sequence[tuple[str, Mapping]], paths: Iterable[str | os.PathLike]) -> None:
    """Figure 1: length of videos by coverage of a moment, each data set a circle with the area of its vocabulary.

    groups: (label, `statistics.describe`).
    """
    with drawing(paths, WIDE, 7.0) as figure:
        rows = [(title, 100 * row["coverage"], row["minutes"], row["vocabulary"]) for title, row in groups]
        text = "; ".join(f"{title} {minutes:.1f} minutes, {words} words" for title, _, minutes, words in rows)
        header = ("data set", "moment / video length, %", "minutes of a video", "vocabulary")
        figure.describe(f"Data sets beside each other. {text}", header, rows)
        axis = figure.subplots()
        largest = max((measures["vocabulary"] for _, measures in groups), default=1)
        for number, (title, measures) in enumerate(groups):
            coverage, minutes = 100 * measures["coverage"], measures["minutes"]
            colour, _, _ = SERIES[number % len(SERIES)]
            area = 200 + 2500 * measures["vocabulary"] / max(1, largest)
            axis.scatter([coverage], [minutes], s=area, color=colour, alpha=0.5, linewidths=0)
            text = f"{title}: {measures['vocabulary']:,} words"
            axis.annotate(literal(text), (coverage, minutes), ha="center", va="center")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.margins(0.3)
        axis.set_xlabel("moment / video length, mean in %")
        axis.set_ylabel("minutes of a video, mean")


def draw_example(rows: Sequence[Mapping], paths: Iterable[str | os.PathLike]) -> None:
    """Figure 2: all moments of one movie on its time, and a few of its sentences below.

    rows: annotations of a data set; the movie with the most of them is taken, the first in their order among equals.
    """
    counts = Counter(row["movie"] for row in rows)
    movie = max(counts, key=lambda name: counts[name])
    own = sorted((row for row in rows if row["movie"] == movie), key=lambda row: (row["start"], row["end"]))
    picked = [own[round(place)] for place in np.linspace(0, len(own) - 1, min(EXAMPLES, len(own)))]
    lines = [
        line
        for row in picked
        for line in wrap(f"{_clock(row['start'])}–{_clock(row['end'])} {row['sentence']}", 11.5, LABEL, indent="      ")
    ]
    height = 2.0 + line_height(LABEL) * len(lines)
    with drawing(paths, 12.6, height, placed=True) as figure:
        sentences = [(row["start"], row["end"], row["sentence"]) for row in own]
        figure.describe(f"The {len(own)} sentences of {movie} on its time", ("start", "end", "sentence"), sentences)
        axis = figure.add_axes((0.05, 1 - 1.1 / height, 0.89, 0.6 / height))
        axis.broken_barh([(row["start"], row["end"] - row["start"]) for row in own], (0, 1), color=SERIES[1][0])
        chosen = [(row["start"], row["end"] - row["start"]) for row in picked]
        axis.broken_barh(chosen, (0, 1), color=SERIES[2][0])
        axis.set_xlim(0, own[0]["duration"])
        axis.set_yticks([])
        ticks = np.linspace(0, own[0]["duration"], 5)
        axis.set_xticks(ticks, [_clock(second) for second in ticks])
        axis.set_title(literal(f"{movie}: {len(own)} sentences"))
        for number, line in enumerate(lines):
            top = 1 - (1.75 + number * line_height(LABEL)) / height
            figure.text(0.05, top, literal(line), va="top")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
