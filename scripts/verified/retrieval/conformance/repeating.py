"""The same again: twice, by another seed, in float64, after saving and loading."""

import random
import tempfile
from pathlib import Path

import numpy as np
import torch

from verified.retrieval.checkpoint import load_tensors, save_tensors
from verified.retrieval.conformance.trial import Trial, close, doubled, require, require_same
from verified.retrieval.contract import Batch, RetrievalModel
from verified.retrieval.optimisers import AdamW, parameter_groups

PRECISION = 1e-3
"""Largest difference of float32 from float64, as a share of the largest difference between two answers."""

PADS = -1e3
"""What stands below is the logit of a pad."""


def check_repetition(trial: Trial) -> None:
    """Evaluation has no memory: again, after other calls, the answers are equal and what was given is unchanged."""
    model, toy = trial.model(), trial.toy
    given = {"queries": toy.all_queries[0].clone(), "videos": toy.all_videos[0].clone()}
    queries, videos = trial.encoded(model)
    kept = [{name: tensor.clone() for name, tensor in encoded.items()} for encoded in (queries, videos)]
    first = trial.answers_of(model, queries, videos)
    for what, before, after in (("queries", kept[0], queries), ("videos", kept[1], videos)):
        for name, tensor in before.items():
            require(torch.equal(tensor, after[name]), f"scoring changes the encoding {name!r} of the {what} in place")
    require(torch.equal(given["queries"], toy.all_queries[0]), "encode_queries: changes its input in place")
    require(torch.equal(given["videos"], toy.all_videos[0]), "encode_videos: changes its input in place")
    trial.encoded(
        model, (toy.all_queries[0][:2], toy.all_queries[1][:2]), (toy.all_videos[0][3:5], toy.all_videos[1][3:5])
    )
    again = trial.answers_of(model, queries, videos)
    require_same(again, first, "differs after other queries and videos were encoded", torch.equal)
    model.train()
    trial.losses(model, toy.training_batch())
    again = trial.answers(model.eval())
    require_same(again, first, "differs when it is computed again", torch.equal)


def check_determinism(trial: Trial) -> None:
    """The same seed gives the same weights, losses and gradients; other draws than dropout come from the generator."""
    models = [trial.model(), trial.model()]
    for (name, first), second in zip(models[0].named_parameters(), models[1].parameters()):
        require(torch.equal(first, second), f"the same seed gives different initial weights of {name}")
    totals = []
    for seed, model in enumerate(models):
        _seed_globally(seed)
        losses = trial.losses(model, trial.toy.training_batch())
        losses["total"].backward()
        totals.append({name: float(value.detach()) for name, value in losses.items()})
    require(totals[0] == totals[1], "losses: without dropout they depend on the global seed; draw from `generator`")
    for (name, first), second in zip(models[0].named_parameters(), models[1].parameters()):
        same = first.grad is second.grad is None or torch.equal(first.grad, second.grad)
        require(same, f"losses: the same seed gives different gradients of {name}")
    trained = []
    for seed, model in enumerate(models):
        _seed_globally(seed)
        torch.manual_seed(0)
        trained.append(float(trial.losses(model.train(), trial.toy.training_batch())["total"].detach()))
    require(trained[0] == trained[1], "losses: in training the same seed of torch gives different losses")


def _seed_globally(seed: int) -> None:
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def check_precision(trial: Trial) -> None:
    """Answers and loss in float32 agree with those in float64, and no answer is rounded to half of its digits."""
    model, toy = trial.model(), trial.toy
    for name, values in trial.answers(model).given().items():
        for narrow in (torch.bfloat16, torch.float16):
            rounded = values.to(narrow).to(values.dtype)
            require(not torch.equal(rounded[values > PADS], values[values > PADS]), f"{name}: rounded to {narrow}")
    double = trial.model().double()
    answers = trial.answers(double, doubled(toy.all_queries), doubled(toy.all_videos))
    require_same(trial.answers(model), answers, "differs between float32 and float64", _agrees)
    batch = toy.training_batch()
    wide = Batch(
        doubled((batch.query, batch.query_mask))[0],
        batch.query_mask,
        batch.video.double(),
        batch.video_mask,
        batch.span,
    )
    first, second = trial.losses(model, batch)["total"], trial.losses(double, wide)["total"]
    require(close(first.double(), second.double(), PRECISION), "losses: differ between float32 and float64")


def _agrees(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether both agree within `PRECISION` of the spread of the real numbers (pads stand far below them)."""
    real = second[second > PADS]
    return bool((first.double() - second).abs()[second > PADS].max() <= PRECISION * (real.max() - real.min()))


def check_state(trial: Trial) -> None:
    """A model that is saved and loaded answers as before: everything it learned is in its state."""
    model = trial.model()
    optimiser = AdamW(parameter_groups(model.named_parameters(), 0.0), lr=1e-2)
    for step in range(3):
        trial.losses(model.train(), trial.toy.training_batch(step))["total"].backward()
        optimiser.step()
    require_same(
        trial.answers(_loaded(trial, model)),
        trial.answers(model.eval()),
        "differs after saving and loading",
        torch.equal,
    )


def _loaded(trial: Trial, model: RetrievalModel) -> RetrievalModel:
    other = trial.model(seed=2)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.safetensors"
        save_tensors(file, model.state_dict(), {})
        other.load_state_dict(load_tensors(file)[0])
    return other
