"""The trainings of the weights that come with the workflow: as their card says, from a separate corpus."""

import random

import pytest
import torch
from refusals import refused
from running import SHIPPED as SHIPPED_CONFIGS
from running import ended_well
from transformers import AutoModel

from verified.demo.pretrained import SHIPPED
from verified.demo.scenes import draw_event, make_scenes
from verified.demo.tiny_evaluator.stem import IMAGE_SIZE, SmallResNet
from verified.evaluator.checkpoint import FORM, WORDS, load_checkpoint, read_header, save_checkpoint
from verified.evaluator.model import encode
from verified.evaluator.settings import architecture
from verified.io.files import file_digest
from verified.io.jsonl import read_json, read_jsonl
from verified.nn.checkpoint import load, save
from verified.runtime.seeds import derive_seed
from verified_pretrained.card import EVENTS, grade
from verified_pretrained.evaluator import Pretraining, WordAlignment, pretrain, run_pretraining, synthetic_item
from verified_pretrained.image_backbone import save as save_backbone

CARD = read_json(SHIPPED / "card.json")


def test_alignment_learns_which_words_fit():
    torch.manual_seed(0)
    tokens, embeddings = torch.randn(4, 5, 8), torch.nn.Parameter(torch.randn(10, 8) * 0.05)
    words = torch.arange(6)
    bags = torch.zeros(4, 2, 6)
    for video in range(4):
        bags[video, 0, video] = bags[video, 1, 4] = 1
    alignment = WordAlignment(10)
    optimiser = torch.optim.Adam([embeddings, *alignment.parameters()], lr=0.05)
    losses = []
    for _ in range(60):
        loss = alignment(tokens, embeddings, words, bags)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


def test_a_compact_checkpoint_holds_the_words_that_occurred(tmp_path):
    save_backbone(SmallResNet(), tmp_path)
    size, plan = architecture("tiny", 4, 32), Pretraining(8, 4, 1e-3, 3, str(tmp_path))
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


def test_the_evaluator_is_as_good_as_its_card_says():
    grades = CARD["evaluator"]["auroc"]
    assert grades["static"]["z1"] >= 0.9 and grades["dynamic"]["z1"] >= 0.95
    again = grade(load_checkpoint(SHIPPED / "evaluator.safetensors"), CARD["seed"], 20)
    for kind in grades:
        assert again[kind]["z1"] == pytest.approx(grades[kind]["z1"], abs=0.1)
    assert CARD["evaluator"]["unseen events"] == EVENTS


@pytest.mark.parametrize("seed", [CARD["seed"], 7])
def test_no_event_of_the_demo_is_seen_in_pre_training(seed):
    """One draws under three names: some hundred events of each, and no event of one in another."""

    def looks(event):
        return repr((event.shape, event.colour, event.texture, event.placed))

    def apart(name):
        return {looks(draw_event(random.Random(derive_seed(seed, name, number)), 0, 80, 8)) for number in range(300)}

    demo = {looks(event) for video in range(60) for event in make_scenes(seed, f"demo-{video:04d}", 20, 8).events}
    clips, frames = apart("separate world of the evaluator"), apart("labelled frames of the separate world")
    assert min(len(demo), len(clips), len(frames)) > 290
    assert not (demo & clips or demo & frames or clips & frames)


def test_transformers_loads_the_folder_of_the_image_network(tmp_path):
    network = SmallResNet()
    save_backbone(network, tmp_path)
    loaded = AutoModel.from_pretrained(tmp_path, dtype=torch.float32)
    assert loaded.config.image_size == IMAGE_SIZE
    assert all(torch.equal(a.half().float(), b) for a, b in zip(network.parameters(), loaded.parameters()))


@pytest.mark.night
def test_the_rules_make_all_of_it(tmp_path):
    small = "pretrained={backbone_frames: 128, backbone_batch: 16, pretrain_clips: 48, pretrain_batch: 8}"
    ended_well(tmp_path, "--cores", "1", "pretrained", "--config", small, config=SHIPPED_CONFIGS["pretrained"])
    built = tmp_path / "results" / "pretrained" / "pretrained" / "weights"
    card = read_json(built / "card.json")
    assert set(card) == set(CARD) and set(card["files"]) == set(CARD["files"])
    checkpoint = built / "evaluator.safetensors"
    assert card["files"]["evaluator.safetensors"]["sha256"] == file_digest(checkpoint)
    assert "48 clips" in read_header(checkpoint)[1]
    assert read_jsonl(built / "image-backbone.log.jsonl")[-1]["step"] == 7
    assert synthetic_item(card["seed"], 0, 8, 32, 1).caption
