"""Models of the hub that a configuration needs, with the keys that name them, and the paths of their records."""

import re
from collections.abc import Callable
from pathlib import Path

from verified.config import Config
from verified.config.folders import home
from verified.config.roles import asked_roles
from verified.extension import stages
from verified.weights.records import Wanted, is_from_hub, wanted_by_role


def initial_weights(settings: Config, model: str) -> str:
    """The model whose weights initialise a retrieval model (its option `roberta`); empty for random initialisation."""
    training = settings.retrieval.training.get(model)
    return str(training.options.get("roberta", "")) if training and model in settings.retrieval.models else ""


def wanted_models(settings: Config) -> dict[Wanted, list[str]]:
    """Models of the hub → the configuration's keys that name them."""
    roles = asked_roles(settings).items()
    named = [(wanted_by_role(role), f"generation.{name}.model") for name, role in roles]
    features = settings.features
    for name, revision, key in (
        (features.video_backbone, features.video_revision, "features.video_backbone"),
        (features.text_encoder, features.text_revision, "features.text_encoder"),
        (settings.generation.sentence_encoder, settings.generation.sentence_revision, "generation.sentence_encoder"),
    ):
        named.append((Wanted(name, revision) if is_from_hub(name) else None, key))
    if settings.annotations.choose_by == "agreement":
        agreeing = Wanted(settings.annotations.joint_encoder, settings.annotations.joint_revision)
        named.append((agreeing if is_from_hub(agreeing.name) else None, "annotations.joint_encoder"))
    for name, revision, key in (model for stage in stages() for model in stage.models(settings)):
        named.append((Wanted(name, revision) if is_from_hub(name) else None, key))
    for model in settings.retrieval.models:
        if (start := initial_weights(settings, model)) and is_from_hub(start):
            named.append((Wanted(start), f"retrieval.training.{model}.model.roberta"))
    keys: dict[Wanted, list[str]] = {}
    for wanted, key in named:
        if wanted:
            keys.setdefault(wanted, []).append(key)
    return keys


def record_file(settings: Config, wanted: Wanted) -> str:
    """The record of one model."""
    return f"{home(settings)}/weights/{wanted.slug}.json"


def role_records(settings: Config, *roles: str) -> list[str]:
    """The records of the models that roles of text generation load from the hub."""
    given = settings.generation.roles()
    models = {model for role in roles if role in given and (model := wanted_by_role(given[role]))}
    return [record_file(settings, wanted) for wanted in sorted(models)]


def sentence_records(settings: Config) -> list[str]:
    """The record of the sentence encoder."""
    return model_records(settings, settings.generation.sentence_encoder, settings.generation.sentence_revision)


def video_records(settings: Config) -> list[str]:
    """The record of the image backbone."""
    return model_records(settings, settings.features.video_backbone, settings.features.video_revision)


def text_records(settings: Config) -> list[str]:
    """The record of the text encoder."""
    return model_records(settings, settings.features.text_encoder, settings.features.text_revision)


def agreement_records(settings: Config) -> list[str]:
    """The records of the sentence encoder and of the joint encoder that agreement compares candidates by."""
    joint = model_records(settings, settings.annotations.joint_encoder, settings.annotations.joint_revision)
    return sorted({*sentence_records(settings), *joint})


def retrieval_records(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the records behind a training of ``wildcards.model``."""

    def files(wildcards) -> list[str]:
        start = initial_weights(settings, wildcards.model)
        return sorted({*text_records(settings), *(model_records(settings, start, "") if start else ())})

    return files


def model_records(settings: Config, name: str, revision: str) -> list[str]:
    """The record of a hub model as a list; empty if the model is built in or a folder."""
    return [record_file(settings, Wanted(name, revision))] if is_from_hub(name) else []


def umt_stem(settings: Config) -> str:
    """A wildcard constraint: UMT's checkpoint without its ending; it matches nothing if none is configured."""
    file = settings.evaluator.umt_file
    return re.escape(str(Path(file).with_suffix(""))) if file else "(?!)"
