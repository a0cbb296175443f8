"""From perturbations and clips to a checkpoint and scores, at the smallest size."""

import math

import numpy as np
import pytest
import torch
from media import write_video
from refusals import refused
from small_dataset import MOMENTS, SETTINGS, start, write_dataset

from verified.config.evaluator import Evaluator
from verified.evaluator.checkpoint import load_checkpoint
from verified.evaluator.clips import gather_clips, open_clips
from verified.evaluator.finetune import FineTuning, evaluator_card, run_finetuning
from verified.evaluator.inputs import epoch_order, random_part, read_tuples, scoring_view
from verified.evaluator.model import CLS, encode
from verified.evaluator.score import encode_moment, score_candidates
from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified.io.video import frames_of_spans, probe

FINE_TUNING = Evaluator(**SETTINGS)


@pytest.fixture
def dataset(tmp_path):
    return write_dataset(tmp_path)


def test_a_lost_row_is_an_error_and_no_smaller_training(dataset):
    rows = read_jsonl(dataset["perturbations"][0])
    whole = read_tuples([dataset])
    for role, kind in (("positive", "positive"), ("static", "statics"), ("dynamic", "dynamics")):
        assert whole.captions[role] == [row["selected"][kind] for row in rows[:7]]
    seen = evaluator_card(whole, FINE_TUNING, 1, "", {}, {"test", "exam"})
    assert seen["test_moments_seen_in_training"], "those of one data set are enough"
    write_jsonl(dataset["perturbations"][0], rows[:-1])
    with refused("perturbations", "small", f"1 of {MOMENTS}", "desc_id 9"):
        read_tuples([dataset])
    write_jsonl(dataset["perturbations"][0], rows)
    write_jsonl(dataset["indices"][0], read_jsonl(dataset["indices"][0])[1:])
    with refused("clips", "small", f"1 of {MOMENTS}", "desc_id 0"):
        read_tuples([dataset])


def test_finetuning_writes_checkpoint_card_and_log(dataset, tmp_path):
    out = tmp_path / "out"
    files = [out / name for name in ("checkpoint.safetensors", "card.json", "log.jsonl")]
    run_finetuning(FineTuning(start(tmp_path / "start.safetensors"), [dataset], FINE_TUNING, 1, *files))
    card, log = read_json(files[1]), read_jsonl(files[2])
    assert card["moments_by_split"] == {"test": 3, "train": 3} and card["test_moments_seen_in_training"]
    assert card["steps"] == 1 and "random weights" in card["origin"]
    assert set(log[0]) >= {"loss", "contrastive", "contrastive_plus", "matching", "matching_plus", "temperature"}
    again = [tmp_path / "again" / file.name for file in files]
    often = FINE_TUNING.model_copy(update={"save_seconds": 0.0})
    run_finetuning(FineTuning(tmp_path / "start.safetensors", [dataset], often, 1, *again))
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(files, again)), "same seed, same bytes"


def test_a_short_finetuning_warms_up_for_half_of_its_steps(dataset, tmp_path, monkeypatch):
    trained = []
    monkeypatch.setattr("verified.evaluator.finetune.train", lambda *given: trained.append(given[1:3]) or [])
    for epochs in (1, 4):
        short = FINE_TUNING.model_copy(
            update={"batch": 2, "epochs": epochs, "warmup_epochs": 1, "crop_share": (0.5, 1.0)}
        )
        files = [tmp_path / str(epochs) / name for name in ("checkpoint.safetensors", "card.json", "log.jsonl")]
        run_finetuning(FineTuning(start(tmp_path / "start.safetensors"), [dataset], short, 1, *files))
    assert [(schedule.steps, schedule.warmup) for _, schedule in trained] == [(3, 1), (12, 3)]
    batches = [trained[1][0](number) for number in range(6)]
    first, second = (
        {name: frames for batch in epoch for name, frames in zip(batch.names, batch.frames)}
        for epoch in (batches[:3], batches[3:])
    )
    assert len(first) == 6 and first.keys() == second.keys() and [*first] != [*second]
    assert not any(torch.equal(first[name], second[name]) for name in first), "another part of each picture"
    monkeypatch.setattr("verified.evaluator.finetune.epoch_order", lambda count, seed, epoch: np.arange(count))
    early, late = (trained[1][0](number) for number in (1, 4))
    assert early.names == late.names and not torch.equal(early.frames, late.frames), "draws of its own each epoch"


def test_scores_of_all_candidates(dataset, tmp_path):
    model = load_checkpoint(start(tmp_path / "start.safetensors")).eval()
    candidates = [{"caption": f"a ball moves {number}", "lineage": {"id": number}} for number in range(2)]
    candidates.append({"caption": "ball " * 80, "lineage": {}})
    rows = [{"desc_id": n, "type": "statics", "candidates": candidates if n else []} for n in range(MOMENTS)]
    clips, index = np.load(dataset["clips"][0]), read_jsonl(dataset["indices"][0])
    none = [{"desc_id": n, "type": "dynamics", "candidates": candidates[1:2] * (n == 4)} for n in range(MOMENTS)]
    with refused("dynamics", f"1 of {MOMENTS}", "desc_id 3"):
        score_candidates(model, clips, index, [rows, none[:3] + none[4:]], "margin", torch.device("cpu"))
    by_z1, _ = score_candidates(model, clips, index, [rows, none], "z1", torch.device("cpu"))
    scored, counts = score_candidates(model, clips, index, [rows, none], "margin", torch.device("cpu"))
    assert counts == {"candidates": 28, "scored": 25, "truncated_captions": 8, "shorter-than-two-frames": 3}
    listed = [
        (n, kind, c) for n in range(1, 9) for kind, of in (("statics", 3), ("dynamics", n == 4)) for c in range(of)
    ]
    assert [(row["desc_id"], row["type"], row["candidate"]) for row in scored] == listed
    assert [row["score"] for row in by_z1] == [row["z1"] for row in scored]
    of_four = [row["score"] for row in scored if row["desc_id"] == 4]
    assert of_four[3] == pytest.approx(of_four[1], abs=1e-4) != of_four[0], "the same caption, of the other type"
    with torch.inference_mode():
        frames = encode_moment(model, torch.from_numpy(clips[4])).frames[0]
        texts = model.encode_text(*encode([candidate["caption"] for candidate in candidates])[:2])[1]
        cosines = (frames @ texts.T).mean(dim=0)
    assert [row["similarity"] for row in scored[9:12]] == pytest.approx(cosines.tolist(), abs=1e-5)
    for row in scored:
        assert row["score"] == row["margin"] != row["z1"]
        assert row["probability"] == pytest.approx(1 / (1 + np.exp(-row["margin"])), abs=1e-5)


def moving(count, height, width):
    ramp = np.linspace(40, 160, width, dtype=np.uint8)
    frames = np.repeat(np.repeat(ramp[None, None, :, None], height, 1), 3, 3).repeat(count, 0)
    for number, frame in enumerate(frames):
        left = 4 * number % (width - 16)
        frame[10:26, left : left + 16] = (230, 40, 40)
    return frames


def test_gathered_streams_are_the_frames_of_the_moments(tmp_path):
    path = write_video(tmp_path / "v.mp4", moving(40, 96, 128), fps=10)
    video = {"video": "v", "path": str(path), **probe(path)}
    rows = [(5, "v", 0.0, 2.0), (6, "v", 1.0, 1.05), (7, "gone", 0.0, 1.0), (8, "v", 2.5, 4.0)]
    moments = [dict(zip(("desc_id", "video", "start", "end"), row)) for row in rows]
    file, index = tmp_path / "c.h264", tmp_path / "c.jsonl"
    counts = gather_clips(moments, [video], 4, 3, 32, 48, file, str(index))
    rows = read_jsonl(index)
    assert counts == {"": 2, "shorter-than-two-frames": 1, "no-video": 1}
    assert [row["reason"] for row in rows] == [None, "shorter-than-two-frames", "no-video", None]
    clips = open_clips(file, rows)
    assert clips[0].shape == (12, 48, 64, 3), "proportions kept, shorter side as asked"
    gather_clips(moments[:1], [video], 4, 3, 32, 200, tmp_path / "small.h264", str(index))
    assert open_clips(tmp_path / "small.h264", read_jsonl(index))[0].shape == (12, 96, 128, 3), "never enlarged"
    spans = [(0.0, 2.0), (2.5, 4.0)]
    truth = {span: frames for span, frames, _ in frames_of_spans(video["path"], spans, count=12, size=(48, 64))}
    for row, span in ((0, 0), (3, 1)):
        assert np.abs(clips[row].astype(int) - truth[span]).mean() < 4
    sizes = []
    for end in (2.0, 2.0, 0.5):
        gather_clips([moments[0] | {"end": end}], [video], 4, 3, 32, 48, tmp_path / "m.h264", str(index), "same")
        sizes.append((tmp_path / "m.h264").stat().st_size)
        (tmp_path / "m.h264").unlink()
    assert sizes[0] == sizes[1] != sizes[2], "another end is another clip"
    file.write_bytes(file.read_bytes()[:-5])
    with refused(file=file, remedy=True):
        open_clips(file, rows)


def test_each_epoch_has_an_order_of_its_own_and_all_items():
    orders = [epoch_order(9, seed, epoch).tolist() for seed, epoch in ((3, 0), (3, 1), (4, 0))]
    assert all(sorted(order) == list(range(9)) for order in orders) and len(set(map(tuple, orders))) == 3


def test_scores_are_of_the_middle_frame_of_each_interval_and_of_a_captions_beginning():
    clip = np.arange(20, dtype=np.uint8)[:, None, None, None].repeat(3, 3)
    assert scoring_view(clip, 4, 1)[:, 0, 0, 0].tolist() == [2, 7, 12, 17]
    ids, _, cut = encode(["ball " * 63, "ball " * 64])
    assert ids.shape == (2, 64) and (ids[:, 0] == CLS).all() and cut == 1


def test_random_parts_keep_to_their_shares():
    generator = np.random.default_rng(0)
    for _ in range(500):
        height, width = 64, 96
        rows, columns = random_part(height, width, (0.5, 1.0), generator)
        assert 0 <= rows.start < rows.stop <= height and 0 <= columns.start < columns.stop <= width
        tall, wide = rows.stop - rows.start, columns.stop - columns.start
        assert 0.48 < tall * wide / (height * width) <= 1
        assert math.log(0.72) < math.log(wide / tall) < math.log(1.39)
    rows, columns = random_part(10, 400, (0.9, 1.0), generator)
    assert (rows.stop - rows.start, columns.stop - columns.start) == (10, 13), "the middle, where no part fits"
    assert (columns.start + columns.stop) / 2 == pytest.approx(200, abs=1)
