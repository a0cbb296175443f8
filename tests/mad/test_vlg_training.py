"""VLG-Net's windows, training and search."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from verified.benchmark.mad.feature_files import LongFeatures
from verified.benchmark.mad.grid import Grid
from verified.benchmark.mad.recall import first_hits, recall
from verified.benchmark.mad.vlg_net import VLGSettings
from verified.benchmark.mad.vlg_search import rank_windows
from verified.benchmark.mad.vlg_training import Plan, start, train
from verified.benchmark.mad.vlg_windows import draw_window, targets
from verified.io.hdf5 import FeatureFile, write_features

GRID = Grid(fps=2.0, window=16, clips=8, pooling_counts=(3, 2))
SIZE = VLGSettings(6, 6, 32, 32, 8, blocks=1, neighbours=3, groups=4, per_group=4, stack=2, gather="correct")


@given(st.integers(0, 990), st.integers(1, 300), st.integers(128, 1000), st.integers(0, 2**32))
def test_paper_windows_hold_the_moment_or_nothing_of_it(first, length, frames, seed):
    first = min(first, frames - 1)
    last = min(frames, first + length)
    drawn = draw_window(np.random.default_rng(seed), first, last, frames, 128)
    begin, end = drawn.start, drawn.start + 128
    assert begin >= 0 and end <= max(frames, 128)
    if drawn.positive and last - first <= 128:
        assert begin <= first and last <= end
    elif drawn.positive:
        assert first <= begin + 64 <= last or begin in (0, frames - 128)
    else:
        assert end < first or begin > last


def test_every_window_of_the_paper_is_drawn_and_the_code_never_ends_with_the_moment():
    random = np.random.default_rng(0)
    starts = {
        jitter: Counter(draw_window(random, 500, 520, 2000, 128, 0.0, jitter).start for _ in range(20_000))
        for jitter in ("paper", "code")
    }
    assert sorted(starts["paper"]) == list(range(392, 501)) and sorted(starts["code"]) == list(range(393, 501))
    assert max(starts["paper"].values()) < 2 * min(starts["paper"].values())


def test_code_negatives_show_the_moment_now_and_then():
    random = np.random.default_rng(0)
    starts = [draw_window(random, 500, 520, 1000, 128, 1.0, negatives="code").start for _ in range(2000)]
    assert any(start <= 520 and start + 128 >= 500 for start in starts)


def test_a_moment_everywhere_leaves_no_room_for_negatives():
    assert draw_window(np.random.default_rng(0), 0, 200, 200, 128, 1.0).positive


def test_targets_are_ious_with_the_anchors():
    ious = targets(GRID, 16, (10.0, 12.0))
    spans = GRID.seconds(GRID.anchors) + 8
    assert ious[(spans == [10, 12]).all(axis=1)] == [1.0]
    assert (ious[spans[:, 1] <= 10] == 0).all()


def _world(folder, films=20, seed=0):
    """Films in which five directions take turns, and sentences whose tokens name one of them."""
    random = np.random.default_rng(seed)
    directions = np.eye(6, dtype=np.float32)[:5]
    frames, tokens, rows = [], [], []
    for film in range(films):
        order = np.concatenate([random.permutation(5) for _ in range(4)])
        features = np.repeat(directions[order], 6, axis=0) + 0.1 * random.normal(size=(120, 6))
        frames.append((f"f{film}", features.astype(np.float32), {}))
        for number, kind in enumerate(order[:5]):
            name = f"{film}-{number}"
            row = {"id": name, "film": f"f{film}", "duration": 60.0, "start": number * 3.0, "end": number * 3.0 + 3}
            rows.append({**row, "source": "s", "kind": int(kind)})
            tokens.append((name, np.repeat(directions[kind][None], 1 + number % 3, axis=0), {}))
    write_features(folder / "frames.h5", {"dim": 6}, frames)
    write_features(folder / "tokens.h5", {"dim": 6}, tokens)
    return rows, LongFeatures(FeatureFile(folder / "frames.h5"), FeatureFile(folder / "tokens.h5"))


PLAN = Plan(epochs=30, batch=10, learning_rate=3e-3, halve_every=100, negative_share=0.3, seed=1)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    rows, features = _world(tmp_path_factory.mktemp("world"))
    state = start(SIZE, GRID, PLAN)
    log = train(state, rows, {"s": features}, GRID, PLAN)
    return rows, features, state, log


def test_training_lowers_the_loss_and_ranks_above_chance(trained):
    rows, features, state, log = trained
    assert np.mean([row["loss"] for row in log[-3:]]) < 0.8 * log[0]["loss"]
    right = []
    for film in ("f0", "f1", "f2", "f3"):
        film_rows = [row for row in rows if row["film"] == film]
        frames = features.film(film)
        ranked = rank_windows(state.model, frames, [features.token_rows(row["id"], 50) for row in film_rows], GRID)
        for spans, row in zip(ranked, film_rows, strict=True):
            right.append(frames[round(spans[0, 0] * 2) : round(spans[0, 1] * 2)].mean(axis=0).argmax() == row["kind"])
    assert np.mean(right) >= 0.5  # 0.2 by chance


def test_a_resumed_training_ends_with_the_same_weights_and_log(trained):
    rows, features, _, _ = trained
    short = replace(PLAN, epochs=4)
    whole = start(SIZE, GRID, short)
    log = train(whole, rows, {"s": features}, GRID, short)
    stopped = start(SIZE, GRID, short)
    with pytest.raises(ZeroDivisionError):
        train(stopped, rows, {"s": features}, GRID, short, lambda reached: 1 / (3 - reached.epoch))
    assert stopped.epoch == 3
    again = start(SIZE, GRID, short)
    again.model.load_state_dict(stopped.model.state_dict())
    again.optimiser.load_state_dict(stopped.optimiser.state_dict())
    again.epoch, again.rows = 3, json.loads(json.dumps(stopped.rows))
    assert train(again, rows, {"s": features}, GRID, short) == log
    for one, other in zip(whole.model.state_dict().values(), again.model.state_dict().values(), strict=True):
        assert torch.equal(one, other)


def test_features_that_are_not_finite_are_named(trained, tmp_path):
    import h5py

    rows, features, _, _ = trained
    with h5py.File(tmp_path / "frames.h5", "w") as file:
        for film in features.frames:
            values = features.frames[film]
            values[7] = np.nan
            file[film] = values
    broken = LongFeatures(FeatureFile(tmp_path / "frames.h5"), features.tokens)
    with refused("frames.h5", "'f0'", "6 values", remedy=True):
        broken.film("f0")
    with refused("finite"):
        train(start(SIZE, GRID, PLAN), rows, {"s": broken}, GRID, PLAN)


def test_films_shorter_than_a_window_are_said_and_covered_by_the_switch(trained, tmp_path):
    rows, features, state, _ = trained
    wide = Grid(fps=2.0, window=200, clips=8, pooling_counts=(3, 2))
    with refused("window"):
        train(start(SIZE, wide, PLAN), rows, {"s": features}, wide, PLAN)
    tokens = [features.token_rows("0-0", 50)]
    assert len(rank_windows(state.model, features.film("f0", 0, 10), tokens, GRID)[0]) == 0
    covered = Grid(fps=2.0, window=16, clips=8, pooling_counts=(3, 2), tail="cover")
    spans = rank_windows(state.model, features.film("f0", 0, 10), tokens, covered)[0]
    assert len(spans) and spans[:, 1].max() <= 5


def test_search_scores_do_not_depend_on_the_batch(trained):
    rows, features, state, _ = trained
    tokens = [features.token_rows(row["id"], 50) for row in rows[:4]]
    one = rank_windows(state.model, features.film("f0"), tokens, GRID, batch=1)
    all_at_once = rank_windows(state.model, features.film("f0"), tokens, GRID, batch=64)
    for first, second in zip(one, all_at_once, strict=True):
        assert np.abs(first - second).max() < 1e-5
    assert recall(first_hits([spans[:, :2] for spans in one], np.array([[0, 60]] * 4))).shape == (5, 3)
