"""Files and settings of the jobs that train and test retrieval models, by their wildcards."""

import hashlib
import json
from collections.abc import Iterable

from verified.annotations.splits import annotation_file, finest_captions
from verified.benchmark.vcmr.registry import SECOND_STREAM, is_two_stage, reads_second_stream
from verified.config import Config
from verified.config.features import CAPTIONS
from verified.config.folders import dataset_of
from verified.config.params import deciding
from verified.config.retrieval import Training, model_module
from verified.corpus.splits import HELD_OUT
from verified.errors import InputError
from verified.layout import Layout
from verified.runtime.digest import modules_digest
from verified.runtime.resources import CRITICAL_PATH
from verified.runtime.wildcards import key_of

PLACEMENT = ("memory_mb", "device", "threads")
"""Settings that say where a training runs, and with how much at once."""
SEARCHED = (*PLACEMENT, "padding", "searched_videos")
CLIPS = ("clip_seconds", "max_pred_clips", "min_pred_clips")
"""Fields of `Retrieval` and of `Spans` that each search depends on."""
TEXT_ENCODER = ("text_encoder", "text_revision")


def model_code(wildcards) -> str:
    """A params function: digest of the code of ``wildcards.model``, which imports cannot tell."""
    name = getattr(wildcards, "model", "xml")
    return modules_digest(model_module(name))


def training_inputs(settings: Config, wildcards) -> dict[str, str]:
    """Features, annotations and, for two-stage models, ranked lists that training reads."""
    inputs = ranking_inputs(settings, wildcards)
    if is_two_stage(wildcards.model):
        inputs["ranked"] = f"{_training_of_xml(settings, wildcards)}/ranked-train.h5"
    return inputs


def _training_of_xml(settings: Config, wildcards) -> str:
    seed, trained_on = wildcards.seed, wildcards.trained_on
    return Layout(settings).path(Layout.training, wildcards.dataset, model="xml", trained_on=trained_on, seed=seed)


def ranking_inputs(settings: Config, wildcards) -> dict[str, str]:
    """Inputs of XML's ranked lists for training and selection, without its checkpoint."""
    spans, trained_on = dataset_of(settings, wildcards).spans, wildcards.trained_on
    selection = spans.train_split if held_out_share(settings, key_of(wildcards.dataset)) else spans.selection_split
    return {
        **_features(settings, wildcards, trained_on),
        "train": _annotations(settings, wildcards.dataset, trained_on, spans.train_split),
        "selection": _annotations(settings, wildcards.dataset, trained_on, selection),
    }


def testing_inputs(settings: Config, wildcards) -> dict[str, str]:
    """Features, annotations and, for two-stage models, ranked lists that testing reads."""
    split, tested_on = dataset_of(settings, wildcards).spans.test_split, wildcards.tested_on
    inputs = {
        **_features(settings, wildcards, tested_on),
        "test": _annotations(settings, wildcards.dataset, tested_on, split),
    }
    if is_two_stage(getattr(wildcards, "model", "xml")):
        inputs["ranked"] = f"{_training_of_xml(settings, wildcards)}/{tested_on}/ranked-test.h5"
    return inputs


def _features(settings: Config, wildcards, captions: str) -> dict[str, str]:
    model, dataset = getattr(wildcards, "model", "xml"), wildcards.dataset
    layout = Layout(settings)
    text = layout.path(layout.text_features, dataset, captions=captions)
    video = {"video": layout.path(layout.video_features, dataset), "text": text}
    if reads_second_stream(model):
        video["second"] = layout.path(layout.second_features, dataset)
    return video


def _annotations(settings: Config, dataset: str, captions: str, split: str) -> str:
    return annotation_file(settings, key_of(dataset), CAPTIONS[captions][0], split)


def held_out_share(settings: Config, dataset: str) -> float:
    """Share of the train file's videos for model selection; 0 if the selection split has its own file.

    Corpora annotated by the workflow are divided earlier; published annotations come without such a split.
    """
    described = settings.datasets[dataset]
    divided = not described.source.annotated_here and described.spans.selection_split == HELD_OUT
    return described.spans.held_out_share if divided else 0.0


def possible_runs(settings: Config, dataset: str, runs: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Select the `runs` (model, trained on, tested on) that the data set's source has captions and features for.

    Where it has coarse captions alone, each model is trained and tested on these.
    """
    source = settings.datasets[dataset].source
    if not source.has_second_stream:
        runs = [run for run in runs if not reads_second_stream(run[0])]
    if source.annotated_here:
        return runs
    if source.given_features is None:
        return []
    if finest_captions(settings, dataset) == "cog":
        return sorted({(model, "cog", "cog") for model, _, _ in runs})
    return [run for run in runs if "fig-lowest" not in run]


def check_second_streams(settings: Config) -> None:
    """Raise InputError if a model reads a second stream and no data set has one, or the other way round."""
    readers = list(filter(reads_second_stream, settings.retrieval.names))
    having = [name for name, described in settings.datasets.items() if described.source.has_second_stream]
    if readers and not having:
        message = f"retrieval.models: {readers[0]} reads a second stream of video features, which no data set has"
        raise InputError(message, remedy=SECOND_STREAM)
    if having and not readers:
        message = f"datasets.{having[0]}.source.second_stream: no model of retrieval.models reads it"
        raise InputError(message, remedy="add one with second_stream = True (docs/adding.md), or leave the key out")


def run_folders(settings: Config, dataset: str, run: tuple[str, str, str]) -> list[str]:
    """Folders of the tests of one of `possible_runs`, by seed."""
    model, trained_on, tested_on = run
    layout, values = Layout(settings), {"model": model, "trained_on": trained_on, "tested_on": tested_on}
    return [layout.path(layout.test, dataset, **values, seed=seed) for seed in settings.retrieval.seeds_of(model)]


def training_priority(settings: Config, wildcards) -> int:
    """XML is trained first where two-stage models wait for its ranked lists."""
    waited_for = any(is_two_stage(name) for name in settings.retrieval.names)
    return CRITICAL_PATH if waited_for and wildcards.model == "xml" else CRITICAL_PATH - 1


def training_settings(settings: Config, wildcards, model: str = "") -> dict:
    """Settings that training of ``wildcards.model``, or of another `model`, depends on."""
    dataset = key_of(wildcards.dataset)
    training = settings.retrieval.training.get(model or wildcards.model, Training())
    return {
        **search_settings(settings, dataset, ("external_score", "precision"), ("max_context_clips",)),
        "features": deciding(settings.features, TEXT_ENCODER),
        "training": deciding(training, Training.model_fields.keys() - {"seeds"}),
        "held_out_share": held_out_share(settings, dataset),
        "seed": settings.seed,
    }


def ranking_settings(settings: Config, dataset: str) -> dict:
    """Settings that XML's ranked lists in the data set of this key depend on."""
    lists = search_settings(settings, dataset, ("training_list_videos",))
    return {**lists, "held_out_share": held_out_share(settings, dataset)}


def testing_settings(settings: Config, dataset: str) -> dict:
    """Settings that tests in the data set of this key depend on."""
    reported = ("nms_threshold", "selection_split", "test_split")
    test = search_settings(settings, dataset, ("external_score",), reported)
    return {**test, "features": deciding(settings.features, TEXT_ENCODER)}


def search_settings(
    settings: Config, dataset: str, of_retrieval: Iterable[str] = (), of_spans: Iterable[str] = ()
) -> dict:
    """Settings that any search in the data set of this key depends on, and further fields of two sections."""
    described, retrieval = settings.datasets[dataset], settings.retrieval
    return {
        "retrieval": deciding(retrieval, {*SEARCHED, *of_retrieval}),
        "spans": deciding(described.spans, {*CLIPS, *of_spans}),
        "feature_cast": retrieval.feature_cast or ("official" if described.source.given_features else "float32"),
    }


def settings_digest(settings: Config, wildcards) -> str:
    """SHA-256 of the settings behind a training of ``wildcards.model`` and its test.

    It goes into the metrics, so that trainings of different settings are not averaged (see `alike`). Settings that only
    place a training on a machine are excluded; a two-stage model includes XML's settings.
    """
    dataset, model = key_of(wildcards.dataset), wildcards.model
    values = [training_settings(settings, wildcards), testing_settings(settings, dataset)]
    if is_two_stage(model):
        values += [training_settings(settings, wildcards, "xml"), ranking_settings(settings, dataset)]
    relevant: list[object] = [
        {**part, "retrieval": {name: value for name, value in part["retrieval"].items() if name not in PLACEMENT}}
        for part in values
    ]
    features = settings.features
    relevant.append({"video": [features.video_backbone, features.video_revision, features.fps]})
    return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()
