"""Which files and settings the retrieval rules need, by wildcards."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from verified.benchmark.vcmr.registry import is_two_stage, model_names
from verified.config import Config, outputs
from verified.config.features import EMBED
from verified.config.folders import dataset_of, dataset_pattern, datasets_with
from verified.config.params import deciding
from verified.config.retrieval import model_module
from verified.corpus.splits import HELD_OUT
from verified.features.paths import CAPTIONS
from verified.runtime.digest import modules_digest
from verified.runtime.resources import CRITICAL_PATH
from verified.runtime.wildcards import key_of

WHERE = ("memory_mb", "device", "threads")
"""Settings that say where a training runs, and with how much at once."""


def model_code(wildcards) -> str:
    """A params function: digest of the code of ``wildcards.model``, which imports cannot tell."""
    name = getattr(wildcards, "model", "xml")
    return modules_digest(model_module(name))


def training_inputs(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: features, annotations and, for two-stage models, ranked lists that training reads."""

    def files(wildcards) -> dict[str, str]:
        inputs = _training_files(settings, wildcards)
        if is_two_stage(wildcards.model):
            inputs["ranked"] = f"{_training_of_xml(wildcards)}/ranked-train.h5"
        return inputs

    return files


def _training_of_xml(wildcards) -> str:
    return outputs.training(f"results/{wildcards.dataset}", "xml", wildcards.trained_on, wildcards.seed)


def ranking_inputs(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: what XML's ranked lists for training and selection are made from, beside its checkpoint."""
    return lambda wildcards: _training_files(settings, wildcards)


def _training_files(settings: Config, wildcards) -> dict[str, str]:
    spans = dataset_of(settings, wildcards).spans
    root = f"results/{wildcards.dataset}"
    folder = f"{root}/annotations/{CAPTIONS[wildcards.trained_on][0]}"
    selection = spans.train_split if held_out_share(settings, key_of(wildcards.dataset)) else spans.selection_split
    return {
        "video": outputs.video_features(root),
        "text": outputs.text_features(root, wildcards.trained_on),
        "train": f"{folder}/{spans.train_split}.jsonl",
        "selection": f"{folder}/{selection}.jsonl",
    }


def held_out_share(settings: Config, dataset: str) -> float:
    """Share of the train file's videos that models are selected on; 0 where the selection split has its own file.

    Corpora that the workflow annotates are divided before that; published annotations come without such a split.
    """
    described = settings.datasets[dataset]
    divided = not described.source.annotated_here and described.spans.selection_split == HELD_OUT
    return described.spans.held_out_share if divided else 0.0


def possible_runs(settings: Config, dataset: str, runs: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Those of `runs` (model, trained on, tested on) that the data set's source has captions and features for."""
    source = settings.datasets[dataset].source
    if source.annotated_here:
        return runs
    if source.given_features is None:
        return []
    return [run for run in runs if "fig-lowest" not in run]


def released_features(settings: Config) -> Callable[[object], str]:
    """An input function: the given file of ``wildcards.features`` ("video", "text-cog" or "text-fig")."""

    def file(wildcards) -> str:
        return f"{dataset_of(settings, wildcards).source.given_features}/{wildcards.features}.h5"

    return file


def featured_datasets(settings: Config) -> str:
    """A wildcard constraint: data sets whose features are given; it matches nothing if there are none."""
    return dataset_pattern(settings, datasets_with(settings, "given_features"))


def testing_inputs(settings: Config) -> Callable[[object], dict[str, str]]:
    """An input function: features, annotations and, for two-stage models, ranked lists that testing reads."""

    def files(wildcards) -> dict[str, str]:
        spans = dataset_of(settings, wildcards).spans
        root = f"results/{wildcards.dataset}"
        inputs = {
            "video": outputs.video_features(root),
            "text": outputs.text_features(root, wildcards.tested_on),
            "test": f"{root}/annotations/{CAPTIONS[wildcards.tested_on][0]}/{spans.test_split}.jsonl",
        }
        if is_two_stage(getattr(wildcards, "model", "xml")):
            inputs["ranked"] = f"{_training_of_xml(wildcards)}/{wildcards.tested_on}/ranked-test.h5"
        return inputs

    return files


def trained_captions(wildcards) -> str:
    """A params function: the captions that a run is trained on."""
    return wildcards.trained_on


def tested_captions(wildcards) -> str:
    """A params function: the captions that a run is tested on."""
    return wildcards.tested_on


def training_priority(settings: Config) -> Callable[[Any], int]:
    """A priority function: XML is trained first where two-stage models wait for its ranked lists."""
    waited_for = any(is_two_stage(name) for name in settings.retrieval.models)
    return lambda wildcards: CRITICAL_PATH if waited_for and wildcards.model == "xml" else CRITICAL_PATH - 1


def training_settings(settings: Config) -> Callable[[Any], dict]:
    """A params function: what training of ``wildcards.model`` depends on."""

    return lambda wildcards: _training_values(settings, key_of(wildcards.dataset), wildcards.model)


def _training_values(settings: Config, dataset: str, model: str) -> dict:
    changes = settings.retrieval.training.get(model)
    return {
        **search_values(settings, dataset),
        "recipe": {}
        if changes is None
        else changes.model_dump(mode="json", exclude={"options", "seeds"}, exclude_none=True),
        "options": {} if changes is None else dict(changes.options),
        "precision": settings.retrieval.precision,
        "seed": settings.seed,
    }


def settings_digest(settings: Config) -> Callable[[object], str]:
    """A params function: SHA-256 of the settings behind a training of ``wildcards.model`` and its test.

    It goes into the metrics, so that trainings of different settings are not taken together (see `alike`). What says
    only where a training runs is left out; of a two-stage model, XML's settings are a part.
    """

    def digest(wildcards) -> str:
        models = ("xml", wildcards.model) if is_two_stage(wildcards.model) else (wildcards.model,)
        values = [_training_values(settings, key_of(wildcards.dataset), model) for model in models]
        kept = [{key: value for key, value in one.items() if key not in WHERE} for one in values]
        features = settings.features
        kept.append({"video": [features.video_backbone, features.video_revision, features.fps]})
        if features.text_encoder == EMBED and settings.generation.embed:
            kept.append({"text": deciding(settings.generation.embed)})
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()

    return digest


def search_settings(settings: Config) -> Callable[[Any], dict]:
    """A params function: what the search in a data set depends on."""
    return lambda wildcards: search_values(settings, key_of(wildcards.dataset))


def search_values(settings: Config, dataset: str) -> dict:
    """What the search in the data set of this key depends on."""
    retrieval = settings.retrieval
    return {
        "spans": settings.datasets[dataset].spans.model_dump(mode="json"),
        "text_encoder": settings.features.text_encoder,
        "text_revision": settings.features.text_revision,
        "held_out_share": held_out_share(settings, dataset),
        "external_score": retrieval.external_score,
        "feature_cast": retrieval.feature_cast
        or ("official" if settings.datasets[dataset].source.given_features else "float32"),
        "searched_videos": retrieval.searched_videos,
        "training_list_videos": retrieval.training_list_videos,
        "memory_mb": retrieval.memory_mb,
        "device": retrieval.device,
        "threads": retrieval.threads,
        # Named where it is not what it always was, so that earlier trainings keep their settings.
        **({} if retrieval.padding == "context" else {"padding": retrieval.padding}),
    }


def model_pattern() -> str:
    """Wildcard constraint: the models that have a file."""
    return "|".join(model_names())
