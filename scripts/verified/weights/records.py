"""Records of fetched models: their paths, and what jobs read from them alone, each model's folder and commit."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from verified.config import Config
from verified.config.folders import home
from verified.config.generation import EngineSettings, Generation
from verified.errors import InputError
from verified.io.jsonl import read_json
from verified.weights.lock import read_lock
from verified.weights.wanted import Wanted, initial_weights, is_from_hub, wanted_by_role


def read_records(paths: Iterable[str | Path]) -> dict[Wanted, dict]:
    """Records by model. Raises InputError for a record whose folder does not exist."""
    records = {}
    for path in paths:
        record = read_json(path)
        if not Path(record["folder"]).is_dir():
            raise InputError(
                f"{record['model']} is gone from {record['folder']}",
                file=path,
                remedy=f"fetch it again: remove {path} and run the workflow",
            )
        records[Wanted(record["model"], record["revision"])] = record
    return records


def locate_models(generation: Generation, paths: Iterable[str | Path]) -> Generation:
    """The same settings with every role of a hub model at its folder and commit, as its record among `paths` says."""
    records = read_records(paths)

    def placed(role: EngineSettings) -> EngineSettings:
        wanted = wanted_by_role(role)
        record = records.get(wanted) if wanted else None
        return role.model_copy(update={"folder": record["folder"], "revision": record["commit"]}) if record else role

    return generation.model_copy(update={name: placed(role) for name, role in generation.roles().items()})


def source_of(name: str, revision: str, paths: Iterable[str | Path]) -> tuple[str, str]:
    """(model to load, commit) for a model of a configuration: its folder, or its name without a commit if it is built
    in or a folder. Raises InputError for a model of the hub without a record."""
    if not is_from_hub(name):
        return name, ""
    record = read_records(paths).get(Wanted(name, revision))
    if record is None:
        raise InputError(f"{name} was not fetched", remedy="run: verified fetch --configfile CONFIG")
    return record["folder"], record["commit"]


def pin_models(generation: Generation, lock: str | Path) -> Generation:
    """The same settings with the commits of the lock file, to look calls up without loading a model."""
    models = read_lock(lock)["models"]

    def pinned(role: EngineSettings) -> EngineSettings:
        wanted = wanted_by_role(role)
        entry = models.get(wanted.key) if wanted else None
        return role.model_copy(update={"revision": entry["commit"]}) if entry else role

    return generation.model_copy(update={name: pinned(role) for name, role in generation.roles().items()})


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


def published_records(settings: Config) -> Callable[[object], list[str]]:
    """An input function: the record of the text encoder of ``wildcards.published`` (`rextime.published`)."""

    def files(wildcards) -> list[str]:
        given = settings.rextime.published[wildcards.published]
        return model_records(settings, given.text_encoder, given.text_revision)

    return files


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
