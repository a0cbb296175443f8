"""From perturbations and clips to a checkpoint and scores, at the smallest size."""

import json

import numpy as np
import pytest
import torch
from refusals import refused
from small_dataset import FRAMES, MOMENTS, PIXELS, SETTINGS, start, write_dataset

from verified.demo.pretrained.image_backbone import save as save_backbone
from verified.demo.tiny_evaluator.pretrain import Pretraining, pretrain, run_pretraining
from verified.demo.tiny_evaluator.stem import SmallResNet
from verified.evaluator.checkpoint import FORM, WORDS, load_checkpoint, save_checkpoint
from verified.evaluator.finetune import FineTuning, run_finetuning
from verified.evaluator.inputs import read_tuples
from verified.evaluator.model import encode
from verified.evaluator.score import score_candidates
from verified.evaluator.settings import FineTuningSettings, architecture
from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified.nn.checkpoint import load, save

FINE_TUNING = FineTuningSettings(**SETTINGS)


@pytest.fixture
def dataset(tmp_path):
    return write_dataset(tmp_path)


def test_every_moment_is_an_item_or_counted(dataset):
    tuples = read_tuples([dataset], ("train", "test"))
    assert tuples.names == [f"small/{number}" for number in range(1, 7)]
    assert tuples.left_out == {"perturbations-not-selected": 2, "shorter-than-two-frames": 1, "split-not-trained-on": 1}
    assert len(tuples) + sum(tuples.left_out.values()) == MOMENTS


def test_a_lost_row_is_an_error_and_no_smaller_training(dataset):
    rows = read_jsonl(dataset["perturbations"][0])
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
    run_finetuning(FineTuning(start(tmp_path / "start.safetensors"), [dataset], FINE_TUNING, 1, 1, 60.0, *files))
    card, log = read_json(files[1]), read_jsonl(files[2])
    assert card["moments_by_split"] == {"test": 3, "train": 3} and card["test_moments_seen_in_training"]
    assert card["steps"] == 1 and "random weights" in card["origin"]
    assert set(log[0]) >= {"loss", "contrastive", "contrastive_plus", "matching", "matching_plus", "temperature"}
    again = [tmp_path / "again" / file.name for file in files]
    run_finetuning(FineTuning(tmp_path / "start.safetensors", [dataset], FINE_TUNING, 1, 1, 60.0, *again))
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(files, again)), "same seed, same bytes"


def test_scores_of_all_candidates(dataset, tmp_path):
    model = load_checkpoint(start(tmp_path / "start.safetensors")).eval()
    candidates = [{"caption": f"a ball moves {number}", "lineage": {"id": number}} for number in range(2)]
    candidates.append({"caption": "ball " * 80, "lineage": {}})
    rows = [{"desc_id": n, "type": "statics", "candidates": candidates if n else []} for n in range(MOMENTS)]
    clips, index = np.load(dataset["clips"][0]), read_jsonl(dataset["indices"][0])
    none = [{"desc_id": n, "type": "dynamics", "candidates": []} for n in range(MOMENTS)]
    with refused("dynamics", f"1 of {MOMENTS}", "desc_id 3"):
        score_candidates(model, clips, index, [rows, none[:3] + none[4:]], "margin", torch.device("cpu"))
    scored, counts = score_candidates(model, clips, index, [rows, none], "margin", torch.device("cpu"))
    assert counts == {"candidates": 27, "scored": 24, "truncated_captions": 8, "shorter-than-two-frames": 3}
    assert [(row["desc_id"], row["candidate"]) for row in scored] == [(n, c) for n in range(1, 9) for c in range(3)]
    for row in scored:
        assert row["score"] == row["margin"]
        assert -1 <= row["similarity"] <= 1
        assert row["probability"] == pytest.approx(1 / (1 + np.exp(-row["margin"])), abs=1e-5)


def test_pretraining_is_the_same_twice(tmp_path):
    save_backbone(SmallResNet(), tmp_path)
    size, plan = architecture("tiny", FRAMES, PIXELS), Pretraining(8, 4, 1e-3, 3, str(tmp_path))
    runs = [pretrain(size, plan) for _ in range(2)]
    assert json.dumps(runs[0][1]) == json.dumps(runs[1][1])
    for one, other in zip(runs[0][0].parameters(), runs[1][0].parameters()):
        assert torch.equal(one, other)


def test_a_compact_checkpoint_holds_the_words_that_occurred(tmp_path):
    save_backbone(SmallResNet(), tmp_path)
    size, plan = architecture("tiny", FRAMES, PIXELS), Pretraining(8, 4, 1e-3, 3, str(tmp_path))
    files = [tmp_path / name for name in ("whole.safetensors", "compact.safetensors")]
    run_pretraining(size, plan, 60.0, files[1], tmp_path / "log.jsonl")
    step, _ = pretrain(size, plan)
    save_checkpoint(files[0], step.model.state_dict(), size, "the same")
    assert 5 * files[1].stat().st_size < files[0].stat().st_size
    whole, compact = (load_checkpoint(file).eval() for file in files)
    caption, unread = encode(["a small red ball moves"])[:2], encode(["bureaucracy"])[0]
    with torch.inference_mode():
        expected, actual = (model.encode_text(*caption)[1] for model in (whole, compact))
        assert torch.allclose(expected, actual, atol=2e-3)
        assert not compact.text.embeddings.word_embeddings.weight[unread[0, 1]].any()
    tensors, facts = load(files[1], FORM)
    save(files[1], FORM, {**tensors, WORDS: tensors[WORDS][:-1]}, facts)
    with refused("96]"):
        load_checkpoint(files[1])
