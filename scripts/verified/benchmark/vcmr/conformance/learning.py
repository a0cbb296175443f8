"""Gradients reach what is trained, and a batch can be learned by heart."""

import torch

from verified.benchmark.vcmr.conformance.trial import Trial, require
from verified.benchmark.vcmr.contract import RetrievalModel
from verified.nn.training import parameter_groups

OVERFIT_STEPS = 250
SHOWN = 2
"""Parameters that a message names."""
LEARNED = 0.75
"""Share of the synthetic moments that must be found after learning them by heart."""


def check_gradients(trial: Trial) -> None:
    """Some loss reaches every parameter that is trained, in training mode, and gradients are finite."""
    model = trial.model().train()
    for draws in range(12):
        trial.losses(model, trial.corpus.training_batch(draws), draws, epoch=1000 * (draws % 2))["total"].backward()
    named = {id(parameter) for _, parameter in model.named_parameters()}
    hidden = [
        type(module).__name__
        for module in model.modules()
        for parameter in module._parameters.values()
        if parameter is not None and parameter.requires_grad and id(parameter) not in named
    ]
    require(not hidden, f"named_parameters: leaves out parameters of {_some(sorted(set(hidden)))}")
    trained = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.requires_grad}
    unreached = [name for name, gradient in trained.items() if gradient is None or not gradient.abs().max() > 0]
    require(not unreached, f"losses: no gradient reaches {_some(unreached)}")
    broken = [name for name, gradient in trained.items() if gradient is not None and not torch.isfinite(gradient).all()]
    require(not broken, f"losses: the gradient is not finite in {_some(broken)}")


def _some(names: list[str]) -> str:
    """The first names, and how many more there are: a line at most."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


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
    for what, share in right.items():
        require(share >= LEARNED, f"after learning a batch by heart only {share:.0%} of its {what} are found")


def _hit_shares(trial: Trial, model: RetrievalModel) -> dict[str, float]:
    """Shares of starts, ends and, where the model ranks videos, own videos that its answers put first."""
    answers = trial.answers(model)
    query = torch.arange(trial.corpus.count)
    right = {
        "starts": answers.start[query, query].argmax(dim=1) == trial.corpus.span[:, 0],
        "ends": answers.end[query, query].argmax(dim=1) == trial.corpus.span[:, 1],
    }
    if answers.video_scores is not None:
        right["videos"] = answers.video_scores.argmax(dim=1) == query
    if answers.score is not None:
        slots = trial.corpus.slots()
        right["videos"] = answers.score.gather(1, slots).argmax(dim=1) == 0
    return {what: answers.float().mean().item() for what, answers in right.items()}
