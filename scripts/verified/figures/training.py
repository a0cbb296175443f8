"""Training curves: retrieval models by epoch, the evaluator by step."""

import os
from collections.abc import Iterable, Mapping
from itertools import cycle

from verified.figures.canvas import SERIES, drawing

NAMES = {"cog": "COG", "fig": "FIG", "fig-lowest": "FIG, lowest score"}


def draw_retrieval(logs: Mapping[tuple[str, str], list[dict]], paths: Iterable[str | os.PathLike]) -> None:
    """Loss and what the models are selected by, a row per model, a line per training corpus.

    `logs` are the records of the first seed by (model, trained on). Epochs without a test on the selection split have
    no point in the right picture.
    """
    models = list(dict.fromkeys(model for model, _ in logs))
    with drawing(paths, 7.2, 2.3 * len(models)) as figure:
        axes = figure.subplots(len(models), 2, squeeze=False)
        for (loss, selection), model in zip(axes, models):
            runs = [(trained, records) for (name, trained), records in logs.items() if name == model]
            for (trained, records), (colour, marker, line) in zip(runs, cycle(SERIES)):
                style = {
                    "color": colour,
                    "linestyle": line,
                    "marker": marker,
                    "markersize": 3,
                    "markevery": max(1, len(records) // 8),
                    "label": NAMES.get(trained, trained),
                }
                loss.plot([row["epoch"] for row in records], [row["total"] for row in records], **style)
                tested = [row for row in records if row.get("selection") is not None]
                selection.plot([row["epoch"] for row in tested], [row["selection"] for row in tested], **style)
            loss.set_ylabel(f"{model}: loss")
            selection.set_ylabel("selection, points")
            for axis in (loss, selection):
                axis.set_xlabel("epoch")
            selection.legend(fontsize=8)


def draw_evaluator(stages: Mapping[str, list[dict]], paths: Iterable[str | os.PathLike]) -> None:
    """The evaluator's losses (Equations 9 and 10) by step, a picture per stage of its training."""
    with drawing(paths, 3.7 * max(1, len(stages)), 2.7) as figure:
        axes = figure.subplots(1, len(stages), squeeze=False)[0]
        for axis, (stage, records) in zip(axes, stages.items()):
            names = [name for name in ("contrastive_plus", "matching_plus") if any(name in row for row in records)]
            for name, (colour, marker, line) in zip(names, cycle(SERIES)):
                points = [(row["step"], row[name]) for row in records if name in row]
                axis.plot(
                    *zip(*points),
                    color=colour,
                    linestyle=line,
                    marker=marker,
                    markersize=3,
                    markevery=max(1, len(points) // 8),
                    label=name.replace("_plus", ", hard negatives"),
                )
            axis.set_title(stage)
            axis.locator_params(axis="x", integer=True)
            axis.set_xlabel("step")
            axis.set_ylabel("loss")
            axis.legend(fontsize=8)
