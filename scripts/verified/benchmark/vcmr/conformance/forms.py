"""Check that a model's shapes, losses, video weights and labels have the form of the contract."""

from dataclasses import replace

import torch

from verified.benchmark.vcmr.conformance.trial import CLIPS, Trial, close, require
from verified.benchmark.vcmr.contract import Batch, RetrievalModel


def check_shapes(trial: Trial) -> None:
    """Encodings, scores and logits have the shapes of the contract, and are finite, also for large weights."""
    model, corpus = trial.model(), trial.corpus
    require(model.config == trial.config(), "config: is another one than the model was given")
    few = corpus.count - 3
    tokens, mask = corpus.all_queries
    queries, videos = trial.encode(model, (tokens[:few], mask[:few]))
    for name, tensor in queries.items():
        require(len(tensor) == few, f"encode_queries: {name!r} has {len(tensor)} rows for {few} queries")
    for name, tensor in videos.items():
        require(
            len(tensor) == corpus.count, f"encode_videos: {name!r} has {len(tensor)} rows for {corpus.count} videos"
        )
    if not trial.cls.two_stage:
        scores = model.video_scores(queries, videos)
        require(scores.shape == (few, corpus.count), f"video_scores: shape {tuple(scores.shape)}, not [Q, V]")
        require(torch.isfinite(scores).all(), "video_scores: not finite")
    spans = trial.spans(model, queries, videos, [(0, 1), (1, 1), (2, 7)])
    for name in ("start", "end"):
        logits = getattr(spans, name)
        require(logits.shape == (3, CLIPS), f"span_logits: {name} has shape {tuple(logits.shape)}, not [P, L]")
    given = spans.score is not None
    require(given == model.rescores, f"span_logits: score given is {given}, but rescores is {model.rescores}")
    if spans.score is not None:
        require(spans.score.shape == (3,), "span_logits: score must be [P]")
        require(torch.isfinite(spans.score).all(), "span_logits: score is not finite")
    if spans.proposals is not None and trial.cls.best_spans is RetrievalModel.best_spans:
        _check_windows(spans.proposals, corpus.all_videos[1][[1, 1, 7]].sum(dim=1, keepdim=True))
    require(model.pair_bytes() > 0, "pair_bytes: not positive")
    real = corpus.all_videos[1].unsqueeze(0).expand(corpus.count, -1, -1)
    large = trial.model()
    with torch.no_grad():
        for parameter in large.parameters():
            parameter.mul_(100.0 if parameter.dim() else 1.0)  # a single number may be a temperature
    for which, of in (("", model), (" of a model with large weights", large)):
        for name, answer in trial.answers(of).given().items():
            values = answer[real] if answer.dim() == 3 else answer
            place = "" if torch.isfinite(values).all() else _first_bad_place(answer, real)
            require(not place, f"{name}: not finite{which}{place}")
        total = trial.losses(of, corpus.training_batch())["total"]
        require(torch.isfinite(total), f"losses: not finite{which}")


def _check_windows(windows: torch.Tensor, clips: torch.Tensor) -> None:
    """Proposals [P, W, 3] are windows of videos with so many clips [P, 1]."""
    formed = windows.dim() == 3 and windows.shape[2] == 3
    require(formed, f"span_logits: proposals have shape {tuple(windows.shape)}, not [P, W, 3] (or write best_spans)")
    start, end, score = windows.unbind(dim=2)
    inside = (start >= 0) & (start <= end) & (end <= clips)
    require(inside.all(), "span_logits: a window of proposals leaves its video, or ends before it starts")
    require((score >= 0).all() and torch.isfinite(score).all(), "span_logits: a window scores less than 0")


def _first_bad_place(answer: torch.Tensor, real: torch.Tensor) -> str:
    broken = ~torch.isfinite(answer) & (real if answer.dim() == 3 else True)
    query, video = (int(at) for at in broken.nonzero()[0][:2])
    return f": query {query} in video {video}, which has {int(real[query, video].sum())} clips"


def check_losses(trial: Trial) -> None:
    """Losses are finite scalars and ``total`` is their sum: early and late, training or not, of one pair or many.

    The batch stays as it was, each of its items counts, and bfloat16 (autocast) does not stop them.
    """
    model = trial.model()
    whole = trial.corpus.training_batch()
    single = Batch(**{name: value[:1] for name, value in vars(whole).items()})
    for batch, epoch in ((whole, 0), (whole, 1000), (single, 0), (single, 1000)):
        for training in (False, True):
            copy = replace(batch, **{name: value.clone() for name, value in vars(batch).items()})
            losses = trial.losses(model.train(training), batch, epoch=epoch)
            _check_sum(losses, f" (a batch of {len(batch.span)})")
            for name, value in vars(batch).items():
                require(torch.equal(value, getattr(copy, name)), f"losses: change {name!r} of the batch in place")
    with torch.autocast("cpu", torch.bfloat16):
        total = trial.losses(model.train(), whole)["total"]
    require(torch.isfinite(total), "losses: not finite in bfloat16 (autocast)")
    _check_items(trial, model.eval(), whole)


def _check_items(trial: Trial, model: RetrievalModel, batch: Batch) -> None:
    """Other labels or other clips of any one item change the total."""
    total = trial.losses(model, batch)["total"]
    for item in range(len(batch.span)):
        if trial.corpus.all_videos[1][item].sum() < 2:
            continue  # one clip: its labels cannot be others
        for name in ("span", "video") if trial.cls.localises else ("video",):
            changed = {field: value.clone() for field, value in vars(batch).items()}
            row = changed[name][item]
            if name == "video":
                row.mul_(1 - 2 * (torch.arange(row.shape[-1]) % 2))
            else:
                row.copy_(torch.where(row > 0, row - 1, row + 1))
            other = trial.losses(model, Batch(**changed))["total"]
            require(
                not torch.equal(other, total), f"losses: another {name} of item {item} of the batch changes nothing"
            )


def _check_sum(losses: dict[str, torch.Tensor], place: str) -> None:
    require("total" in losses, "losses: there is no 'total'")
    for name, value in losses.items():
        require(value.dim() == 0 and torch.isfinite(value), f"losses: {name!r} is not a finite scalar{place}")
    parts = sum((value for name, value in losses.items() if name != "total"), torch.zeros(()))
    require(len(losses) == 1 or close(parts, losses["total"]), "losses: 'total' is not the sum of the others")


def check_weights(trial: Trial) -> None:
    """A better video weighs more, at any position; weights are finite, positive and of their list alone."""
    model = trial.model()
    scores = torch.tensor([[0.9, 0.5, 0.1, -0.3], [0.8, 0.7, 0.6, 0.2]])
    if trial.cls.two_stage and not model.rescores:
        scores = scores.exp()
    given = scores.clone()
    weights = model.video_weights(given)
    require(torch.equal(given, scores), "video_weights: changes the scores in place")
    require(weights.shape == scores.shape, f"video_weights: shape {tuple(weights.shape)}, not [Q, K]")
    require(
        torch.isfinite(weights).all(),
        f"video_weights: not finite for scores from {scores.min():.2g} to {scores.max():.2g}",
    )
    require(
        (weights > 0).all(), f"video_weights: not positive for scores from {scores.min():.2g} to {scores.max():.2g}"
    )
    turned = model.video_weights(scores.flip(1)).flip(1)
    require(close(turned, weights), "video_weights: a video's weight depends on its place in the list")
    require((weights[:, 1:] <= weights[:, :-1]).all(), "video_weights: a lower score weighs more")
    require((weights[:, 1:] < weights[:, :-1]).all(), "video_weights: a lower score weighs as much")
    near = torch.tensor([[0.5, 0.499, 0.498, 0.497]])
    near = model.video_weights(near.exp() if trial.cls.two_stage and not model.rescores else near)
    require((near[:, 1:] < near[:, :-1]).all(), "video_weights: a score that is lower by 0.001 weighs as much")
    for row in range(len(scores)):
        require(
            close(model.video_weights(scores[row : row + 1])[0], weights[row]),
            "video_weights: other queries change the weights of a query's videos",
        )


def check_labels(trial: Trial) -> None:
    """Labels of moments anywhere in a video are clips of it, in order, and the first one holds the moment's start."""
    for start, end in ((0.0, 1.0), (2.5, 4.5), (0.0, 6.0), (5.5, 6.0), (5.0, 99.0), (7.0, 9.0), (3.9, 5.1)):
        for seconds in (1.0, 1.5):
            first, last = trial.cls.label(start * seconds, end * seconds, seconds, 6)
            text = f"label: {start}–{end} of a 6-clip video becomes clips {first}…{last}"
            require(0 <= first <= last < 6, text)
            require(first == min(int(start), 5), f"{text}; its start lies in clip {min(int(start), 5)}")
