"""Retrieval models of the workflow as grounders: the question is the query, the video is given.

Only the localisation within the true video (SVMR) is asked for; what comes out is the best span, in seconds. Such a
model looks for what the question names, not for its answer: that is what this baseline shows.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from verified.benchmark.rextime.rows import Prediction
from verified.benchmark.vcmr.checkpoint import load_model
from verified.benchmark.vcmr.data import Moments, Queries, Videos
from verified.benchmark.vcmr.ranked import Ranked
from verified.benchmark.vcmr.search import search
from verified.benchmark.vcmr.settings import RankingSettings
from verified.benchmark.vcmr.tokens import load_tokeniser
from verified.config.features import TextFeatures
from verified.features.text import write_text_features


def encode_questions(
    questions: list[dict], settings: TextFeatures, output: str | Path, weights: tuple[str, str]
) -> None:
    """Token features of the questions, by their place in the list, as `features.text` writes those of captions."""
    write_text_features(
        [(str(number), row["query"]) for number, row in enumerate(questions)], settings, output, weights
    )


def ground(questions: list[dict], files: Mapping[str, str], settings: RankingSettings) -> dict[str, Prediction]:
    """The best span of each question in its own video; the whole video where the model finds none.

    `files`: checkpoint, video and text features.
    """
    model, _ = load_model(files["checkpoint"], settings.device)
    tokeniser = load_tokeniser(settings.text_encoder) if model.query_input == "ids" else None
    moments = to_moments(questions, Path(files["text"]))
    kind, config, cast = type(model), model.config, settings.feature_cast
    videos = Videos(files["video"], moments.videos, kind, config.context_clips, settings.spans.clip_seconds, cast=cast)
    queries = Queries(moments, kind, config.query_tokens, files["text"], tokeniser, cast=cast)
    # Only the given video matters here, so a two-stage model is told to look into it and nowhere else.
    own_video = Ranked(moments.desc_id, moments.video[:, None], np.ones((len(moments), 1), np.float32), moments.videos)
    ranked = search(model, videos, queries, moments, settings.searching(searched_videos=1, rows=1), own_video).svmr
    predictions = {}
    for row, video, start, end in zip(questions, ranked.video[:, 0], ranked.start[:, 0], ranked.end[:, 0]):
        window = (float(start), min(float(end), row["duration"])) if video >= 0 else (0.0, float(row["duration"]))
        predictions[row["qid"]] = Prediction(window, None)
    return predictions


def to_moments(questions: list[dict], file: Path) -> Moments:
    """Questions as the moments that search takes: their place is the id, their answer's window the time."""
    videos = sorted({row["vid"] for row in questions})
    position = {video: number for number, video in enumerate(videos)}
    return Moments(
        desc_id=np.arange(len(questions), dtype=np.int64),
        video=np.array([position[row["vid"]] for row in questions], dtype=np.int64),
        time=np.array([row["relevant_windows"][0] for row in questions], dtype=np.float64),
        caption=[row["query"] for row in questions],
        videos=videos,
        file=file,
    )
