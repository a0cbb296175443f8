"""A training step: the switches, one process against several, and resuming after a kill."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from verified.evaluator.inputs import make_batch
from verified.evaluator.model import NoiseEvaluator, confidence, similarity
from verified.evaluator.processes import share
from verified.evaluator.settings import architecture
from verified.evaluator.training import (
    Schedule,
    TrainingStep,
    contrastive_loss,
    draw_negatives,
    matching_loss,
    total_loss,
    train,
)
from verified.evaluator.vision import normalise
from verified.nn.training import TrainingState

ITEMS = 8
SIZE = architecture("tiny", 3, 32)


def batch_for(rank=0, size=1):
    """Eight items of random pixels; captions 0 and 5 are equal but for their case."""
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 256, (ITEMS, 3, 32, 32, 3), dtype=np.uint8)
    colours = ["red", "blue", "green", "white", "pink", "Red", "orange", "purple"]
    captions = {
        "caption": [f"a {colour} ball moves" for colour in colours],
        "positive": [f"one {colour} ball is moving along" for colour in colours],
        "static": [f"a {colour} box moves" for colour in colours],
        "dynamic": [f"a {colour} ball rests" for colour in colours],
    }
    return make_batch(frames[share(ITEMS, rank, size)], captions, [f"item {n}" for n in range(ITEMS)])


def fresh_step(hard_negatives="all", normaliser="batch"):
    torch.manual_seed(1)
    step = TrainingStep(NoiseEvaluator(SIZE), hard_negatives, normaliser)
    step.generator.manual_seed(4)
    return step


def losses_by_hand(step, batch):
    """Equations 9 to 11 from every similarity and every logit there is, drawn pairs picked out afterwards."""
    model = step.model
    tokens, videos = model.encode_video(normalise(batch.frames))
    memory = model.fusion.memory(tokens)
    sims, margins = [], []
    for ids, mask in zip(batch.ids, batch.mask):
        states, texts = model.encode_text(ids, mask)
        sims.append(similarity(videos, texts))
        logits = model.match(states.repeat(ITEMS, 1, 1), mask.repeat(ITEMS, 1), memory)
        margins.append(confidence(logits.reshape(ITEMS, ITEMS, 2))["margin"])
    generator = torch.Generator().manual_seed(4)
    texts, videos = draw_negatives(sims[0], model.temperature.item(), batch.same, generator)
    item, terms = torch.arange(ITEMS), {}
    hard = [2, 3] if step.hard_negatives != "none" else []
    for role, suffix in ((0, ""), (1, "_plus")):
        terms[f"contrastive{suffix}"] = contrastive_loss(
            sims[role], [sims[r] for r in hard], model.temperature, step.hard_negatives
        )
        negative = [margins[role][item, texts], margins[role][videos, item], *(margins[r][item, item] for r in hard)]
        pairs = ITEMS * (3 + len(hard))
        terms[f"matching{suffix}"] = matching_loss(
            margins[role][item, item], torch.stack(negative), ITEMS, pairs, step.matching_normaliser
        )
    return terms


@pytest.mark.parametrize("hard_negatives", ["all", "own", "none"])
@pytest.mark.parametrize("normaliser", ["batch", "pairs"])
def test_a_step_is_equation_11(hard_negatives, normaliser):
    step, batch = fresh_step(hard_negatives, normaliser), batch_for()
    objective, seen = step(batch)
    expected = losses_by_hand(step, batch)
    for name, value in expected.items():
        torch.testing.assert_close(seen[name], value, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(objective, total_loss(expected), atol=1e-5, rtol=1e-5)


def test_equal_captions_are_no_negatives_of_each_other():
    batch = batch_for()
    assert batch.same[0, 5] and batch.same[5, 0] and int(batch.same.sum()) == ITEMS + 2
    flat = torch.zeros(ITEMS, ITEMS)
    for seed in range(50):
        texts, videos = draw_negatives(flat, 0.07, batch.same, torch.Generator().manual_seed(seed))
        assert not batch.same[torch.arange(ITEMS), texts].any()
        assert not batch.same[torch.arange(ITEMS), videos].any()


def test_negatives_are_drawn_by_similarity_texts_along_rows_and_videos_along_columns():
    similarity = torch.tensor([[0.0, 0.1, 0.3], [0.8, 0.0, 0.2], [0.4, 0.7, 0.0]])  # [videos, texts]
    texts, videos = draw_negatives(similarity, 0.001, torch.eye(3, dtype=torch.bool), torch.Generator())
    assert (texts.tolist(), videos.tolist()) == ([2, 0, 1], [1, 2, 0])


def test_activation_checkpointing_changes_nothing():
    gradients = []
    for on in (False, True):
        step = fresh_step()
        step.model.use_checkpointing(on)
        step.train()(batch_for())[0].backward()
        gradients.append([parameter.grad for parameter in step.parameters()])
    for one, other in zip(*gradients):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def _gradients(step, batch):
    size = dist.get_world_size() if dist.is_initialized() else 1
    wrapped = torch.nn.parallel.DistributedDataParallel(step) if size > 1 else step
    objective, seen = wrapped(batch)
    objective.backward()
    return seen, {name: parameter.grad for name, parameter in step.named_parameters()}


def _member(rank, size, folder, groups):
    torch.set_num_threads(1)
    for size in groups:
        if rank < size:
            store = f"file://{folder}/rendezvous-{size}"
            dist.init_process_group("gloo", init_method=store, rank=rank, world_size=size)
            result = _gradients(fresh_step(), batch_for(rank, size))
            if rank == size - 1:
                torch.save(result, Path(folder, f"{size}.pt"))
            dist.destroy_process_group()


@pytest.mark.slow
def test_one_two_and_four_processes_agree(tmp_path):
    """Loss terms and gradients of the gathered batch, whoever computed which part; the last rank speaks."""
    expected, gradients = _gradients(fresh_step(), batch_for())
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    mp.spawn(_member, (4, str(tmp_path), (4, 2)), nprocs=4)
    for size in (2, 4):
        seen, of_processes = torch.load(tmp_path / f"{size}.pt")
        for name, value in expected.items():
            torch.testing.assert_close(seen[name], value, atol=1e-5, rtol=1e-5, msg=f"{name}, {size} processes")
        for name, value in gradients.items():
            torch.testing.assert_close(of_processes[name], value, atol=1e-5, rtol=1e-4, msg=f"{name}, {size} processes")


class Killed(Exception):
    pass


def _training(state, stop=None):
    def batch_of(number):
        if number == stop:
            raise Killed
        order = np.random.default_rng(number).permutation(ITEMS)
        batch = batch_for()
        turned = {"frames": batch.frames[order], "ids": batch.ids[:, order], "mask": batch.mask[:, order]}
        return dataclasses.replace(batch, **turned, same=batch.same[order][:, order])

    torch.manual_seed(2)
    size = dataclasses.replace(SIZE, text_dropout=0.1, drop_path=0.1)
    step = TrainingStep(NoiseEvaluator(size), "all", "batch")
    rows = train(step, batch_of, Schedule(6, 2, 1e-3, seed=3, every=2), "test", torch.device("cpu"), state)
    return rows, step.state_dict()


def test_killed_and_resumed_equals_uninterrupted_bit_for_bit(tmp_path):
    rows, weights = _training(None)
    state = TrainingState(tmp_path / "state.safetensors", {}, seconds=0.0)
    with pytest.raises(Killed):
        _training(state, stop=4)
    assert state.path.is_file()
    resumed_rows, resumed = _training(state)
    assert resumed_rows == rows and [row["step"] for row in rows] == [0, 2, 4, 5]
    for name, value in weights.items():
        assert torch.equal(resumed[name], value), name
