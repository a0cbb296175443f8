"""Runs without training: their names in paths and tables, and the facts of their tests in metrics."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from verified.annotations.splits import annotation_file
from verified.benchmark.vcmr.results import SETTINGS
from verified.config import Config
from verified.config.features import CAPTIONS
from verified.config.folders import dataset_of, shown_datasets
from verified.config.params import deciding
from verified.extension import AddedRow, Run
from verified.runtime.wildcards import key_of
from verified.tables.layout import UNTRAINED
from verified_field.config import Rows

DENSE = "dense"
"""Who ranks by vectors in the place of a model."""
GROUNDED, RERANKED = "grounded", "reranked"
"""Endings of the names of first stages followed by a video LMM."""


def first_stage(model: str) -> str:
    """The model whose lists a video LMM refined; the model itself without one."""
    return model.removesuffix(f"-{RERANKED}").removesuffix(f"-{GROUNDED}")


def _dense_runs(settings: Config) -> list[Run]:
    datasets = shown_datasets(settings, "has_videos")
    return [Run(dataset, DENSE, UNTRAINED, 0) for dataset in datasets if settings.section(Rows).dense]


def follow_up_runs(settings: Config) -> list[Run]:
    """All that a video LMM makes of first stages."""
    return [
        Run(dataset, model, trained, seed)
        for dataset in shown_datasets(settings, "has_videos")
        for model, trained, seeds in follow_ups(settings)
        for seed in seeds
    ]


def _runs_of(ending: str) -> Callable[[Config], list[Run]]:
    return lambda settings: [run for run in follow_up_runs(settings) if run.model.endswith(ending)]


ROWS = (
    AddedRow(DENSE, "dense, zero-shot", _dense_runs),
    AddedRow(f"{{}}-{GROUNDED}", "{} + LMM spans", _runs_of(f"-{GROUNDED}")),
    AddedRow(f"{{}}-{RERANKED}", "{} + re-ranker", _runs_of(f"-{RERANKED}")),
)


def annotations_tested(settings: Config, wildcards) -> str:
    """The annotations that untrained models are tested on."""
    split = dataset_of(settings, wildcards).spans.test_split
    return annotation_file(settings, key_of(wildcards.dataset), CAPTIONS[wildcards.tested_on][0], split)


def dense_facts(settings: Config, wildcards) -> dict[str, Any]:
    """Facts of the test of vectors, for its metrics."""
    spans, embed = dataset_of(settings, wildcards).spans, settings.generation.embed
    values = {"embed": embed and deciding(embed), "spans": spans.model_dump(mode="json")}
    return _facts(values, DENSE, UNTRAINED, wildcards.tested_on, 0, spans.test_split)


def follow_facts(settings: Config, step: str, wildcards) -> dict[str, Any]:
    """Facts of the test of `step`, grounder or reranker, for its metrics: everything that it depends on."""
    spans, generation = dataset_of(settings, wildcards).spans, settings.generation
    values = {
        "video_lmm": deciding(generation.video_lmm),
        "attempts": generation.attempts,
        "frame_side": generation.frame_side,
        "step": getattr(settings.section(Rows), step).model_dump(mode="json", exclude={"first_stages"}),
        "spans": spans.model_dump(mode="json"),
        "seed": settings.seed,
    }
    model = f"{wildcards.first}-{GROUNDED if step == 'grounder' else RERANKED}"
    return _facts(values, model, wildcards.trained_on, wildcards.tested_on, int(wildcards.seed), spans.test_split)


def _facts(values: dict, model: str, trained_on: str, tested_on: str, seed: int, split: str) -> dict[str, Any]:
    return {
        "model": model,
        "trained_on": trained_on,
        "tested_on": tested_on,
        "seed": seed,
        "split": split,
        SETTINGS: hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest(),
    }


def follow_ups(settings: Config) -> list[tuple[str, str, tuple[int, ...]]]:
    """(model, trained on, seeds) of all that a video LMM makes of first stages."""
    section = settings.section(Rows)
    named = [f"{first}-{GROUNDED}" for first in section.grounder.first_stages]
    named += [f"{first}-{RERANKED}" for first in section.reranker.first_stages]
    stages = []
    for name in named:
        first = first_stage(name)
        dense = first == DENSE
        stages.append((name, UNTRAINED if dense else "fig", (0,) if dense else settings.retrieval.seeds_of(first)))
    return stages
