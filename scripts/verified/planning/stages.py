"""All stages, in the order of a run: those of the paper's chain, declared here, then those of extensions."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from verified.captions.preflight import ask_captions, frame_findings
from verified.config import Config
from verified.config.evaluator import PRETRAINED
from verified.config.folders import dataset_folder, datasets_with, evaluator_folder
from verified.config.generation import ROLES, EngineSettings
from verified.config.trust import any_confidence_warning
from verified.corpus.preflight import moment_findings, split_problems
from verified.errors import InputError
from verified.extension import added_stages
from verified.io.jsonl import finite, read_jsonl
from verified.layout import Layout
from verified.lmm.preflight import keys_found, role_problems
from verified.lmm.session import Session
from verified.lmm.tasks import Task
from verified.lmm.tasks.paper import TASKS_OF_STAGE
from verified.perturbations.write import ask as ask_perturbations
from verified.stage import Finding, Shard, Stage, Supplied, refused
from verified.weights.fetch import check_umt
from verified.weights.records import Wanted, is_from_hub
from verified.weights.wanted import initial_weights


def stages() -> tuple[Stage, ...]:
    """All stages."""
    return (*CORE, *added_stages())


def roles_in_use(settings: Config) -> dict[str, EngineSettings]:
    """The configured roles that a run may call, by name: not every configuration asks the paper's."""
    roles = {task.role for stage in stages() for task in stage.tasks(settings)}
    return {name: role for name, role in settings.generation.roles().items() if name in roles or name not in ROLES}


def wanted_models(settings: Config) -> dict[Wanted, list[str]]:
    """Models of the hub → the configuration's keys that name them."""
    keys: dict[Wanted, list[str]] = {}
    for name, revision, key in (model for stage in stages() for model in stage.models(settings)):
        if is_from_hub(name):
            keys.setdefault(Wanted(name, revision), []).append(key)
    return keys


def supplied(settings: Config) -> Iterator[Supplied]:
    """All inputs of the user except published annotations, and those that rules write instead."""
    made = {path for stage in stages() for path in stage.makes(settings)}
    return (item for stage in stages() for item in stage.supplied(settings) if item.path not in made)


def check_supplied(settings: Config) -> None:
    """Raise InputError for the first missing input, unless the output made from it exists."""
    for item in supplied(settings):
        if item.made and not Path(item.made).exists() and (missing := item.missing):
            raise InputError(f"{item.key}: {missing}", remedy=item.remedy)


def _of_paper(*stages: str) -> Callable[[Config], tuple[Task, ...]]:
    tasks = tuple(task for stage in stages for task in TASKS_OF_STAGE[stage])
    return lambda settings: tasks if datasets_with(settings, "annotated_here") else ()


# Models that answer.


def _answering_inputs(settings: Config) -> Iterator[Supplied]:
    remedy = "make one with `verified ledger export`"
    for name, role in roles_in_use(settings).items():
        if role.cassette:
            yield Supplied(f"generation.{name}.cassette", role.cassette, remedy=remedy)
        if role.folder:
            yield Supplied(f"generation.{name}.folder", role.folder, is_folder=True)


def _answering_models(settings: Config) -> Iterator[tuple[str, str, str]]:
    for name, role in roles_in_use(settings).items():
        if role.kind.loads_model and not role.folder:
            yield role.model, role.revision, f"generation.{name}.model"


def _answering_gpus(settings: Config) -> dict[str, int]:
    roles = roles_in_use(settings).items()
    return {f"generation.{name}.gpu": role.gpu for name, role in roles if name in ROLES and role.kind.loads_model}


# Corpus.


def _sources(settings: Config) -> Iterator[Supplied]:
    layout = Layout(settings)
    for name in datasets_with(settings, "has_videos"):
        source, key = settings.datasets[name].source, f"datasets.{name}.source"
        made = layout.path(layout.moments, name)
        if source.given_videos is not None:
            yield Supplied(f"{key}.videos", source.given_videos, True, made)
        moments = source.given_moments
        if source.proposes_moments:
            moments = source.files(f"{dataset_folder(settings, name)}/corpus")["moments"]
        if moments is not None:
            yield Supplied(f"{key}.moments", moments, False, made)


# Captions that are perturbed.


def _ask_perturbations(_name: str, _settings: Config, shards: Sequence[Shard], session: Session) -> None:
    for moments, _ in shards:
        ask_perturbations(moments, session)


def _sentence_model(settings: Config) -> Iterator[tuple[str, str, str]]:
    yield *settings.generation.sentence_model, "generation.sentence_encoder"


# Evaluator.


def _evaluator_inputs(settings: Config) -> Iterator[Supplied]:
    evaluator, tuned = settings.evaluator, f"{evaluator_folder(settings)}/checkpoint.safetensors"
    if evaluator.checkpoint and evaluator.checkpoint != PRETRAINED:
        remedy = "convert UMT's file with `verified import umt`, or name that in evaluator.umt_file"
        yield Supplied("evaluator.checkpoint", evaluator.checkpoint, False, tuned, remedy)
    elif evaluator.umt_file and not evaluator.umt_url and not evaluator.checkpoint:
        remedy = "put UMT's checkpoint there, or name its address in evaluator.umt_url"
        yield Supplied("evaluator.umt_file", evaluator.umt_file, False, tuned, remedy)


def _evaluator_problems(settings: Config) -> Iterator[Finding]:
    evaluator = settings.evaluator
    if evaluator.umt_file and not evaluator.checkpoint and evaluator.umt_sha256 and Path(evaluator.umt_file).is_file():
        try:
            check_umt(evaluator, settings.weights.lock)
        except InputError as error:
            yield refused("evaluator.umt_file", error)


# Annotations.


def _choice_findings(settings: Config, _stuck: Collection[str]) -> Iterator[Finding]:
    """Whether confidences can be trusted, and the minimum lies among those of earlier runs."""
    least, key, layout = settings.annotations.min_score, "annotations.min_score", Layout(settings)
    for name in datasets_with(settings, "annotated_here") if least is not None else ():
        files = filter(os.path.isfile, layout.shards(layout.scores, name))
        scores = [row["score"] for path in files for row in read_jsonl(path) if finite(row.get("score"))]
        remedy = "annotations.min_quantile asks for a share of the captions, whatever the scale"
        if not scores:
            yield Finding("note", key, f"{name} has no confidences yet, which are margins without bounds", remedy)
        elif not min(scores) < least <= max(scores):
            message = f"{least:g} is outside the confidences of {name}, {min(scores):.3g} to {max(scores):.3g}"
            yield Finding("problem" if least > max(scores) else "note", key, message, remedy)
    if settings.annotations.choose_by == "confidence" and (warning := any_confidence_warning(settings)):
        message, _, remedy = warning.partition(". ")
        yield Finding("note", "annotations.choose_by", message, remedy.rstrip("."))


def _joint_model(settings: Config) -> Iterator[tuple[str, str, str]]:
    annotations = settings.annotations
    if annotations.choose_by == "agreement":
        yield *annotations.joint_model, "annotations.joint_encoder"


def _statement_findings(settings: Config, _stuck: Collection[str]) -> Iterator[Finding]:
    """Statements that the cards of a data set of real videos still lack; only people can write them."""
    real = [name for name in datasets_with(settings, "annotated_here") if not settings.datasets[name].source.rendered]
    missing = [key for key, text in settings.export.statements if text is None]
    if real and missing and settings.export.forms:
        message = f"exported cards say nothing of {', '.join(missing)}: only you know"
        yield Finding("note", "export.statements", message, "write a sentence of each before you publish the data set")


# Features and retrieval.


def _encoders(settings: Config) -> Iterator[tuple[str, str, str]]:
    features = settings.features
    yield features.video_backbone, features.video_revision, "features.video_backbone"
    yield features.text_encoder, features.text_revision, "features.text_encoder"


def _encoder_findings(settings: Config, stuck: Collection[str]) -> Iterable[Finding]:
    from verified.features.preflight import encoder_findings

    return encoder_findings(settings, stuck)


def _retrieval_findings(settings: Config, _stuck: Collection[str]) -> Iterator[Finding]:
    from verified.planning.check_retrieval import released_findings, training_findings

    yield from released_findings(settings)
    yield from training_findings(settings)


def _initial_models(settings: Config) -> Iterator[tuple[str, str, str]]:
    for model in settings.retrieval.names:
        if start := initial_weights(settings, model):
            yield start, "", f"retrieval.training.{model}.model.roberta"


CORE = (
    Stage(
        "generation",
        supplied=_answering_inputs,
        problems=lambda settings: role_problems(roles_in_use(settings)),
        preflight=lambda settings, stuck: keys_found(roles_in_use(settings)),
        models=_answering_models,
        gpus=_answering_gpus,
    ),
    Stage(
        "corpus",
        supplied=_sources,
        problems=split_problems,
        preflight=moment_findings,
    ),
    Stage(
        "captions",
        _of_paper("statics", "dynamics"),
        ask_captions,
        preflight=frame_findings,
    ),
    Stage("perturbations", _of_paper("perturbations"), _ask_perturbations, models=_sentence_model),
    Stage(
        "evaluator",
        supplied=_evaluator_inputs,
        problems=_evaluator_problems,
        gpus=lambda settings: {
            "evaluator.gpus": settings.evaluator.gpus * bool(datasets_with(settings, "annotated_here"))
        },
    ),
    Stage(
        "annotations",
        preflight=_choice_findings,
        models=_joint_model,
    ),
    Stage("export", preflight=_statement_findings),
    Stage(
        "features",
        preflight=_encoder_findings,
        models=_encoders,
        gpus=lambda settings: {"features.gpu": settings.features.gpu * bool(datasets_with(settings, "has_videos"))},
    ),
    Stage(
        "retrieval",
        preflight=_retrieval_findings,
        models=_initial_models,
        gpus=lambda settings: {"retrieval.device": int(settings.retrieval.device == "cuda")},
    ),
)
