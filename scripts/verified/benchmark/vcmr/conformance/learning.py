"""Check learning: gradients reach every trained weight, a batch can be overfitted, and every option has an effect."""

from collections.abc import Iterator
from dataclasses import fields
from itertools import product

import torch

from verified.benchmark.submissions import list_some
from verified.benchmark.vcmr.conformance.trial import Trial, require
from verified.benchmark.vcmr.contract import ModelConfig, RetrievalModel
from verified.nn.training import parameter_groups

OVERFIT_STEPS = 250
SHOWN = 2
"""Parameters that a message names."""
LEARNED = 0.75
"""Share of the synthetic moments that must be found after learning them by heart."""


def check_gradients(trial: Trial) -> None:
    """Some loss reaches every parameter that is trained, in training mode, and gradients are finite.

    It looks at a few steps, since weights that begin at zero keep gradients from those before them, as in the first
    layer of a DETR's decoder. `untrained` declares exceptions, and no others.
    """
    model = trial.model().train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    reached: set[str] = set()
    for draws in range(12):
        trial.losses(model, trial.corpus.training_batch(draws), draws, epoch=1000 * (draws % 2))["total"].backward()
        if draws % 4 == 3:
            gradients = {name: value.grad for name, value in model.named_parameters() if value.grad is not None}
            broken = [name for name, gradient in gradients.items() if not torch.isfinite(gradient).all()]
            require(not broken, f"losses: the gradient is not finite in {list_some(broken, SHOWN)}")
            reached |= {name for name, gradient in gradients.items() if gradient.abs().max() > 0}
            optimiser.step()
            optimiser.zero_grad()
    named = {id(parameter) for _, parameter in model.named_parameters()}
    hidden = [
        type(module).__name__
        for module in model.modules()
        for parameter in module._parameters.values()
        if parameter is not None and parameter.requires_grad and id(parameter) not in named
    ]
    require(not hidden, f"named_parameters: leaves out parameters of {list_some(sorted(set(hidden)), SHOWN)}")
    trained = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    unreached = [name for name in trained if name not in reached and name not in trial.cls.untrained]
    require(
        not unreached,
        f"losses: no gradient reaches {list_some(unreached, SHOWN)} (untrained names those that need none)",
    )
    wrong = [name for name in trial.cls.untrained if name in reached or name not in trained]
    require(not wrong, f"untrained: names {list_some(wrong, SHOWN)}, which is trained or no parameter")


def check_overfitting(trial: Trial) -> None:
    """One batch is learned by heart: its loss falls to under a third, and starts, ends and videos are found.

    It is learned in training mode, without dropout where the model has an option of that name.
    """
    more = {"dropout": 0.0} if hasattr(trial.config(), "dropout") else {}
    model, batch = trial.model(1, **more), trial.corpus.training_batch()
    before = trial.losses(model, batch)["total"].item()
    optimiser = torch.optim.AdamW(parameter_groups(model.named_parameters(), 0.0), lr=2e-3, fused=True)
    for step in range(OVERFIT_STEPS):
        optimiser.zero_grad()
        trial.losses(model.train(), batch, draws=step)["total"].backward()
        optimiser.step()
        model.eval()
        if step % 25 == 24:
            after, right = trial.losses(model, batch)["total"].item(), _hit_shares(trial, model)
            if after < before / 3 and min(right.values()) >= LEARNED:
                return
    learned = f"losses: {OVERFIT_STEPS} steps on one batch take the loss from {before:.3f} to {after:.3f}"
    require(after < before / 3, learned)
    for name, share in right.items():
        require(share >= LEARNED, f"after learning a batch by heart only {share:.0%} of its {name} are found")


def _hit_shares(trial: Trial, model: RetrievalModel) -> dict[str, float]:
    """Shares of starts and ends, where the model localises, and own videos, where it ranks them, that it puts first."""
    answers = trial.answers(model)
    query = torch.arange(trial.corpus.count)
    right = {}
    if trial.cls.localises:
        right["starts"] = answers.start[query, query].argmax(dim=1) == trial.corpus.span[:, 0]
        right["ends"] = answers.end[query, query].argmax(dim=1) == trial.corpus.span[:, 1]
    if answers.video_scores is not None:
        right["videos"] = answers.video_scores.argmax(dim=1) == query
    if answers.score is not None:
        slots = trial.corpus.slots()
        right["videos"] = answers.score.gather(1, slots).argmax(dim=1) == 0
    return {name: answers.float().mean().item() for name, answers in right.items()}


LATE = 10_000
"""An epoch and step after all delayed starts."""
NEGATIVES = 2
"""Negatives in the lists that two-stage models learn from here, also those without any in their recipe."""

Traits = list[torch.Tensor]
Value = bool | int | float


def check_options(trial: Trial) -> None:
    """Another value of an option changes a weight, an answer, a listed video's weight, or a loss.

    Some options matter only in combination (a share of something that is off), so each is also tried with changes of
    the others. Options without effect on numbers are named in `technical_options`.
    """
    trial.corpus.negatives = max(trial.corpus.negatives, NEGATIVES) if trial.cls.two_stage else 0
    given = {name: getattr(trial.config(), name) for name in _model_options(trial)}
    for name, value in given.items():
        changes = [{other: next(_others(given[other]))} for other in given if other != name]
        read = any(_has_effect(trial, name, value, more) for more in ({}, *changes))
        require(read, f"Config: the option {name!r} changes nothing (technical_options names those that should not)")


def _model_options(trial: Trial) -> list[str]:
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
    """Other values of an option, all non-zero: zero may be special."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (other for other in dict.fromkeys((1, value // 2, 2 * value, 2)) if other not in (0, value))
    else:
        yield from (value / 2, 2 * value, value / 100) if value else (0.5, 1.0)


def _has_effect(trial: Trial, name: str, value: Value, more: dict[str, Value]) -> bool:
    """Whether another value of an option changes a model, together with `more` options, or makes it invalid."""
    steps = sorted({0, LATE, int(value) * 3 // 4})  # a delayed start is over there at half of the value
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
    """A model with these options; None if its class refuses them."""
    try:
        return trial.model(1, **options)
    except Exception:  # a stranger's code may raise anything
        return None


def _same(first: Traits, second: Traits) -> bool:
    return len(first) == len(second) and all(map(torch.equal, first, second))


def _traits(trial: Trial, model: RetrievalModel, steps: list[int]) -> Traits | None:
    """Weights, answers, weights of a list, and losses at these steps without and with dropout, of a model.

    None if it fails, for example at a width that the number of heads does not divide.
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
