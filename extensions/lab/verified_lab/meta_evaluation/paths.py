"""Inputs of the rules on judged captions."""

from collections.abc import Callable

from verified.config import Config, outputs
from verified.config.folders import dataset_of
from verified.runtime.wildcards import OfDataset


def judged_by(settings: Config) -> Callable[[OfDataset], dict[str, list[str]]]:
    """An input function: the source of right and wrong captions of ``wildcards.dataset``."""

    def files(wildcards: OfDataset) -> dict[str, list[str]]:
        if not dataset_of(settings, wildcards).source.has_truth:
            return {"review": list(settings.annotations.review)}
        folder = f"results/{wildcards.dataset}"
        return {"truth": [outputs.truth(folder)], "corrupted": outputs.corrupted(folder, settings.shards)}

    return files
