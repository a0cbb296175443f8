"""Who takes the test: options scored by a real model class, a retrieval model as grounder."""

import json

import numpy as np
import pytest
import tiny_models
from PIL import Image
from question_pages import question

from verified.benchmark.vcmr.experiment import Settings
from verified.config.datasets import Spans
from verified.config.features import Features
from verified.config.generation import EngineSettings
from verified.config.retrieval import Retrieval, Training
from verified.io.hdf5 import write_features
from verified.io.jsonl import read_jsonl
from verified.lmm.request import Request
from verified_rextime.answer import continuation
from verified_rextime.fine_tune_lmm import lengthen
from verified_rextime.ground import fine_tune, ground
from verified_rextime.results import System, score_all
from verified_rextime.rows import Question
from verified_rextime.scoring import Scoring
from verified_rextime.tables import results_table


def test_a_continuation_s_score_is_the_mean_of_its_tokens_log_probabilities(tmp_path):
    import torch

    engine = Scoring(EngineSettings(engine="transformers", model=tiny_models.qwen_vl(tmp_path)))
    frames = np.random.default_rng(0).integers(0, 255, (3, 40, 60, 3), np.uint8)
    text = continuation((3.4, 9.6), "the dog\n sits")
    assert text == "From 3 to 10, the dog sits"
    asked = Request("rextime/score", f"Look. {text}", {"continuation": text}, frames=frames)
    (reply,) = engine.answer([asked])
    answer = json.loads(reply.text)
    assert reply.finish == "stop" and answer["tokens"] == len(text)  # a tokeniser of single bytes
    inputs = engine.inputs("Look.", [Image.fromarray(frame) for frame in frames])
    added, total = engine.tokenizer(text, add_special_tokens=False).input_ids[:4], 0.0
    for place, token in enumerate(added):  # one token after the other, as the model would write them
        given = lengthen(inputs, torch.tensor([added[:place]], dtype=torch.int64))
        with torch.inference_mode():
            logits = engine.network(**given).logits[0, -1].float()
        total += float(torch.log_softmax(logits, dim=-1)[token])
    short = text[:4]
    (reply,) = engine.answer([Request("rextime/score", f"Look. {short}", {"continuation": short}, frames=frames)])
    assert json.loads(reply.text)["mean_log_probability"] == pytest.approx(total / 4, abs=1e-4)


RANKING = {
    "retrieval": Retrieval(memory_mb=500),
    "spans": Spans(min_pred_clips=2, max_pred_clips=8),
    "features": Features(),
    "feature_cast": "float32",
}


def untrained(name: str, folder) -> dict:
    """Files of a narrow retrieval model with random weights, two videos of 12 clips and the tokens of two questions."""
    import torch

    from verified.benchmark.vcmr.checkpoint import save_model
    from verified.benchmark.vcmr.registry import build_model
    from verified_rextime.models.cg_detr import CGDETR

    draw = np.random.default_rng(4)
    sizes = {"video_dim": 12, "text_dim": 10, "context_clips": 16}
    narrow = {
        "xml": {"hidden": 16},
        "univtg": {"hidden": 16, "heads": 2, "feed_forward": 16, "layers": 1, "dropout": 0.0},
        "cg_detr": {**CGDETR.small, "hidden": 32, "feed_forward": 32, "dropout": 0.0, "inner_dropout": 0.0},
    }
    torch.manual_seed(0)
    model = build_model(name, sizes, narrow[name])
    files = {"checkpoint": folder / "model.safetensors", "video": folder / "video.h5", "text": folder / "text.h5"}
    save_model(files["checkpoint"], name, model, model.state_dict(), {"trained_on": "fig", "epochs": 0})
    clips = {video: draw.normal(size=(12, 12)).astype(np.float32) for video in ("x", "y")}
    write_features(files["video"], {"dim": 12}, ((video, clips[video], {}) for video in clips))
    tokens = ((str(number), draw.normal(size=(5, 10)).astype(np.float32), {}) for number in range(2))
    write_features(files["text"], {"dim": 10}, tokens)
    return files


@pytest.mark.parametrize("name, rate, epochs", [("xml", 3e-3, 40), ("univtg", 1e-2, 40), ("cg_detr", 3e-3, 80)])
def test_fine_tuning_on_questions_teaches_a_model_where_their_answers_are(name, rate, epochs, tmp_path):
    from verified.benchmark.vcmr.checkpoint import load_model

    files = untrained(name, tmp_path)
    rows = [
        question(1, vid="y", relevant_windows=[[1.5, 4.5]], options=[], duration=12.0),
        question(2, vid="x", relevant_windows=[[6.0, 9.0]], options=[], duration=11.5),
    ]
    training = Training(epochs=epochs, batch=2, learning_rate=rate)
    settings = Settings(**RANKING, training=training, seed=3)
    tuned, record = tmp_path / "tuned.safetensors", tmp_path / "log.jsonl"
    fine_tune(rows, files, settings, tuned, record)
    header = load_model(tuned)[1]
    assert header.items() >= {"model": name, "trained_on": "fig", "fine_tuned_on": 2, "epochs": epochs}.items()
    assert len(read_jsonl(record)) == epochs and not (tmp_path / "unfinished.safetensors").exists()
    asked = [
        Question(row["qid"], "?", row["vid"], row["duration"], (tuple(row["relevant_windows"][0]),)) for row in rows
    ]
    before = ground(rows, files, Settings(**RANKING))
    after = ground(rows, files | {"checkpoint": tuned}, Settings(**RANKING))
    for row in rows:
        start, end = before[row["qid"]].window
        assert 0 <= start < end <= row["duration"] and before[row["qid"]].answer is None
    systems = {"before": System("grounding", before), "after": System("grounding", after, before="before")}
    scores = score_all(asked, systems, 1)["systems"]
    gain = {row["measure"]: row["difference"] for row in scores["after"]["gain"]}
    found = [scores[name]["result"]["brief"]["MR-full-mIoU"] for name in ("before", "after")]
    assert found[1] > 60 > found[0] and gain["mIoU"] == pytest.approx(found[1] - found[0], abs=0.01)
    shown = results_table({"val": {"questions": 2, "systems": scores}}, {})
    (note,) = [note for note in shown.notes if "fine-tuning" in note]
    assert note.startswith(f"val, after: fine-tuning changes mIoU {gain['mIoU']:+.2f}")
