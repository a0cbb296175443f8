"""Retrieval models of the workflow as grounders: the question is the query, the video is given.

Only the localisation within the true video (SVMR) is used; the result is the best span, in seconds. A model trained on
captions finds the event that the question names, not its answer, as this baseline shows. Fine-tuned on questions, it
learns to look before or after it (supplement, Table 2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from verified.benchmark.vcmr.checkpoint import load_model, save_model
from verified.benchmark.vcmr.contract import RetrievalModel
from verified.benchmark.vcmr.data import Moments, Queries, Videos, load_tokeniser
from verified.benchmark.vcmr.experiment import Settings, own_recipe, owner_values
from verified.benchmark.vcmr.ranked import Ranked
from verified.benchmark.vcmr.search import search
from verified.benchmark.vcmr.training import SplitData, train
from verified.config.features import Features
from verified.config.retrieval import model_module
from verified.features.text import write_text_features
from verified.io.hdf5 import FeatureFile
from verified.nn.training import TrainingState, fingerprint
from verified.runtime.digest import modules_digest
from verified.runtime.seeds import derive_seed
from verified_rextime.rows import Prediction

MEASURED_VIDEOS = 8
"""Training videos whose questions measure an epoch of fine-tuning. No epoch is selected by them, and a model that reads
queries and videos together takes longer for all of their pairs than for the epoch.
"""


def encode_questions(questions: list[dict], settings: Features, output: str | Path, weights: tuple[str, str]) -> None:
    """Token features of the questions, by their place in the list, as `features.text` writes those of captions."""
    write_text_features(
        [(str(number), row["query"]) for number, row in enumerate(questions)], settings, output, weights
    )


def ground(questions: list[dict], files: Mapping[str, str], settings: Settings) -> dict[str, Prediction]:
    """The best span of each question in its video; the whole video if the model finds none.

    `files`: checkpoint, video and text features.
    """
    model, _ = load_model(files["checkpoint"], settings.retrieval.device)
    return best_windows(model, questions, files, settings)


def best_windows(
    model: RetrievalModel, questions: list[dict], files: Mapping[str, str], settings: Settings
) -> dict[str, Prediction]:
    """`ground` with a loaded model; `files` are video and text features."""
    data = _data(model, questions, files, settings)
    moments, searching = data.moments, settings.searching(searched_videos=1, rows=1)
    # Only the given video matters here, so a two-stage model gets it as its only candidate.
    own_video = Ranked(moments.desc_id, moments.video[:, None], np.ones((len(moments), 1), np.float32), moments.videos)
    ranked = search(model, data.videos, data.queries, moments, searching, own_video)["SVMR"]
    predictions = {}
    for row, video, start, end in zip(questions, ranked.video[:, 0], ranked.start[:, 0], ranked.end[:, 0]):
        window = (float(start), min(float(end), row["duration"])) if video >= 0 else (0.0, float(row["duration"]))
        predictions[row["qid"]] = Prediction(window, None)
    return predictions


def fine_tune(
    questions: list[dict], files: Mapping[str, str], settings: Settings, checkpoint: str, record: str
) -> None:
    """Fine-tune a one-stage model on questions and the windows of their answers; with the weights of the last epoch.

    `files`: checkpoint of the model as trained on captions, video and text features. Writes its checkpoint and its
    record of epochs, whose recall is that of training questions, of the first `MEASURED_VIDEOS` videos.
    """
    model, header = load_model(files["checkpoint"], settings.retrieval.device)
    name, data = header["model"], _data(model, questions, files, settings)
    measured = _data(model, questions, files, settings, data.moments.videos[:MEASURED_VIDEOS])
    recipe = own_recipe(type(model).recipe, settings.training)
    recipe = replace(recipe, selection_videos=MEASURED_VIDEOS + 1)  # no split of questions selects an epoch
    owner = fingerprint(
        modules_digest("verified_rextime.ground", model_module(name)),
        owner_values(settings),
        [files[key] for key in sorted(files)],
    )
    state = TrainingState(Path(checkpoint).with_name("unfinished.safetensors"), owner, 30)
    seed, precision = derive_seed(settings.seed, "fine-tuning", name), settings.retrieval.precision
    trained = train(model.train(), data, measured, recipe, settings.searching(), seed, record, state, precision)
    facts = {**header, "fine_tuned_on": len(questions), "epochs": len(trained.history)}
    save_model(checkpoint, name, model, trained.state, facts)
    state.remove()


def _data(
    model: RetrievalModel,
    questions: list[dict],
    files: Mapping[str, str],
    settings: Settings,
    about: Sequence[str] | None = None,
) -> SplitData:
    tokeniser = load_tokeniser(settings.features.text_encoder) if model.query_input == "ids" else None
    moments = to_moments(questions, Path(files["text"]), about)
    kind, config, cast = type(model), model.config, settings.feature_cast
    video, text = FeatureFile(files["video"]), FeatureFile(files["text"])
    videos = Videos(video, moments.videos, kind, config.context_clips, settings.spans.clip_seconds, cast=cast)
    queries = Queries(moments, kind, config.query_tokens, text, tokeniser, cast=cast)
    return SplitData(moments, videos, queries)


def to_moments(questions: list[dict], file: Path, about: Sequence[str] | None = None) -> Moments:
    """Questions, all or those `about` some videos, as the moments that search takes.

    Their place in `questions` is the id, their answer's window the time.
    """
    ids = [number for number, row in enumerate(questions) if about is None or row["vid"] in about]
    chosen = [questions[number] for number in ids]
    corpus = sorted({row["vid"] for row in chosen})
    position = {video: number for number, video in enumerate(corpus)}
    return Moments(
        desc_id=np.array(ids, dtype=np.int64),
        video=np.array([position[row["vid"]] for row in chosen], dtype=np.int64),
        time=np.array([row["relevant_windows"][0] for row in chosen], dtype=np.float64),
        caption=[row["query"] for row in chosen],
        videos=corpus,
        file=file,
    )
