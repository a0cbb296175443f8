"""Every option of a model's config is read: another value of it changes something."""

from collections.abc import Iterator
from dataclasses import fields
from itertools import product

import torch

from verified.benchmark.vcmr.conformance.trial import Trial, require
from verified.benchmark.vcmr.contract import ModelConfig, RetrievalModel

LATE = 10_000
"""An epoch and step after all delayed starts."""
NEGATIVES = 2
"""Negatives in the lists that two-stage models learn from here, also those without any in their recipe."""

Traits = list[torch.Tensor]
Value = bool | int | float


def check_options(trial: Trial) -> None:
    """Another value of an option changes a weight, an answer, what a listed video weighs, or a loss.

    Some options count only beside others (a share of something that is off), so each is tried beside changes of the
    others too. What changes no number on purpose is named in `technical_options`.
    """
    trial.corpus.negatives = max(trial.corpus.negatives, NEGATIVES) if trial.cls.two_stage else 0
    given = {name: getattr(trial.config(), name) for name in _own_options(trial)}
    for name, value in given.items():
        beside = [{other: next(_others(given[other]))} for other in given if other != name]
        read = any(_is_read(trial, name, value, more) for more in ({}, *beside))
        require(read, f"Config: the option {name!r} changes nothing (technical_options names those that should not)")


def _own_options(trial: Trial) -> list[str]:
    """Numbers and switches that the model adds to `ModelConfig`, and the token that represents a sequence if it reads
    token ids."""
    shared = {field.name for field in fields(ModelConfig)} - ({"cls_id"} if trial.cls.query_input == "ids" else set())
    own = [field.name for field in fields(trial.cls.Config) if field.name not in shared]
    config = trial.config()
    return [
        name
        for name in own
        if name not in trial.cls.technical_options and isinstance(getattr(config, name), bool | int | float)
    ]


def _others(value: Value) -> Iterator[Value]:
    """Other values of an option, none of them zero: that may be a special one."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (other for other in dict.fromkeys((1, value // 2, 2 * value, 2)) if other not in (0, value))
    else:
        yield from (value / 2, 2 * value, value / 100) if value else (0.5, 1.0)


def _is_read(trial: Trial, name: str, value: Value, more: dict[str, Value]) -> bool:
    """Whether a model with another value of an option differs, beside `more` options, or none with one can be built."""
    steps = sorted({0, LATE, int(value) * 3 // 4})  # a delayed start has begun there with half of the value
    given, others = _build(trial, {name: value, **more}), 0
    expected = None if given is None else _traits(trial, given, steps)
    if expected is None:
        return False
    for other in _others(value):
        model = _build(trial, {name: other, **more})
        found = None if model is None else _traits(trial, model, steps)
        if found is not None and not _same(expected, found):
            return True
        others += model is not None
    return not others


def _build(trial: Trial, options: dict[str, Value]) -> RetrievalModel | None:
    """A model with these options; None where its class refuses them."""
    try:
        return trial.model(1, **options)
    except Exception:  # a stranger's code may raise anything
        return None


def _same(first: Traits, second: Traits) -> bool:
    return len(first) == len(second) and all(map(torch.equal, first, second))


def _traits(trial: Trial, model: RetrievalModel, steps: list[int]) -> Traits | None:
    """Weights, answers, weights of a list, and losses at these steps without and with dropout, of a model.

    None where it fails: at a width, say, that the number of heads does not divide.
    """
    batch, scores = trial.corpus.training_batch(), torch.tensor([[0.9, 0.5, 0.1]])
    try:
        with torch.no_grad():
            traits = [*model.state_dict().values(), *trial.answers(model).given().values(), model.video_weights(scores)]
            for draws, (step, training) in enumerate(product(steps, (False, True))):
                torch.manual_seed(5)
                traits += trial.losses(model.train(training), batch, draws, epoch=step).values()
    except Exception:  # a stranger's code may raise anything
        return None
    return traits
