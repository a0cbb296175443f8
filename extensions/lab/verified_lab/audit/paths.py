"""Inputs of the rules of the audit."""

from collections.abc import Callable

from verified.annotations.paths import annotation_files
from verified.benchmark.vcmr.paths import possible_runs
from verified.config import Config, outputs
from verified.config.folders import dataset_of
from verified.runtime.wildcards import OfDataset, key_of, shard_names
from verified.tables.layout import runs
from verified_lab.config import Audit

ASKED = "fig"
"""Captions that grounders of the audit are trained and tested on."""


def audit_limits(settings: Config) -> dict:
    """The limits of the audit, plain; the defaults where the configuration has none."""
    return (settings.section(Audit) or Audit()).model_dump(mode="json")


def audit_inputs(settings: Config) -> Callable[[OfDataset], dict[str, list[str]]]:
    """An input function: annotations of ``wildcards.dataset``, answers to them, and hashes of videos at hand."""
    annotations = annotation_files(settings, ASKED)

    def files(wildcards: OfDataset) -> dict[str, list[str]]:
        here = dataset_of(settings, wildcards).source.annotated_here
        folder = f"results/{wildcards.dataset}/corpus/hashes"
        hashes = [f"{folder}/{shard}.json" for shard in shard_names(settings.shards)] if here else []
        return {
            "annotations": annotations(wildcards),
            "submissions": _submissions(settings, wildcards),
            "hashes": hashes,
        }

    return files


def _submissions(settings: Config, wildcards: OfDataset) -> list[str]:
    key = key_of(wildcards.dataset)
    return [
        f"{outputs.training(f'results/{wildcards.dataset}', model, trained, seed)}/{tested}/submission.json.gz"
        for model, trained, tested in possible_runs(settings, key, runs(settings.retrieval.models))
        if trained == tested == ASKED
        for seed in settings.retrieval.seeds_of(model)
    ]


def audit_submissions(settings: Config) -> Callable[[OfDataset], list[str]]:
    """An input function: the answers of every training to the test split of ``wildcards.dataset``."""
    return lambda wildcards: _submissions(settings, wildcards)


def test_split(settings: Config) -> Callable[[OfDataset], str]:
    """A params function: the split that grounders answer."""
    return lambda wildcards: dataset_of(settings, wildcards).spans.test_split
