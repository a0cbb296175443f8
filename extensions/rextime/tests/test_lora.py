"""A video LMM learns from questions: tiny random weights of Qwen's class, adapters, their file, who then answers."""

from dataclasses import replace
from pathlib import Path

import pytest
import tiny_models
import torch
from captioning import settings as generation_settings
from question_pages import clips, question
from safetensors.torch import load_file, save_file

from verified.config.generation import EngineSettings
from verified.io.files import file_digest
from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified.lmm.engines.transformers import Transformers
from verified.lmm.prompts import read_prompts
from verified.nn.checkpoint import load as load_tensors
from verified.nn.low_rank import FORM, merge
from verified_rextime import fine_tune_lmm
from verified_rextime.config import Lora
from verified_rextime.fine_tune_lmm import Shown, adapted, fine_tune, lessons_of, loss_of
from verified_rextime.tasks import LOCATE, SCORING

LORA = Lora(rank=8, alpha=16, epochs=30, batch=2, learning_rate=3e-2, precision="float32", gradient_checkpointing=False)
FRAMES = 2


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qwen")
    tiny_models.qwen_vl(folder)
    weights = load_file(folder / "model.safetensors")
    weights["lm_head.weight"] *= 20  # as random ones are, no attention could make a token likely
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return str(folder)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return Shown(clips(tmp_path_factory.mktemp("clips"), "vw"), FRAMES, 56)


ANSWERS = ("it grows", "it falls", "it turns")
QUESTIONS = [
    question(number, vid=video, relevant_windows=[[0.2 * number, 1.6]], answer=answer, options=[])
    for number, (video, answer) in enumerate(zip("vwx", ANSWERS))
]


def role(model: str, **more) -> EngineSettings:
    return EngineSettings(engine="transformers", model=model, sampling={"max_tokens": 8}, **more)


def learn(folder: Path, model: str, shown: Shown, lora: Lora = LORA) -> dict[str, str]:
    """The files of a fine-tuning on two questions with a video, and one without."""
    folder.mkdir(exist_ok=True)
    write_jsonl(folder / "train.jsonl", QUESTIONS)
    files = {"questions": str(folder / "train.jsonl")}
    named = {"adapter": "adapter.safetensors", "card": "card.json", "record": "log.jsonl"}
    files |= {key: str(folder / name) for key, name in named.items()}
    generation = generation_settings(folder, video_lmm=role(model))
    fine_tune(read_jsonl(files["questions"]), shown, generation, lora, 5, files)
    return files


@pytest.fixture(scope="module")
def tuned(tiny, shown, tmp_path_factory):
    return learn(tmp_path_factory.mktemp("tuned"), tiny, shown)


def lesson(shown: Shown, number: int = 0, part: int = 1):
    forms = read_prompts("config/prompts", (LOCATE, SCORING))
    one = lessons_of(QUESTIONS[number], forms, FRAMES)[part]
    return replace(one, request=replace(one.request, **shown.clip(one.video)))


def test_the_loss_falls_and_the_card_says_of_what_the_adapters_are(tiny, tuned):
    rows, card = read_jsonl(tuned["record"]), read_json(tuned["card"])
    assert [row["step"] for row in rows] == list(range(1, 31)) and {row["lessons"] for row in rows} == {4}
    assert rows[-1]["loss"] < 0.4 * rows[0]["loss"]
    rates = [row["learning_rate"] for row in rows]
    assert max(rates) == pytest.approx(3e-2, rel=0.05) and rates[-1] < 0.02 * max(rates)
    assert card["base_model"] == tiny and card["questions_sha256"] == file_digest(tuned["questions"])
    assert card.items() >= {"rank": 8, "alpha": 16.0, "seed": 5, "questions": 2, "questions_left_out": 1}.items()
    assert card["targets"] == ["q_proj", "k_proj", "v_proj", "o_proj"]
    tensors, header = load_tensors(tuned["adapter"], FORM)
    assert header == card and all(name.startswith("model/language_model/layers/") for name in tensors)
    assert len(tensors) == 2 * 4 * 2  # layers, targets, sides
    assert not Path(tuned["adapter"]).with_name("unfinished.safetensors").exists()


def test_new_adapters_change_nothing_and_those_of_a_file_are_the_trained_ones(tiny, shown, tuned):
    engine, asked = Transformers(role(tiny)), lesson(shown)
    engine.load()
    with torch.inference_mode():
        bare = loss_of(asked, engine)
        adapters = adapted(engine, LORA, 5)
        assert torch.equal(loss_of(asked, engine), bare)
        tensors = load_tensors(tuned["adapter"], FORM)[0]
        adapters.load_state_dict(tensors)
        attached = loss_of(asked, engine)
        merged = Transformers(role(tiny), adapter=tuned["adapter"])
        merged.load()
        assert float(loss_of(asked, merged)) == pytest.approx(float(attached), abs=1e-4)
        again = Transformers(role(tiny))
        again.load()
        merge(again.network, adapters.state_dict(), LORA.alpha / LORA.rank)
        assert torch.equal(loss_of(asked, again), loss_of(asked, merged))
    assert attached < 0.8 * bare


def test_the_answer_alone_counts_and_it_is_scored_as_it_was_learnt(tiny, shown):
    engine, asked = Transformers(role(tiny)), lesson(shown)
    engine.load()
    assert asked.answer == "From 0 to 2, it grows" and lesson(shown, part=0).answer == "From 0 to 2."
    images, clip = engine.media_of(asked.request)
    prompt = engine.inputs(asked.request.prompt, images, clip)["input_ids"][0].tolist()
    tokens = [*engine.tokenizer(asked.answer, add_special_tokens=False).input_ids, engine.tokenizer.eos_token_id]
    assert "it grows" not in engine.tokenizer.decode(prompt) and "What is 0?" in engine.tokenizer.decode(prompt)
    inputs = engine.inputs(asked.request.prompt, images, clip)
    with torch.inference_mode():
        total = 0.0
        for place, token in enumerate(tokens):
            longer = fine_tune_lmm.lengthen(inputs, torch.tensor([tokens[:place]], dtype=torch.int64))
            total -= float(torch.log_softmax(engine.network(**longer).logits[0, -1].float(), -1)[token])
        assert float(loss_of(asked, engine)) == pytest.approx(total / len(tokens), abs=1e-4)


def test_a_killed_fine_tuning_goes_on_to_the_same_bytes(tiny, shown, tmp_path, monkeypatch):
    lora = LORA.model_copy(update={"epochs": 12})
    whole_run = learn(tmp_path / "whole", tiny, shown, lora)
    monkeypatch.setattr(fine_tune_lmm, "SECONDS_BETWEEN_STATES", 0)
    whole, done = fine_tune_lmm.loss_of, []

    def until(most):
        def loss(*given):
            if len(done) >= most:
                raise KeyboardInterrupt
            done.append(given[0].qid)
            return whole(*given)

        return loss

    for most in (7, 30):
        monkeypatch.setattr(fine_tune_lmm, "loss_of", until(most))
        with pytest.raises(KeyboardInterrupt):
            learn(tmp_path / "killed", tiny, shown, lora)
        assert (tmp_path / "killed" / "unfinished.safetensors").exists()
        assert not (tmp_path / "killed" / "adapter.safetensors").exists()
    monkeypatch.setattr(fine_tune_lmm, "loss_of", until(1000))
    files = learn(tmp_path / "killed", tiny, shown, lora)
    assert len(done) == 48 + 3 + 3  # two steps were begun twice
    for key in ("adapter", "card", "record"):
        assert Path(files[key]).read_bytes() == Path(whole_run[key]).read_bytes()
