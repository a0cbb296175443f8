"""The same again: twice, by another seed, in float64, after saving and loading."""

import random
import tempfile
from pathlib import Path

import numpy as np
import torch

from verified.benchmark.vcmr.checkpoint import FORM
from verified.benchmark.vcmr.conformance.trial import Answers, Trial, close, require, require_same, to_float64
from verified.benchmark.vcmr.contract import Batch, RetrievalModel
from verified.nn.checkpoint import load, save
from verified.nn.training import parameter_groups

PRECISION = 1e-3
"""Largest difference of float32 from float64, as a share of the largest difference between two answers."""

ANNEALED = 100
"""Epochs and steps between the batches of a little training, so that annealed values move."""
PADS = -1e3
"""Smaller values are logits of pads."""


def check_repetition(trial: Trial) -> None:
    """Evaluation has no memory: repeated after other calls and with another model loaded, the answers are equal.

    Unchanged are also the inputs, the model's mode, its trainable parameters and the global generators.
    """
    model, corpus = trial.model(), trial.corpus
    given = {
        f"encode_{side}: changes its {part} in place": (tensor, tensor.clone())
        for side, padded in (("queries", corpus.all_queries), ("videos", corpus.all_videos))
        for part, tensor in zip(("input", "mask"), padded)
    }
    _check_modes(trial, model)
    _seed_globally(7)  # as no model would, so that a seed shows that was set before
    drawn = _generator_states()
    queries, videos = trial.encode(model)
    copies = [{name: tensor.clone() for name, tensor in encoded.items()} for encoded in (queries, videos)]
    first = trial.answers_of(model, queries, videos)
    for part, before, after in (("queries", copies[0], queries), ("videos", copies[1], videos)):
        for name, tensor in before.items():
            require(torch.equal(tensor, after[name]), f"scoring changes the encoding {name!r} of the {part} in place")
    for complaint, (after, before) in given.items():
        require(torch.equal(after, before), complaint)
    require(_generator_states() == drawn, "evaluation draws from a global generator or sets its seed")
    pairs = torch.tensor([0, 2, 1]), torch.tensor([1, 1, 4])
    with torch.no_grad():
        model.span_logits(queries, videos, *pairs)
    unchanged = [pair.tolist() for pair in pairs] == [[0, 2, 1], [1, 1, 4]]
    require(unchanged, "span_logits: changes the numbers of the pairs in place")
    trial.model(seed=2)
    with_other = trial.answers_of(model, queries, videos)
    require_same(with_other, first, "differs after another model of the class was built", torch.equal)
    trial.encode(
        model,
        (corpus.all_queries[0][:2], corpus.all_queries[1][:2]),
        (corpus.all_videos[0][3:5], corpus.all_videos[1][3:5]),
    )
    again = trial.answers_of(model, queries, videos)
    require_same(again, first, "differs after other queries and videos were encoded", torch.equal)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    trial.losses(model.train(), corpus.training_batch())
    model.load_state_dict(state)  # training may change saved buffers, such as running means
    again = trial.answers(model.eval())
    require_same(again, first, "differs when it is computed again", torch.equal)


def _check_modes(trial: Trial, model: RetrievalModel) -> None:
    trainable = [parameter.requires_grad for parameter in model.parameters()]
    for training in (True, False):
        model.train(training)
        trial.encode(model)
        modes = {module.training for module in model.modules()}
        require(modes == {training}, "encoding changes the model's mode (train or eval)")
    after = [parameter.requires_grad for parameter in model.parameters()]
    require(after == trainable, "encoding changes which parameters are trained")


def _generator_states() -> tuple:
    """States of the global generators."""
    return torch.get_rng_state().tolist(), *_other_generator_states()


def _other_generator_states() -> tuple:
    """States of NumPy's and Python's global generators."""
    of_numpy = np.random.get_state(legacy=False)["state"]
    return of_numpy["key"].tolist(), of_numpy["pos"], random.getstate()


def check_determinism(trial: Trial) -> None:
    """The same seed gives the same weights, losses and gradients; another seed gives different ones.

    All draws except dropout come from the given generator, which is never re-seeded, nor is any other.
    """
    models = [trial.model(), trial.model()]
    other = trial.model(seed=2).state_dict().items()
    fixed = all(torch.equal(value, models[0].state_dict()[name]) for name, value in other)
    require(not fixed, "two seeds give the same initial weights: a seed is set where the model is built")
    for (name, first), second in zip(models[0].named_parameters(), models[1].parameters()):
        require(torch.equal(first, second), f"the same seed gives different initial weights of {name}")
    totals = []
    for seed, model in enumerate(models):
        _seed_globally(seed)
        losses = trial.losses(model, trial.corpus.training_batch())
        losses["total"].backward()
        totals.append({name: float(value.detach()) for name, value in losses.items()})
    require(totals[0] == totals[1], "losses: without dropout they depend on the global seed; draw from `generator`")
    for (name, first), second in zip(models[0].named_parameters(), models[1].parameters()):
        one, other = first.grad, second.grad
        same = one is other if one is None or other is None else torch.equal(one, other)
        require(same, f"losses: the same seed gives different gradients of {name}")
    trained, states = [], []
    for seed, model in enumerate(models):
        _seed_globally(seed)
        torch.manual_seed(0)
        before = _other_generator_states()
        trained.append(float(trial.losses(model.train(), trial.corpus.training_batch())["total"].detach()))
        require(
            _other_generator_states() == before,
            "losses: draw from NumPy's or Python's global generator, or set its seed",
        )
        states.append(_after_losses(trial, model, seed))
    for which, one, other in zip(("torch's global generator", "the generator that they are given"), *states):
        require(one != other, f"losses: set the seed of {which}")
    require(trained[0] == trained[1], "losses: in training the same seed of torch gives different losses")


def _after_losses(trial: Trial, model: RetrievalModel, seed: int) -> tuple[list[int], list[int]]:
    """States of torch's global generator and the given one after losses that began with a seed."""
    torch.manual_seed(seed)
    given = torch.Generator().manual_seed(seed)
    model.losses(trial.corpus.training_batch(), epoch=0, step=0, generator=given)
    return torch.get_rng_state().tolist(), given.get_state().tolist()


def _seed_globally(seed: int) -> None:
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def check_precision(trial: Trial) -> None:
    """Answers and loss in float32 agree with those in float64, and no answer is rounded to half of its digits."""
    model, corpus = trial.model(), trial.corpus
    double = trial.model().double()
    answers = trial.answers(double, to_float64(corpus.all_queries), to_float64(corpus.all_videos))
    _check_steps(trial, double, answers)
    require_same(trial.answers(model), answers, "differs between float32 and float64", _agrees)
    if {value.dtype for value in double.encode_videos(*to_float64(corpus.all_videos)).values()} & {torch.float32}:
        return  # encoders of fixed precision: no losses in float64
    batch = corpus.training_batch()
    wide = Batch(
        to_float64((batch.query, batch.query_mask))[0],
        batch.query_mask,
        batch.video.double(),
        batch.video_mask,
        batch.span,
    )
    first, second, other = trial.losses(model, batch), trial.losses(double, wide), trial.losses(model, batch, 1)
    differ = [name for name, loss in first.items() if not close(loss.double(), second[name].double(), PRECISION)]
    # Noise that is drawn in the format of the batch is another one in float64.
    steady = [name for name in differ if torch.equal(first[name], other[name])]
    require(not steady, f"losses: {', '.join(steady)} differ between float32 and float64")


def _check_steps(trial: Trial, double: RetrievalModel, answers: Answers) -> None:
    """A change of 1e-7 in the inputs moves most of the answers; if 16-bit numbers are involved, hardly any."""
    draw = torch.Generator().manual_seed(8)
    queries, videos = to_float64(trial.corpus.all_queries), to_float64(trial.corpus.all_videos)
    for side in ("query", "video"):
        moved = queries, videos
        model = double
        if side == "video":
            moved = queries, (_nudge(videos[0], draw), videos[1])
        elif queries[0].is_floating_point():
            moved = (_nudge(queries[0], draw), queries[1]), videos
        else:  # token ids: their vectors move
            model = trial.model().double()
            for table in model.modules():
                if isinstance(table, torch.nn.Embedding) and table.num_embeddings == trial.corpus.sizes["vocabulary"]:
                    table.weight.data = _nudge(table.weight.data, draw)
        for (name, before), after in zip(answers.given().items(), trial.answers(model, *moved).given().values()):
            share = (before != after)[before > PADS].double().mean()
            require(
                share > 0.5 or not trial.asks(name),
                f"{name}: rounded to 16 bits, or computed from what is, on the way from the {side}",
            )


def _nudge(values: torch.Tensor, draw: torch.Generator) -> torch.Tensor:
    return values * (1 + 1e-7 * torch.randn(values.shape, generator=draw, dtype=values.dtype))


def _agrees(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether both agree within `PRECISION` of the spread of the real numbers (pads are much smaller)."""
    real = second[second > PADS]
    return bool((first.double() - second).abs()[second > PADS].max() <= PRECISION * (real.max() - real.min()))


def check_state(trial: Trial) -> None:
    """A model that is saved and loaded gives the same answers and continues training equally: its state is complete."""
    model = trial.model()
    trial.answers(model)  # a memory of these answers must not outlive the training
    optimiser = torch.optim.AdamW(parameter_groups(model.named_parameters(), 0.0), lr=1e-2, fused=True)
    for step in range(3):
        batch = trial.corpus.training_batch(step)
        trial.losses(model.train(), batch, epoch=ANNEALED * step)["total"].backward()
        optimiser.step()
    loaded, expected = _save_and_load(trial, model), trial.answers(model.eval())
    require_same(trial.answers(loaded), expected, "differs after saving and loading", torch.equal)
    if expected.video_scores is not None:
        same = torch.equal(loaded.video_weights(expected.video_scores), model.video_weights(expected.video_scores))
        require(same, "video_weights: differ after saving and loading")
    totals = []
    for one in (model, _save_and_load(trial, model)):
        torch.manual_seed(4)
        totals.append(float(trial.losses(one.train(), trial.corpus.training_batch(9), draws=9)["total"].detach()))
    require(totals[0] == totals[1], "losses: go on otherwise after saving and loading than without")


def _save_and_load(trial: Trial, model: RetrievalModel) -> RetrievalModel:
    other = trial.model(seed=2)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.safetensors"
        save(file, FORM, model.state_dict(), {})
        other.load_state_dict(load(file, FORM)[0])
    return other
