"""Training curves: retrieval models by epoch, the evaluator by step."""

import os
from collections.abc import Iterable, Mapping
from itertools import cycle

from verified.figures.canvas import SERIES, WIDE, direct_labels, drawing
from verified.io.pages import colour_of

NAMES = {"cog": "COG", "fig": "FIG", "fig-lowest": "FIG-lowest"}


def draw_retrieval(logs: Mapping[tuple[str, str], list[dict]], paths: Iterable[str | os.PathLike]) -> None:
    """Loss and selection metric, a row per model, a line per training corpus.

    `logs` are the records of the first seed by (model, trained on). Epochs without a test on the selection split have
    no point in the right picture.
    """
    models = list(dict.fromkeys(model for model, _ in logs))
    with drawing(paths, WIDE + 1, 3.6 * len(models)) as figure:
        axes = figure.subplots(len(models), 2, squeeze=False)
        for (loss, selection), model in zip(axes, models):
            ends: dict[int, dict[str, tuple[float, float, str]]] = {0: {}, 1: {}}
            runs = [(trained, records) for (name, trained), records in logs.items() if name == model]
            for (trained, records), (_, marker, line) in zip(runs, cycle(SERIES)):
                name = NAMES.get(trained, trained)
                colour = colour_of(name)
                style = {
                    "color": colour,
                    "linestyle": line,
                    "marker": marker,
                    "markevery": max(1, len(records) // 8),
                }
                loss.plot([row["epoch"] for row in records], [row["total"] for row in records], **style)
                tested = [row for row in records if row.get("selection") is not None]
                selection.plot([row["epoch"] for row in tested], [row["selection"] for row in tested], **style)
                for number, (key, listed) in enumerate((("total", records), ("selection", tested))):
                    if listed:
                        ends[number][name] = (listed[-1]["epoch"], listed[-1][key], colour)
            loss.set_ylabel(f"{model}: loss")
            selection.set_ylabel("selection, points")
            for number, axis in enumerate((loss, selection)):
                axis.set_xlabel("epoch")
                direct_labels(axis, ends[number])
        rows = [
            (model, NAMES.get(trained, trained), row["epoch"], row["total"], row.get("selection"))
            for (model, trained), records in logs.items()
            for row in records
        ]
        summary = f"Loss, and the selection metric of {', '.join(models)}, over epochs"
        figure.describe(summary, ("model", "trained on", "epoch", "loss", "selection"), rows)


def draw_evaluator(stages: Mapping[str, list[dict]], paths: Iterable[str | os.PathLike]) -> None:
    """The evaluator's losses (Equations 9 and 10) by step, a picture per stage of its training."""
    with drawing(paths, max(8.0, 6.6 * len(stages)), 4.6) as figure:
        rows = []
        axes = figure.subplots(1, len(stages), squeeze=False)[0]
        for axis, (stage, records) in zip(axes, stages.items()):
            names = [name for name in ("contrastive_plus", "matching_plus") if any(name in row for row in records)]
            ends = {}
            for name, (colour, marker, line) in zip(names, cycle(SERIES)):
                points = [(row["step"], row[name]) for row in records if name in row]
                axis.plot(
                    *zip(*points),
                    color=colour,
                    linestyle=line,
                    marker=marker,
                    markevery=max(1, len(points) // 8),
                )
                short = name.removesuffix("_plus")
                ends[short] = (*points[-1], colour)
                rows += [(stage, short, *point) for point in points]
            axis.set_title(stage)
            axis.locator_params(axis="x", integer=True)
            axis.set_xlabel("step")
            axis.set_ylabel("loss, with hard negatives")
            direct_labels(axis, ends)
        summary = f"Losses of the evaluator over steps of {' and '.join(stages) or 'no training'}"
        figure.describe(summary, ("stage", "loss", "step", "value"), rows)
