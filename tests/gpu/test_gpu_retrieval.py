"""The five models on the GPU in float32: the CPU's losses, and the CPU's answers from the same weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from planted import plant, small_model

from verified.benchmark.vcmr.ranked import Ranked
from verified.benchmark.vcmr.search import SearchSettings, search
from verified.benchmark.vcmr.training import SplitData, train

MODELS = ("xml", "reloclnet", "hero", "conquer", "squidnet")


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    return plant(folder, 24, seed=1), plant(folder, 12, seed=2)


def with_lists(split: SplitData, seed: int) -> SplitData:
    """The split with lists of all its videos in a drawn order, for models that read such."""
    draw = np.random.default_rng(seed)
    count, videos = len(split.moments), len(split.videos)
    order = np.stack([draw.permutation(videos) for _ in range(count)])
    cosines = np.sort(draw.uniform(-0.2, 0.8, (count, videos)).astype(np.float32), axis=1)[:, ::-1].copy()
    return replace(split, ranked=Ranked(split.moments.desc_id, order, cosines, split.moments.videos))


def trained(name, splits, folder, device):
    torch.manual_seed(0)
    model = small_model(name)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0  # it draws other numbers on each kind of device
    learn, unseen = (files.split(type(model)) for files in splits)
    if type(model).two_stage:
        learn, unseen = with_lists(learn, 1), with_lists(unseen, 2)
    recipe = replace(model.recipe, epochs=1, steps=None, batch=8, learning_rate=1e-3)
    if type(model).two_stage:
        recipe = replace(recipe, negatives=3)
    searching = SearchSettings(min_pred_clips=1, max_pred_clips=12, quiet=True, device=device)
    return model, unseen, searching, train(model, learn, unseen, recipe, searching, 3, folder / f"{device}.jsonl")


@pytest.mark.parametrize("name", MODELS)
def test_training_and_search_as_on_the_cpu(name, splits, tmp_path, device, report):
    _, _, _, on_cpu = trained(name, splits, tmp_path, "cpu")
    model, unseen, searching, on_gpu = trained(name, splits, tmp_path, device.type)
    first, second = on_cpu.history[0], on_gpu.history[0]
    assert second["total"] == pytest.approx(first["total"], rel=2e-3), "mean loss of the epoch"
    model.load_state_dict(on_gpu.state)
    answers = {}
    for kind in ("cpu", device.type):
        parts = (unseen.videos, unseen.queries, unseen.moments, replace(searching, device=kind), unseen.ranked)
        answers[kind] = {task: lists.score[:, 0] for task, lists in search(model.to(kind), *parts).items()}
    for task, best in answers["cpu"].items():
        torch.testing.assert_close(
            torch.as_tensor(answers[device.type][task]), torch.as_tensor(best), rtol=2e-3, atol=1e-4, msg=task
        )
    report(f"{name}: loss {second['total']:.4f} (CPU {first['total']:.4f})")
