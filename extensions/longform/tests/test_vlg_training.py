"""VLG-Net's windows, training and search."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from verified.io.hdf5 import FeatureFile, write_features
from verified.nn.training import TrainingState
from verified_longform.config import VlgNet
from verified_longform.feature_files import LongFeatures
from verified_longform.grid import Grid
from verified_longform.vlg_net import VLGSettings
from verified_longform.vlg_search import rank_windows
from verified_longform.vlg_training import alignment_loss, draw_window, initial, targets, train

pytestmark = pytest.mark.slow

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
        assert abs(begin + 64 - (first + last) / 2) < 1 or begin in (0, frames - 128)
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


def test_targets_are_ious_with_the_anchors():
    ious = targets(GRID, 16, 20, 24)
    spans = GRID.anchors * GRID.clip_frames + 16
    assert ious[(spans == [20, 24]).all(axis=1)] == [1.0]
    assert (ious[spans[:, 1] <= 20] == 0).all()

    assert (targets(GRID, 16, 4, 24) == targets(GRID, 16, 16, 24)).all()
    assert (targets(GRID, 16, 26, 40) == targets(GRID, 16, 26, 32)).all()
    whole = (GRID.anchors == [0, 8]).all(axis=1)
    assert (targets(GRID, 16, 0, 100)[whole] == 1).all() and targets(GRID, 16, 20, 20).any()


def _corpus(folder, movies=20, seed=0):
    """Movies in which five directions take turns, and sentences whose tokens name one of them."""
    random = np.random.default_rng(seed)
    directions = np.eye(6, dtype=np.float32)[:5]
    frames, tokens, rows = [], [], []
    for movie in range(movies):
        order = np.concatenate([random.permutation(5) for _ in range(4)])
        features = np.repeat(directions[order], 6, axis=0) + 0.1 * random.normal(size=(120, 6))
        frames.append((f"f{movie}", features.astype(np.float32), {}))
        for number, kind in enumerate(order[:5]):
            name = f"{movie}-{number}"
            row = {"id": name, "movie": f"f{movie}", "duration": 60.0, "start": number * 3.0, "end": number * 3.0 + 3}
            rows.append({**row, "source": "s", "kind": int(kind)})
            tokens.append((name, np.repeat(directions[kind][None], 1 + number % 3, axis=0), {}))
    write_features(folder / "frames.h5", {"dim": 6}, frames)
    write_features(folder / "tokens.h5", {"dim": 6}, tokens)
    return rows, LongFeatures(FeatureFile(folder / "frames.h5"), FeatureFile(folder / "tokens.h5"))


SETTINGS, SEED = VlgNet(epochs=30, batch=10, learning_rate=3e-3, halve_every=100, negative_share=0.3), 1


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    rows, features = _corpus(tmp_path_factory.mktemp("corpus"))
    model = initial(SIZE, GRID, SEED)
    log = train(model, rows, {"s": features}, GRID, SETTINGS, SEED)
    return rows, features, model, log


def test_training_lowers_the_loss_and_ranks_above_chance(trained):
    rows, features, model, log = trained
    assert np.mean([row["loss"] for row in log[-3:]]) < 0.8 * log[0]["loss"]
    right = []
    for movie in ("f0", "f1", "f2", "f3"):
        movie_rows = [row for row in rows if row["movie"] == movie]
        frames = features.movie(movie)
        ranked = rank_windows(model, frames, [features.token_rows(row["id"], 50) for row in movie_rows], GRID)
        for spans, row in zip(ranked, movie_rows, strict=True):
            right.append(frames[round(spans[0, 0] * 2) : round(spans[0, 1] * 2)].mean(axis=0).argmax() == row["kind"])
    assert np.mean(right) >= 0.5  # 0.2 by chance


class Killed(Exception):
    pass


class KilledAfter(TrainingState):
    """A state whose training dies once it has saved that many steps."""

    steps = 9

    def save(self, reached, module, optimiser):
        super().save(reached, module, optimiser)
        if reached.finished >= self.steps:
            raise Killed


def test_a_killed_training_goes_on_to_the_same_weights_and_log(trained, tmp_path):
    rows, features, _, _ = trained
    short = SETTINGS.model_copy(update={"epochs": 4, "halve_every": 2, "batch": 40})  # three steps an epoch
    state = TrainingState(tmp_path / "state.safetensors", {}, 0.0)
    whole, stopped, again = (initial(SIZE, GRID, SEED) for _ in range(3))
    log = train(whole, rows, {"s": features}, GRID, short, SEED)
    with pytest.raises(Killed):
        train(stopped, rows, {"s": features}, GRID, short, SEED, KilledAfter(state.path, {}, 0.0))
    assert train(again, rows, {"s": features}, GRID, short, SEED, state) == log
    assert [row["learning_rate"] for row in log] == [3e-3, 3e-3, 1.5e-3, 1.5e-3]
    for one, other in zip(whole.state_dict().values(), again.state_dict().values(), strict=True):
        assert torch.equal(one, other)


def test_a_sentence_is_held_against_its_own_moment_among_all_clips_of_the_batch():
    video = torch.eye(4).view(4, 2, 2).transpose(0, 1)  # two windows of two clips, each of a direction of its own
    query = torch.zeros(2, 4, 3)
    query[0, :, 1], query[1, :, 2] = video[0, :, 1], video[1, :, 0]
    query[0, :, 2] = video[1, :, 1]  # behind the last word of the first sentence
    own = torch.tensor([[False, True], [True, False]])
    lengths = torch.tensor([2, 3])
    assert alignment_loss(video, query, lengths, own) < 1e-4
    assert alignment_loss(video, query, lengths, ~own) > 10
    whole = alignment_loss(video, query, lengths, torch.ones_like(own))  # half of each share lies on the other clip
    assert whole == pytest.approx(0.5 / 0.07, abs=0.01)
