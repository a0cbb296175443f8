"""Files behind the models that a configuration names: records of those of the hub, and folders."""

import re
from pathlib import Path

from verified.config import Config
from verified.config.folders import home
from verified.weights.records import BUILT_IN, Wanted, is_from_hub, wanted_by_role


def initial_weights(settings: Config, model: str) -> str:
    """The model whose weights initialise a retrieval model (its option `roberta`); empty for random initialisation."""
    training = settings.retrieval.training.get(model)
    return str(training.options.get("roberta", "")) if training and model in settings.retrieval.names else ""


def record_file(settings: Config, model: Wanted) -> str:
    """The record of one model."""
    return f"{home(settings)}/weights/{model.slug}.json"


def role_records(settings: Config, *roles: str) -> list[str]:
    """The records of the models that roles of text generation load from the hub."""
    by_role = settings.generation.roles()
    models = {model for role in roles if role in by_role and (model := wanted_by_role(by_role[role]))}
    return [record_file(settings, model) for model in sorted(models)]


def sentence_records(settings: Config) -> list[str]:
    """The record of the sentence encoder."""
    return model_records(settings, *settings.generation.sentence_model)


def video_records(settings: Config) -> list[str]:
    """The record of the image backbone."""
    return model_records(settings, settings.features.video_backbone, settings.features.video_revision)


def text_records(settings: Config) -> list[str]:
    """The record of the text encoder."""
    return model_records(settings, settings.features.text_encoder, settings.features.text_revision)


def agreement_records(settings: Config) -> list[str]:
    """The records of the sentence encoder and of the joint encoder that agreement compares candidates by."""
    return sorted({*sentence_records(settings), *model_records(settings, *settings.annotations.joint_model)})


def retrieval_records(settings: Config, wildcards) -> list[str]:
    """The records behind a training of ``wildcards.model``."""
    start = initial_weights(settings, wildcards.model)
    return sorted({*text_records(settings), *(model_records(settings, start, "") if start else ())})


def model_records(settings: Config, name: str, revision: str) -> list[str]:
    """The record of a hub model as a list, or the model itself if it is a folder; empty if it is built in."""
    if is_from_hub(name):
        return [record_file(settings, Wanted(name, revision))]
    return [name] if name not in BUILT_IN and Path(name).is_dir() else []


def umt_stem(settings: Config) -> str:
    """A wildcard constraint: UMT's checkpoint without its suffix; it matches nothing if none is configured."""
    file = settings.evaluator.umt_file
    return re.escape(str(Path(file).with_suffix(""))) if file else "(?!)"
