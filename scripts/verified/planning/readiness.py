"""Checks before a run; each problem comes with its fix."""

import os
from collections.abc import Iterator
from pathlib import Path

from verified.config import Config
from verified.config.datasets import DataSet
from verified.config.evaluator import PRETRAINED
from verified.config.roles import asked_roles
from verified.errors import InputError
from verified.extension import stages
from verified.lmm.cassette import is_hand_written, read_answers
from verified.lmm.prompts import read_prompts
from verified.lmm.tasks.paper import PAPER
from verified.planning.findings import Problem
from verified.quality.text import missing_packages
from verified.weights.lock import read_lock
from verified.weights.records import BUILT_IN, is_from_hub
from verified.weights.umt import check_umt
from verified.weights.wanted import wanted_models

HELD_OUT = "held-out"


def problems(settings: Config, files: str) -> list[Problem]:
    """Every missing input; `files` are the configuration's own, for the commands in remedies."""
    return [
        *_models(settings, files),
        *_evaluator(settings, files),
        *_data(settings),
        *_selection(settings),
        *(problem for stage in stages() for problem in stage.problems(settings)),
        *_answers(settings),
        *_quality(settings),
    ]


def _quality(settings: Config) -> Iterator[Problem]:
    for name, dataset in settings.datasets.items():
        if (quality := dataset.quality) is None:
            continue
        if quality.max_text is not None and (missing := missing_packages()):
            message = f"written text is found by packages that are not installed: {', '.join(missing)}"
            yield Problem(f"datasets.{name}.quality.max_text", message, "pip install -r requirements-text.in")
        if quality.transcripts == "speech" and settings.generation.speech is None:
            message = "nobody is configured for the role speech"
            yield Problem(f"datasets.{name}.quality.transcripts", message, "set generation.speech, or write: subtitles")


def _models(settings: Config, files: str) -> Iterator[Problem]:
    fetch = f"verified fetch --configfile {files}"
    try:
        locked = read_lock(settings.weights.lock)["models"]
    except InputError as error:
        yield Problem("weights.lock", str(error), f"or remove it and run: {fetch}")
        return
    hub = settings.weights.hub
    for wanted, keys in wanted_models(settings).items():
        where = ", ".join(keys)
        entry = locked.get(wanted.key)
        if hub and not Path(hub, wanted.name).is_dir():
            yield Problem(where, f"{wanted.name} is not in {hub}", "put its files there, or set weights.hub to null")
        elif entry is None:
            yield Problem(where, f"{wanted.key} is not locked in {settings.weights.lock}", f"run: {fetch}")
        elif not hub:
            folder = Path(settings.weights.folder, wanted.name.replace("/", "--"), entry["commit"])
            missing = [name for name in entry["files"] if not (folder / name).is_file()]
            if missing:
                message = f"{len(missing)} of {len(entry['files'])} files of {wanted.key} are not in {folder}"
                yield Problem(where, message, f"run: {fetch}")
    features = settings.features
    named = {"features.video_backbone": features.video_backbone, "features.text_encoder": features.text_encoder}
    named |= {key: name for stage in stages() for name, _, key in stage.models(settings)}
    for key, name in named.items():
        if name not in BUILT_IN and not is_from_hub(name) and not Path(name).is_dir():
            yield Problem(key, f"no folder {name}", "name a folder or a model of the hub")
    for name, role in settings.generation.roles().items():
        folder = role.folder
        if folder and not Path(folder).is_dir():
            yield Problem(f"generation.{name}.folder", f"no folder {folder}", "put the model there, or set it to null")


def _evaluator(settings: Config, files: str) -> Iterator[Problem]:
    evaluator = settings.evaluator
    if evaluator.checkpoint == PRETRAINED:
        return
    if evaluator.checkpoint and not Path(evaluator.checkpoint).is_file():
        remedy = "convert UMT's file with `verified import umt`, or name that in evaluator.umt_file"
        yield Problem("evaluator.checkpoint", f"no file {evaluator.checkpoint}", remedy)
    elif evaluator.umt_file and not evaluator.checkpoint:
        if not Path(evaluator.umt_file).is_file():
            remedy = f"run: verified fetch --configfile {files}"
            if not evaluator.umt_url:
                remedy = "put UMT's checkpoint there, or name its address in evaluator.umt_url"
            yield Problem("evaluator.umt_file", f"no file {evaluator.umt_file}", remedy)
        elif evaluator.umt_sha256:
            try:
                check_umt(evaluator, settings.weights.lock)
            except InputError as error:
                yield Problem("evaluator.umt_file", error.problem, error.remedy or "")


def _data(settings: Config) -> Iterator[Problem]:
    everywhere: set[str] = set()
    all_known = True
    for name, dataset in settings.datasets.items():
        videos = dataset.source.given_videos
        if videos is not None and not Path(videos).is_dir():
            yield Problem(f"datasets.{name}.source.videos", f"no folder {videos}", "put the videos there")
        try:
            splits = dataset_splits(dataset)
        except InputError as error:
            all_known = False
            yield Problem(f"datasets.{name}.source", str(error), error.remedy or "correct the file")
            continue
        everywhere |= splits
        trained_on = dataset.source.has_videos or dataset.source.given_features
        for role in ("train_split", "selection_split", "test_split") if trained_on else ():
            split = getattr(dataset.spans, role)
            held_out = role == "selection_split" and dataset.source.has_videos and dataset.spans.train_split in splits
            if split not in splits and not held_out:
                yield _unknown(f"datasets.{name}.spans.{role}", split, splits)
    for split in settings.evaluator.splits or ():
        if all_known and split not in everywhere:
            yield _unknown("evaluator.splits", split, everywhere)


def _selection(settings: Config) -> Iterator[Problem]:
    annotations = settings.annotations
    if annotations.min_precision and not annotations.review:
        message = "it is measured on reviewed captions, and annotations.review names no file of decisions"
        yield Problem("annotations.min_precision", message, "review captions first, and name the saved files")
    for path in annotations.review:
        if not Path(path).is_file():
            yield Problem("annotations.review", f"no file {path}", "put it there, or take it out of the list")


def _unknown(key: str, split: str, known: set[str]) -> Problem:
    return Problem(key, f"no split {split!r}", f"name one of {', '.join(sorted(known))}, or give moments that split")


def dataset_splits(dataset: DataSet) -> set[str]:
    """Splits that a data set will have. Raises InputError if its moments cannot be read."""
    splits = dataset.source.split_names()
    if dataset.source.proposes_moments or dataset.source.names_no_split:
        splits = {dataset.spans.train_split, dataset.spans.selection_split, dataset.spans.test_split}
    return splits | {HELD_OUT} if dataset.spans.held_out_share else splits


def _annotates(settings: Config) -> bool:
    return any(dataset.source.annotated_here for dataset in settings.datasets.values())


def _answers(settings: Config) -> Iterator[Problem]:
    generation = settings.generation
    try:
        added = (task for stage in stages() for task in stage.prompts(settings) if task.prompted)
        read_prompts(generation.prompts, (*(PAPER if _annotates(settings) else ()), *added))
    except InputError as error:
        yield Problem("generation.prompts", str(error), error.remedy or "correct the prompt file")
    roles = asked_roles(settings)
    unset: dict[str, list[str]] = {}
    for name, role in roles.items():
        if role.cassette and not Path(role.cassette).is_file():
            message = f"no cassette {role.cassette}"
            yield Problem(f"generation.{name}.cassette", message, "make one with `verified ledger export`")
        elif role.cassette and is_hand_written(role.cassette):
            try:
                read_answers(role.cassette)
            except InputError as error:
                yield Problem(f"generation.{name}.cassette", str(error), error.remedy or "correct the file")
        # A private endpoint may need no key; if it does, `verified check` reports the refusal.
        of_openai = role.kind.asks_endpoint and role.base_url is None and role.endpoints_file is None
        if of_openai and not os.environ.get(role.api_key_variable):
            unset.setdefault(role.api_key_variable, []).append(f"generation.{name}.api_key_variable")
        packaged = role.model in BUILT_IN
        if role.kind.loads_model and not packaged and not is_from_hub(role.model) and not Path(role.model).is_dir():
            yield Problem(f"generation.{name}.model", f"no folder {role.model}", "name a folder or a model of the hub")
    for variable, keys in unset.items():
        remedy = "export the key, or name another endpoint in base_url"
        yield Problem(", ".join(keys), f"the environment has no {variable}", remedy)
