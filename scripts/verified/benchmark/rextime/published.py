"""Grounding models with their authors' weights on questions, zero-shot (ReXTime supplement, C.5 and Table 1).

A question is read as the authors read a query: the last states of all tokens of CLIP's text side, start and end
included, not projected. Videos are not cut to the 75 clips of QVHighlights, as positions are shares of the video.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from verified.benchmark.rextime.ground import best_windows
from verified.benchmark.rextime.rows import NOT_ANSWERED, Prediction, Question
from verified.benchmark.vcmr.checkpoint import FORM, load_model
from verified.benchmark.vcmr.data import feature_width
from verified.benchmark.vcmr.experiment import RankingSettings
from verified.errors import InputError
from verified.features.hub_models import text_states
from verified.io.hdf5 import FeatureFile, write_features
from verified.nn.checkpoint import load_facts


def ground_as_published(
    name: str, questions: list[dict], files: Mapping[str, str], encoder: str, settings: RankingSettings
) -> tuple[dict[str, Prediction], dict[str, Any]]:
    """(the best span of each question in its video, facts about weights and features).

    `files`: ``checkpoint``, ``video`` (features, read) and ``text`` (written); `encoder` is CLIP's folder or hub name.
    A question whose video has no features is answered by nothing, and counted. Raises InputError for a checkpoint of
    another model than `name` or trained here, features of other widths than it reads, and where no video has features.
    """
    model, header = load_model(files["checkpoint"], settings.device)
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


def given_rows(questions: list[Question]) -> list[dict]:
    """Released questions, with their windows, in the form of generated ones."""
    return [
        {
            "qid": question.qid,
            "query": question.query,
            "vid": question.video,
            "duration": question.duration,
            "relevant_windows": [list(window) for window in question.windows],
        }
        for question in questions
    ]


def other_weights(header: Mapping[str, Any], name: str) -> str | None:
    """Why weights with this header are not published ones of model `name`; None if they are."""
    if header.get("model") != name:
        return f"holds weights of {header.get('model')}, not of {name}"
    return None if "imported_from" in header else f"holds weights of {name} that were trained here, not published ones"


def other_features(header: Mapping[str, Any], video: str | Path) -> str | None:
    """Why weights with this header cannot read this feature file; None if they can."""
    width, wanted = feature_width(FeatureFile(video)), header["config"]["video_dim"]
    return None if width == wanted else f"has {width} numbers a clip, and the weights read {wanted}"


def read_header(checkpoint: str | Path) -> dict[str, Any]:
    """Model, config and origin of an imported checkpoint. Raises InputError for a file that is none."""
    return load_facts(checkpoint, FORM)
