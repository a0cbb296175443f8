"""Does a retrieval model keep its contract? Checks that need no data, for the project's models and for anybody's.

Each check takes a `Trial` and raises `NonConformance` with the reason. ``verified check-model FILE`` runs them all;
``pytest tests/retrieval/test_conformance.py`` runs them for every model of the registry.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from verified.retrieval import search as engine
from verified.retrieval.checkpoint import load_tensors, save_tensors
from verified.retrieval.contract import Batch, Encoded, RetrievalModel, Spans
from verified.retrieval.metrics import NO_VIDEO
from verified.retrieval.optimisers import AdamW, parameter_groups
from verified.retrieval.toy import CLIPS, Toy

TOLERANCE = 1e-4
"""Largest difference that rounding may make between one way of batching and another."""
OVERFIT_STEPS = 250


class NonConformance(AssertionError):
    """A model breaks its contract; the message says how."""


def require(condition: object, reason: str) -> None:
    """Raise NonConformance with `reason` unless `condition` holds."""
    if not condition:
        raise NonConformance(reason)


class Trial:
    """A small model of one class and a toy corpus in the form it asks for."""

    def __init__(self, cls: type[RetrievalModel], options: dict | None = None):
        self.cls, self.options = cls, {**cls.small, **(options or {})}
        self.toy = Toy(cls)

    def model(self, seed: int = 1) -> RetrievalModel:
        """A fresh model in evaluation mode (no dropout)."""
        torch.manual_seed(seed)
        return self.cls(self.cls.Config(**self.toy.sizes, **self.options)).eval()

    def losses(self, model: RetrievalModel, batch: Batch, draws: int = 3, epoch: int = 0) -> dict[str, Tensor]:
        """Losses of a batch with a fresh generator."""
        generator = torch.Generator().manual_seed(draws)
        return model.losses(batch, epoch=epoch, step=epoch, generator=generator)

    def encoded(self, model: RetrievalModel) -> tuple[Encoded, Encoded]:
        """All queries and all videos of the toy corpus."""
        with torch.no_grad():
            return model.encode_queries(*self.toy.all_queries), model.encode_videos(*self.toy.all_videos)

    def spans(self, model: RetrievalModel, queries: Encoded, videos: Encoded, pairs: list[tuple[int, int]]) -> Spans:
        """Localisation of (query, video) pairs, given in any order; rows come back in that order."""
        order = sorted(range(len(pairs)), key=lambda pair: pairs[pair][1])
        query = torch.tensor([pairs[pair][0] for pair in order])
        video = torch.tensor([pairs[pair][1] for pair in order])
        with torch.no_grad():
            spans = model.span_logits(queries, videos, query, video)
        back = torch.tensor(order).argsort()
        return Spans(*(None if part is None else part[back] for part in spans))


def taken(encoded: Encoded, index: list[int]) -> Encoded:
    """The encodings at `index`."""
    return {name: tensor[index] for name, tensor in encoded.items()}


def close(first: Tensor, second: Tensor) -> bool:
    """Equal but for rounding, relative to the size of the numbers."""
    return bool(((first - second).abs() <= TOLERANCE * (1 + second.abs())).all())


def check_shapes(trial: Trial) -> None:
    """Encodings, scores and logits have the shapes of the contract, and are finite."""
    model, toy = trial.model(), trial.toy
    queries, videos = trial.encoded(model)
    for name, tensor in queries.items():
        require(len(tensor) == toy.count, f"encode_queries: {name!r} has {len(tensor)} rows for {toy.count} queries")
    for name, tensor in videos.items():
        require(len(tensor) == toy.count, f"encode_videos: {name!r} has {len(tensor)} rows for {toy.count} videos")
    if not trial.cls.two_stage:
        scores = model.video_scores(queries, videos)
        require(scores.shape == (toy.count, toy.count), f"video_scores: shape {tuple(scores.shape)}, not [Q, V]")
        require(torch.isfinite(scores).all(), "video_scores: not finite")
    spans = trial.spans(model, queries, videos, [(0, 1), (1, 1), (2, 3)])
    for name in ("start", "end"):
        logits = getattr(spans, name)
        require(logits.shape == (3, CLIPS), f"span_logits: {name} has shape {tuple(logits.shape)}, not [P, L]")
        require(torch.isfinite(logits).all(), f"span_logits: {name} is not finite")
    given = spans.score is not None
    require(given == trial.cls.rescores, f"span_logits: score given is {given}, but rescores is {trial.cls.rescores}")
    require(not given or spans.score.shape == (3,), "span_logits: score must be [P]")


def check_losses(trial: Trial) -> None:
    """Losses are finite scalars and ``total`` is their sum, in early and in late epochs."""
    model = trial.model()
    for epoch in (0, 1000):
        losses = trial.losses(model, trial.toy.training_batch(), epoch=epoch)
        require("total" in losses, "losses: there is no 'total'")
        for name, value in losses.items():
            require(value.dim() == 0 and torch.isfinite(value), f"losses: {name!r} is not a finite scalar")
        parts = sum(value for name, value in losses.items() if name != "total")
        require(len(losses) == 1 or close(parts, losses["total"]), "losses: 'total' is not the sum of the others")


def check_pads(trial: Trial) -> None:
    """Clips behind the end of a video get no probability."""
    model = trial.model()
    queries, videos = trial.encoded(model)
    spans = trial.spans(model, queries, videos, [(i, i) for i in range(trial.toy.count)])
    pads = ~trial.toy.all_videos[1]
    for name in ("start", "end"):
        share = getattr(spans, name).softmax(dim=1)[pads].max()
        require(share < 1e-6, f"span_logits: pads hold {share:.2g} of the {name} probability of a video")


def check_weights(trial: Trial) -> None:
    """A better video never weighs less, and weights are positive."""
    scores = torch.tensor([[0.9, 0.5, 0.1, -0.3]])
    weights = trial.model().video_weights(scores.exp() if trial.cls.two_stage and not trial.cls.rescores else scores)
    require(weights.shape == scores.shape, f"video_weights: shape {tuple(weights.shape)}, not [Q, K]")
    require((weights > 0).all(), "video_weights: not positive")
    require((weights[:, 1:] <= weights[:, :-1]).all(), "video_weights: a lower score weighs more")


def check_labels(trial: Trial) -> None:
    """Labels of moments anywhere in a video are clips of it, in order."""
    for start, end in ((0.0, 1.0), (2.5, 4.5), (0.0, 6.0), (5.5, 6.0), (5.0, 99.0), (7.0, 9.0)):
        first, last = trial.cls.label(start, end, 1.0, 6)
        require(0 <= first <= last < 6, f"label: {start}–{end} s of a 6-clip video becomes clips {first}…{last}")


def check_gradients(trial: Trial) -> None:
    """Some loss reaches every parameter that is trained."""
    model = trial.model()
    for draws in range(12):
        trial.losses(model, trial.toy.training_batch(draws), draws, epoch=1000 * (draws % 2))["total"].backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            reached = parameter.grad is not None and bool(parameter.grad.abs().max() > 0)
            require(reached, f"losses: no gradient reaches {name}")


def check_overfitting(trial: Trial) -> None:
    """One batch is learned by heart: its loss falls to under a third, and most of its moments start where they do."""
    model, batch = trial.model(), trial.toy.training_batch()
    before = trial.losses(model, batch)["total"].item()
    optimiser = AdamW(parameter_groups(model.named_parameters(), 0.0), lr=2e-3)
    for step in range(OVERFIT_STEPS):
        optimiser.zero_grad()
        trial.losses(model, batch, draws=step)["total"].backward()
        optimiser.step()
        if step % 25 == 24:
            after, right = trial.losses(model, batch)["total"].item(), _starts_found(trial, model)
            if after < before / 3 and right >= 0.75:
                return
    learned = f"losses: {OVERFIT_STEPS} steps on one batch take the loss from {before:.3f} to {after:.3f}"
    require(after < before / 3, learned)
    require(right >= 0.75, f"span_logits: after learning a batch by heart only {right:.0%} of its starts are found")


def _starts_found(trial: Trial, model: RetrievalModel) -> float:
    spans = trial.spans(model, *trial.encoded(model), [(i, i) for i in range(trial.toy.count)])
    return (spans.start.argmax(dim=1) == trial.toy.span[:, 0]).float().mean().item()


def check_batch_mates(trial: Trial) -> None:
    """What a query or a video is batched with does not change its scores."""
    model, count = trial.model(), trial.toy.count
    queries, videos = trial.encoded(model)
    pairs = [(i, (i * 3) % count) for i in range(count)]
    whole = trial.spans(model, queries, videos, pairs)
    scores = None if trial.cls.two_stage else model.video_scores(queries, videos)
    for i in (0, count // 2):
        with torch.no_grad():
            query = model.encode_queries(*(part[i : i + 1] for part in trial.toy.all_queries))
            video = model.encode_videos(*(part[i : i + 1] for part in trial.toy.all_videos))
            if scores is not None:
                alone = model.video_scores(query, videos)[0], model.video_scores(queries, video)[:, 0]
                require(close(alone[0], scores[i]), "video_scores: other queries of the batch change a query's scores")
                require(
                    close(alone[1], scores[:, i]), "video_scores: other videos of the batch change a video's scores"
                )
        spans = trial.spans(model, query, taken(videos, [pairs[i][1]]), [(0, 0)])
        for name, part in zip(Spans._fields, spans):
            same = part is None or close(part[0], getattr(whole, name)[i])
            require(same, f"span_logits: other pairs of the batch change a pair's {name}")


def check_determinism(trial: Trial) -> None:
    """The same seed gives the same weights, losses and gradients; other draws than dropout come from the generator."""
    models = [trial.model(), trial.model()]
    for (name, first), second in zip(models[0].named_parameters(), models[1].parameters()):
        require(torch.equal(first, second), f"the same seed gives different initial weights of {name}")
    totals = []
    for seed, model in enumerate(models):
        torch.manual_seed(seed)
        losses = trial.losses(model, trial.toy.training_batch())
        losses["total"].backward()
        totals.append({name: float(value.detach()) for name, value in losses.items()})
    require(totals[0] == totals[1], "losses: without dropout they depend on the global seed; draw from `generator`")
    for (name, first), second in zip(models[0].named_parameters(), models[1].parameters()):
        same = first.grad is second.grad is None or torch.equal(first.grad, second.grad)
        require(same, f"losses: the same seed gives different gradients of {name}")


def check_no_leak(trial: Trial) -> None:
    """VR and VCMR lists are the same whichever video is the true one; SVMR lists hold the true one alone."""
    model, toy = trial.model(), trial.toy
    # Whatever a model may have kept from training must not help it here.
    trial.losses(model, toy.training_batch())
    shifted = toy.moments((toy.true_video + 3) % toy.count)
    lists = []
    for moments in (toy.moments(toy.true_video), shifted):
        found = engine.search(model, toy, toy.queries, moments, toy.searching, toy.ranked).tasks()
        shown = found["SVMR"].video
        require((shown[:, 0] == moments.video).all(), "SVMR: a list does not look into the true video")
        rest = (shown == moments.video[:, None]) | (shown == NO_VIDEO)
        require(rest.all(), "SVMR: a list holds another video than the true one")
        lists.append(found)
    for task in ("VR", "VCMR"):
        first, second = (torch.from_numpy(found[task].score) for found in lists)
        same = first.shape == second.shape and close(first.log1p(), second.log1p())
        require(same, f"{task}: lists change with the true video, which the model must not know")


def check_state(trial: Trial) -> None:
    """A model that is saved and loaded scores as before: everything it learned is in its state."""
    model = trial.model()
    optimiser = AdamW(parameter_groups(model.named_parameters(), 0.0), lr=1e-2)
    for step in range(3):
        trial.losses(model, trial.toy.training_batch(step))["total"].backward()
        optimiser.step()
    other = trial.model(seed=2)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.safetensors"
        save_tensors(file, model.state_dict(), {})
        other.load_state_dict(load_tensors(file)[0])
    pairs = [(i, i) for i in range(trial.toy.count)]
    first, second = (trial.spans(m, *trial.encoded(m), pairs) for m in (model, other))
    for name, a, b in zip(Spans._fields, first, second):
        require(a is None or torch.equal(a, b), f"span_logits: {name} differs after saving and loading")
    if not trial.cls.two_stage:
        a, b = (m.video_scores(*trial.encoded(m)) for m in (model, other))
        require(torch.equal(a, b), "video_scores: differ after saving and loading")


CHECKS: dict[str, Callable[[Trial], None]] = {
    check.__name__.removeprefix("check_"): check
    for check in (
        check_shapes, check_losses, check_pads, check_weights, check_labels, check_gradients, check_overfitting,
        check_batch_mates, check_determinism, check_no_leak, check_state,
    )
}  # fmt: skip
"""All checks by name, quick ones first."""


def failures(
    cls: type[RetrievalModel], only: Iterable[str] = (), options: dict | None = None
) -> Iterator[tuple[str, str | None]]:
    """Run all checks, or `only` some; yields name and reason of failure, or None. What a model raises is a reason."""
    for name in only or CHECKS:
        with _one_thread():
            try:
                CHECKS[name](Trial(cls, options))
            except NonConformance as error:
                yield name, str(error)
            except Exception as error:  # a stranger's code may raise anything
                yield name, f"{type(error).__name__}: {error}"
            else:
                yield name, None


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
