"""One run of the benchmark: train a model, rank videos with it, test it; files in, files out, by settings as jobs get
them.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from verified.benchmark.vcmr.checkpoint import load_model, save_model
from verified.benchmark.vcmr.contract import Recipe, RetrievalModel
from verified.benchmark.vcmr.data import Cast, Moments, Queries, Videos, load_tokeniser, read_moments
from verified.benchmark.vcmr.ranked import Ranked, read_ranked, write_ranked
from verified.benchmark.vcmr.registry import build_model, model_class
from verified.benchmark.vcmr.search import SearchSettings, encode_corpus, encode_queries, search, video_scores
from verified.benchmark.vcmr.testing import write_test
from verified.benchmark.vcmr.training import SplitData, train
from verified.config.base import Section
from verified.config.datasets import Spans
from verified.config.features import Features
from verified.config.params import deciding
from verified.config.retrieval import Retrieval, Training, model_module
from verified.corpus.splits import HELD_OUT
from verified.io.hdf5 import FeatureFile, Room
from verified.nn.training import TrainingState, fingerprint
from verified.runtime.digest import modules_digest
from verified.runtime.seeds import derive_seed
from verified.weights.records import source_of


class Settings(Section):
    """The part of the configuration that a training, ranking or test reads."""

    retrieval: Retrieval
    spans: Spans
    features: Features
    """Its text encoder."""
    training: Training = Training()
    """Departures from the official recipe."""
    feature_cast: Cast
    held_out_share: float = 0.0
    """Share of the train file's videos that models are selected on; 0 where the selection split has a file."""
    seed: int = 0

    def searching(self, **changes: Any) -> SearchSettings:
        """Search settings with `changes`."""
        values = {
            "min_pred_clips": self.spans.min_pred_clips,
            "max_pred_clips": self.spans.max_pred_clips,
            "searched_videos": self.retrieval.searched_videos,
            "memory_mb": self.retrieval.memory_mb,
            "device": self.retrieval.device,
            "padding": self.retrieval.padding,
        }
        return SearchSettings(**{**values, **changes})


def locate_weights(files: Mapping[str, Any], settings: Settings) -> tuple[dict[str, Any], Settings]:
    """Input files and settings of a job: its records without the file `weights`, plus the paths that it names.

    These are the text encoder, whose tokeniser some models use, and RoBERTa's weights for HERO.
    """
    files, features = dict(files), settings.features
    records = files.pop("weights")
    encoder = source_of(features.text_encoder, features.text_revision, records)[0]
    changes: dict[str, object] = {"features": features.model_copy(update={"text_encoder": encoder})}
    if "training" in vars(settings) and (roberta := settings.training.options.get("roberta")):
        options = {**settings.training.options, "roberta": source_of(str(roberta), "", records)[0]}
        changes["training"] = settings.training.model_copy(update={"options": options})
    return files, settings.model_copy(update=changes)


log = logging.getLogger("verified")

Files = Mapping[str, str]
SAVE_SECONDS = 30.0
"""Least time between two states of a training on disk."""


def train_model(name: str, trained_on: str, seed: int, files: Files, settings: Settings, checkpoint: str, record: str):
    """Train a model and write its checkpoint and its record of epochs.

    `files`: video, text, train, selection and, for two-stage models, ranked.
    """
    cls = model_class(name)
    recipe = own_recipe(cls.recipe, settings.training)
    splits = _training_moments(files, trained_on, settings)
    tokeniser = load_tokeniser(settings.features.text_encoder) if cls.query_input == "ids" else None
    torch.manual_seed(derive_seed(settings.seed, name, trained_on, seed, "weights"))
    model = build_model(name, _sizes(files, settings, tokeniser), settings.training.options)
    model.initial_weights()
    room = Room(settings.retrieval.memory_mb * 2**20)  # shared by both splits
    data = {name: _split(model, files, split, settings, tokeniser, name, room) for name, split in splits.items()}
    owner = fingerprint(
        modules_digest("verified.benchmark.vcmr.experiment", model_module(name)),
        owner_values(settings),
        [files[key] for key in sorted(files)],
        run=[name, trained_on, seed],
    )
    state = TrainingState(Path(checkpoint).with_name("unfinished.safetensors"), owner, SAVE_SECONDS)
    run_seed = derive_seed(settings.seed, name, trained_on, seed)
    trained = train(
        model,
        data["train"],
        data["selection"],
        recipe,
        settings.searching(),
        run_seed,
        record,
        state,
        settings.retrieval.precision,
    )
    facts = {
        "trained_on": trained_on,
        "seed": seed,
        "selected_epoch": trained.epoch,
        "epochs": len(trained.history),
        "left_out_queries": trained.left_out,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
    }
    save_model(checkpoint, name, model, trained.state, facts)
    state.remove()


def owner_values(settings: Settings) -> dict[str, Any]:
    """Settings that a training goes on with, whatever memory it has."""
    values = deciding(settings)
    return {**values, "retrieval": {**values["retrieval"], "memory_mb": None}}


def own_recipe(recipe: Recipe, departures: Training) -> Recipe:
    """The official recipe with the changes of the config; configured epochs replace steps."""
    changes = departures.model_dump(exclude={"options", "seeds"}, exclude_none=True)
    by_epochs = "epochs" in changes and "steps" not in changes
    return replace(recipe, **({"steps": None} if by_epochs else {}), **changes)


def rank_videos(files: Files, captions: str, settings: Settings, output: str) -> None:
    """Write the ranked lists (videos and cosines) of a one-stage checkpoint for the queries of `files`.

    `files`: checkpoint, video, text and either train and selection, or test.
    """
    model, _ = load_model(files["checkpoint"], settings.retrieval.device)
    tested = {"test": read_moments(files["test"], captions)} if "test" in files else {}
    splits = tested or _training_moments(files, captions, settings)
    ranked_lists, room = {}, Room(settings.retrieval.memory_mb * 2**20)
    for split, moments in splits.items():
        data = _split(model, files, moments, settings, None, split, room)
        depth = settings.retrieval.training_list_videos if split == "train" else settings.retrieval.searched_videos
        ranked_lists[split] = _rank_videos(model, data, settings, depth)
    write_ranked(output, ranked_lists)


@torch.no_grad()
def _rank_videos(model: RetrievalModel, data: SplitData, settings: Settings, depth: int) -> Ranked:
    searching = settings.searching()
    corpus = encode_corpus(model, data.videos, searching)
    depth = min(depth, len(data.videos))
    videos, cosines = [], []
    for at in range(0, len(data.queries), searching.chunk):
        index = np.arange(at, min(at + searching.chunk, len(data.queries)))
        queries = encode_queries(model, data.queries, index, searching.device)
        best = video_scores(model, queries, corpus, searching.device).topk(depth, dim=1)
        videos.append(best.indices.cpu().numpy())
        cosines.append(best.values.float().cpu().numpy())
    return Ranked(data.moments.desc_id, np.concatenate(videos), np.concatenate(cosines), data.moments.videos)


def test_model(
    files: Files,
    facts: dict,
    settings: Settings,
    submission: str,
    metrics: str,
    queries_file: str,
) -> None:
    """Test a checkpoint: submission (before NMS), metrics with intervals (after NMS and without), numbers per query.

    `files`: checkpoint, video, text, test and, for two-stage models, ranked. `facts` are copied into the metrics
    (dataset, model, trained_on, tested_on, seed, split).
    """
    model, header = load_model(files["checkpoint"], settings.retrieval.device)
    tokeniser = load_tokeniser(settings.features.text_encoder) if model.query_input == "ids" else None
    moments = read_moments(files["test"], facts["tested_on"])
    data = _split(model, files, moments, settings, tokeniser, "test", Room())
    lists_by_task = search(model, data.videos, data.queries, data.moments, settings.searching(), data.ranked)
    outside = 0
    if data.ranked is not None:
        outside = int((data.ranked.rank_of(moments.desc_id, moments.video) < 0).sum())
    more = {
        "parameters": header["parameters"],
        "epochs": header["epochs"],
        "selected_epoch": header["selected_epoch"],
        "selection_split": settings.spans.selection_split,
        "left_out_queries": header["left_out_queries"],
        "queries_outside_list": outside,
    }
    if model.two_stage and not model.rescores:
        more["videos_of"] = "xml"
    if not model.localises:
        more["localises"] = False
    outputs = submission, metrics, queries_file
    write_test(lists_by_task, data.moments, settings.spans.nms_threshold, {**facts, **more}, outputs)


def _training_moments(files: Files, captions: str, settings: Settings) -> dict[str, Moments]:
    share = settings.held_out_share
    return {
        "train": read_moments(files["train"], captions, "rest" if share else None, share).by_window(),
        "selection": read_moments(files["selection"], captions, HELD_OUT if share else None, share),
    }


def _sizes(files: Files, settings: Settings, tokeniser) -> dict[str, int]:
    width = {name: FeatureFile(files[name]).describe().width for name in ("video", "second") if name in files}
    second = width.get("second", 0)
    sizes = {"video_dim": width["video"] + second, "second_dim": second}
    sizes["context_clips"] = settings.spans.max_context_clips
    if tokeniser is not None:
        return {**sizes, "text_dim": 0, "vocabulary": tokeniser.vocabulary, "cls_id": tokeniser.cls_id}
    return {**sizes, "text_dim": FeatureFile(files["text"]).describe().width}


def _split(
    model: RetrievalModel, files: Files, moments: Moments, settings: Settings, tokeniser, split: str, room: Room
) -> SplitData:
    cls, config = type(model), model.config
    seconds, cast = settings.spans.clip_seconds, settings.feature_cast
    clips, durations = config.context_clips, moments.durations
    video, second = FeatureFile(files["video"]), FeatureFile(files["second"]) if "second" in files else None
    videos = Videos(video, moments.videos, cls, clips, seconds, room, cast, durations, second)
    queries = Queries(moments, cls, config.query_tokens, FeatureFile(files["text"]), tokeniser, room, cast)
    ranked = None
    if cls.two_stage:
        ranked = read_ranked(files["ranked"], split, moments.videos, settings.retrieval.external_score)
    return SplitData(moments, videos, queries, ranked)
