"""Grounding models with their authors' weights on questions, zero-shot (ReXTime supplement, C.5 and Table 1).

A question is read as the authors read a query: the last states of all tokens of CLIP's text side, start and end
included, not projected. Videos are not cut to the 75 clips of QVHighlights, as positions are shares of the video.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from verified.benchmark.vcmr.checkpoint import FORM, load_model
from verified.benchmark.vcmr.experiment import Settings
from verified.benchmark.vcmr.importing import Published, Sizes, import_checkpoint
from verified.errors import InputError
from verified.features.hub_models import Clip
from verified.io.hdf5 import FeatureFile, write_features
from verified.nn.checkpoint import load_facts
from verified.runtime.checksums import write_built_checksums
from verified_rextime.config import CLIP_SECONDS
from verified_rextime.ground import best_windows
from verified_rextime.rows import NOT_ANSWERED, Prediction


def ground_as_published(
    name: str, questions: list[dict], files: Mapping[str, str], encoder: str, settings: Settings
) -> tuple[dict[str, Prediction], dict[str, Any]]:
    """(the best span of each question in its video, facts about weights and features).

    `files`: ``checkpoint``, ``video`` (features, read) and ``text`` (written); `encoder` is CLIP's folder or hub name.
    A question whose video has no features gets no answer, and is counted. Raises InputError for a checkpoint of another
    model than `name` or trained here, features of other widths than it reads, and if no video has features.
    """
    model, header = load_model(files["checkpoint"], settings.retrieval.device)
    if problem := other_weights(header, name):
        raise InputError(
            problem, file=files["checkpoint"], remedy=f"import the authors' file: verified import {name} FILE"
        )
    if problem := other_features(header, files["video"]):
        raise InputError(problem, file=files["video"], remedy="give the features that they were trained with")
    features = FeatureFile(files["video"])
    at_hand = {row["vid"] for row in questions} & set(features)
    answered = [row for row in questions if row["vid"] in at_hand]
    if not answered:
        raise InputError("holds features of none of the questions' videos", file=files["video"])
    states = text_states(encoder, [row["query"] for row in answered])
    width = states[0].shape[1]
    if width != model.config.text_dim:
        problem = f"{encoder} has {width} numbers a token, and the weights read {model.config.text_dim}"
        raise InputError(problem, file=files["checkpoint"], remedy="name the CLIP that they were trained with")
    attributes = {"backbone": encoder, "dim": width, "special_tokens": True}
    write_features(files["text"], attributes, ((str(row), array, {}) for row, array in enumerate(states)))
    longest = max(features.length(video) for video in at_hand)
    model.config = replace(model.config, context_clips=longest)
    nothing = {row["qid"]: Prediction(NOT_ANSWERED, None) for row in questions}
    facts = {key: header[key] for key in ("imported_from", "imported_sha256")}
    facts |= {"questions": len(questions), "without_features": len(questions) - len(answered)}
    return nothing | best_windows(model, answered, files, settings), facts


def text_states(name: str, texts: list[str], batch: int = 64) -> list[np.ndarray]:
    """CLIP's last states [tokens, width] float16 of each text's tokens, as features of queries are published: start and
    end included, not projected. Raises InputError where CLIP cannot be loaded.
    """
    clip = Clip(name)
    states: list[np.ndarray] = []
    for start in range(0, len(texts), batch):
        tokens, output = clip.read(texts[start : start + batch])
        lengths = tokens["attention_mask"].sum(dim=1).tolist()
        states += [row[:length] for row, length in zip(output.last_hidden_state.half().cpu().numpy(), lengths)]
    return states


def other_weights(header: Mapping[str, Any], name: str) -> str | None:
    """Why weights with this header are not published ones of model `name`; None if they are."""
    if header.get("model") != name:
        return f"holds weights of {header.get('model')}, not of {name}"
    return None if "imported_from" in header else f"holds weights of {name} that were trained here, not published ones"


def other_features(header: Mapping[str, Any], video: str | Path) -> str | None:
    """Why weights with this header cannot read this feature file; None if they can."""
    width, dim = FeatureFile(video).describe().width, header["config"]["video_dim"]
    return None if width == dim else f"has {width} numbers a clip, and the weights read {dim}"


_SIZES = {
    "video_dim": ("input_vid_proj.0.LayerNorm.weight", 0),
    "text_dim": ("input_txt_proj.0.LayerNorm.weight", 0),
    "query_tokens": ("txt_position_embed.position_embeddings.weight", 0),
    "hidden": ("token_type_embeddings.weight", 1),
    "feed_forward": ("transformer.encoder.layers.0.linear1.weight", 0),
}
_LAYERS = {
    "univtg": {"layers": "transformer.encoder"},
    "cg_detr": {
        "encoder_layers": "transformer.encoder",
        "decoder_layers": "transformer.decoder",
        "cross_layers": "transformer.t2v_encoder",
        "moment_layers": "transformer.mcls_encoder",
        "dummy_layers": "txtproj_encoder",
        "sentence_layers": "scls_encoder",
    },
}
"""The stacks of layers, which are counted."""
TIMES = 2
"""Numbers appended to a clip's features for its position in the video."""
SLOWFAST, CLIP = 2304, 512
"""Widths of the authors' features: of SlowFast, and of CLIP (ViT-B/32), clips and tokens."""
CONTEXT = 75
"""Clips of QVHighlights' videos; no tensor depends on how many there are."""


def _complete(name: str, sizes: Sizes, tensors: dict[str, Tensor]) -> Sizes:
    for size, stack in _LAYERS[name].items():
        numbers = (re.match(rf"{re.escape(stack)}\.layers\.(\d+)\.", key) for key in tensors)
        sizes[size] = len({number[1] for number in numbers if number})
    sizes["video_dim"] -= TIMES
    sizes["context_clips"] = CONTEXT
    if sizes["video_dim"] == SLOWFAST + CLIP:
        sizes["first_encoder_dim"] = SLOWFAST
    if name == "univtg":
        sizes["clip_centre"] = CLIP_SECONDS / 2
    return sizes


def _published(name: str, **sizes: tuple[str, int]) -> Published:
    remedy = "one with pre-norm or other projections cannot be converted"
    return Published({**_SIZES, **sizes}, "as on QVHighlights", remedy, partial(_complete, name))


GROUNDERS = {
    "univtg": _published("univtg"),
    "cg_detr": _published(
        "cg_detr",
        windows=("query_embed.weight", 0),
        dummies=("dummy_rep_token", 0),
        prompts=("global_rep_token", 0),
    ),
}


def import_grounder(name: str, file: Path, output: Path | None, options: dict[str, str]) -> str:
    """Convert a checkpoint of the model `name`; returns a description, its inputs, and the key to name it under."""
    target = output or file.with_suffix(".safetensors")
    count = import_checkpoint(name, file, target, options, GROUNDERS[name])
    write_built_checksums(target)
    return (
        f"{target}: {name} with {count:,} parameters\n"
        f"{feature_requirements(name, load_facts(target, FORM)['config'])}\n"
        f"use it with: rextime.published.{name}.checkpoint: {target}"
    )


def feature_requirements(name: str, config: dict[str, Any]) -> str:
    """Features that a grounding model with this config needs, in addition to the workflow's features of videos and
    texts.
    """
    first, video = config["first_encoder_dim"], config["video_dim"]
    clips = f"{video} numbers a clip of {CLIP_SECONDS:g} seconds"
    if first:
        clips += f": {first} of one encoder and {video - first} of another (SlowFast, CLIP). Nothing here makes them"
    else:
        clips += ", as features.video_backbone makes them where it names the same encoder"
    return (
        f"{name} reads {clips}.\nOf a text, it reads {config['text_dim']} numbers a token (published weights those of "
        "CLIP's ViT-B/32, first and last token included)."
    )
