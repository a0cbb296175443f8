"""Runs without training: their names in paths and tables, and what their metrics say of the test."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from verified.benchmark.vcmr.results import SETTINGS
from verified.config import Config
from verified.config.folders import dataset_of, shown_datasets
from verified.config.params import deciding
from verified.extension import Run
from verified.features.paths import CAPTIONS
from verified.tables.layout import UNTRAINED
from verified_field.config import Rows

DENSE = "dense"
"""Who ranks by vectors in the place of a model."""
GROUNDED, RERANKED = "grounded", "reranked"
"""Endings of the names of first stages followed by a video LMM."""


def first_stage(model: str) -> str:
    """The model whose lists a video LMM refined; the model itself without one."""
    return model.removesuffix(f"-{RERANKED}").removesuffix(f"-{GROUNDED}")


def runs(settings: Config) -> list[Run]:
    """The tests by vectors, then all that a video LMM makes of first stages."""
    shown = shown_datasets(settings, "has_videos")
    dense = [Run(dataset, DENSE, UNTRAINED, 0) for dataset in shown if settings.section(Rows).dense]
    return [*dense, *follow_up_runs(settings)]


def follow_up_runs(settings: Config) -> list[Run]:
    """All that a video LMM makes of first stages."""
    return [
        Run(dataset, model, trained, seed)
        for dataset in shown_datasets(settings, "has_videos")
        for model, trained, seeds in follow_ups(settings)
        for seed in seeds
    ]


def annotations_tested(settings: Config) -> Callable[[object], str]:
    """An input function: the annotations that whoever was not trained is tested on."""

    def file(wildcards) -> str:
        split = dataset_of(settings, wildcards).spans.test_split
        return f"results/{wildcards.dataset}/annotations/{CAPTIONS[wildcards.tested_on][0]}/{split}.jsonl"

    return file


def dense_facts(settings: Config) -> Callable[[object], dict[str, Any]]:
    """A params function: what the metrics of vectors say of the test."""

    def facts(wildcards) -> dict[str, Any]:
        spans = dataset_of(settings, wildcards).spans
        embed = settings.generation.embed
        values = {"embed": embed and deciding(embed), "spans": spans.model_dump(mode="json")}
        return {
            "model": DENSE,
            "trained_on": UNTRAINED,
            "tested_on": wildcards.tested_on,
            "seed": 0,
            "split": spans.test_split,
            SETTINGS: hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest(),
        }

    return facts


def follow_facts(settings: Config, step: str) -> Callable[[object], dict[str, Any]]:
    """A params function: what the metrics of `step`, grounder or reranker, say of the test; all that it depends on."""
    ending = {"grounder": GROUNDED, "reranker": RERANKED}[step]
    generation = settings.generation

    def facts(wildcards) -> dict[str, Any]:
        spans = dataset_of(settings, wildcards).spans
        values = {
            "video_lmm": deciding(generation.video_lmm),
            "rerank": generation.rerank and deciding(generation.rerank),
            "attempts": generation.attempts,
            "frame_side": generation.frame_side,
            "step": getattr(settings.section(Rows), step).model_dump(mode="json", exclude={"first_stages"}),
            "spans": spans.model_dump(mode="json"),
            "seed": settings.seed,
        }
        return {
            "model": f"{wildcards.first}-{ending}",
            "trained_on": wildcards.trained_on,
            "tested_on": wildcards.tested_on,
            "seed": int(wildcards.seed),
            "split": spans.test_split,
            SETTINGS: hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest(),
        }

    return facts


def follow_ups(settings: Config) -> list[tuple[str, str, tuple[int, ...]]]:
    """(model, trained on, seeds) of all that a video LMM makes of first stages."""
    section = settings.section(Rows)
    named = [f"{first}-{GROUNDED}" for first in section.grounder.first_stages]
    named += [f"{first}-{RERANKED}" for first in section.reranker.first_stages]
    found = []
    for name in named:
        first = first_stage(name)
        dense = first == DENSE
        found.append((name, UNTRAINED if dense else "fig", (0,) if dense else settings.retrieval.seeds_of(first)))
    return found
