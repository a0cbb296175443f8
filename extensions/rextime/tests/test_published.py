"""UniVTG and CG-DETR with published weights on questions: inputs, answers, rows and errors."""

import argparse
import csv

import numpy as np
import pytest
import tiny_models
import torch
import yaml
from question_pages import captions
from running import ended_well

from verified.benchmark.vcmr.checkpoint import load_model
from verified.benchmark.vcmr.experiment import Settings
from verified.benchmark.vcmr.registry import model_class
from verified.config import load
from verified.io.hdf5 import FeatureFile, write_features
from verified.io.jsonl import read_json, read_jsonl, write_json, write_jsonl
from verified_rextime import jobs
from verified_rextime.published import ground_as_published, import_grounder, text_states
from verified_rextime.rows import Prediction

SMALL = {
    "univtg": {"hidden": 16, "feed_forward": 24, "layers": 2},
    "cg_detr": {"hidden": 16, "feed_forward": 24, "encoder_layers": 1, "decoder_layers": 2, "windows": 4},
}
VIDEOS = {"v0": 6, "v1": 90, "v2": 3}
"""Clips of two seconds of each; one video is longer than those of QVHighlights."""
SEARCH = Settings(**jobs.published_search(load({"rextime": {"released": {"given": "given.jsonl"}}})))


def write_features_of(file, clips, width=2816):
    draw = np.random.default_rng(0)
    items = [(video, draw.normal(size=(count, width)).astype(np.float16), {}) for video, count in clips.items()]
    write_features(file, {"backbone": "slowfast and clip", "dim": width}, items)
    return str(file)


def published(folder, name, video_dim=2816, text_dim=16):
    torch.manual_seed(1)
    cls = model_class(name)
    model = cls(cls.Config(video_dim=video_dim, text_dim=text_dim, context_clips=75, **SMALL[name]))
    state = model.state_dict() | {"txt_position_embed.position_embeddings.weight": torch.zeros(32, 16)}
    torch.save({"model": state, "opt": argparse.Namespace(hidden_dim=16)}, folder / f"{name}.ckpt")
    import_grounder(name, folder / f"{name}.ckpt", None, {})
    return str(folder / f"{name}.safetensors")


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return str(tiny_models.clip(tmp_path_factory.mktemp("clip")))


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    return {name: published(folder, name) for name in SMALL}


def asked(videos):
    return [
        {"qid": f"q-{vid}", "query": f"what{' falls' * (count // 3)} in {vid}", "vid": vid, "duration": 2.0 * count - 1,
         "relevant_windows": [[0, 1]]}
        for vid, count in videos.items()
    ]  # fmt: skip


def test_the_window_is_that_of_the_authors_formulae(clip, weights, tmp_path):
    """Parts of a clip are unit vectors, a window reaches out from (i + 1) / N, and the most probable one is taken."""
    files = {"checkpoint": weights["univtg"], "video": write_features_of(tmp_path / "video.h5", VIDEOS)}
    files["text"] = str(tmp_path / "text.h5")
    rows = asked({**VIDEOS, "gone": 4})
    found, facts = ground_as_published("univtg", rows, files, clip, SEARCH)
    assert facts["without_features"] == 1 and found["q-gone"] == Prediction((0.0, 0.0), None)
    model, _ = load_model(weights["univtg"])
    for row in rows[:3]:
        clips = torch.from_numpy(FeatureFile(files["video"])[row["vid"]])
        parts = [part / part.norm(dim=1, keepdim=True) for part in (clips[:, :2304], clips[:, 2304:])]
        count = len(clips)
        at = torch.arange(count).float()[:, None] / count
        inputs = torch.cat([*parts, at, at + 1 / count], dim=1)
        states = torch.from_numpy(text_states(clip, [row["query"]])[0]).float()
        states = states / states.norm(dim=1, keepdim=True)
        mask, token_mask = torch.ones(1, count, dtype=torch.bool), torch.ones(1, len(states), dtype=torch.bool)
        types = model.token_type_embeddings.weight
        with torch.no_grad():
            video = (model.input_vid_proj(inputs) + types[1])[None]
            query = (model.input_txt_proj(states) + types[0])[None]
            logits, windows = model.predict(video, mask, query, token_mask)
        best = (windows[0, logits[0].argmax()] * count * 2).clamp(0, 2 * count).tolist()
        expected = (best[0], min(best[1], row["duration"]))
        assert found[row["qid"]].window == pytest.approx(expected, abs=1e-2)


def test_questions_are_read_with_both_ends_and_before_the_projection(clip, weights, tmp_path):
    files = {"checkpoint": weights["cg_detr"], "video": write_features_of(tmp_path / "video.h5", VIDEOS)}
    files["text"] = str(tmp_path / "text.h5")
    found, facts = ground_as_published("cg_detr", asked(VIDEOS), files, clip, SEARCH)
    assert found.keys() == {f"q-{video}" for video in VIDEOS} and facts["imported_from"] == "cg_detr.ckpt"
    text = FeatureFile(files["text"])
    letters = len(asked(VIDEOS)[0]["query"].replace(" ", ""))
    assert text["0"].shape == (letters + 2, 16)  # the tiny CLIP projects to 12 numbers and knows single letters
    assert [len(states) for states in text_states(clip, ["what falls", "what"])] == [11, 6], "no pads"


@pytest.mark.night
def test_both_take_the_test_in_a_whole_run(clip, weights, tmp_path):
    write_json(tmp_path / "captions.json", captions(6))
    features = write_features_of(tmp_path / "video.h5", {f"v{number}": 6 for number in range(6)})
    given = [{**row, "vid": "v1", "qid": number} for number, row in enumerate(asked({"v0": 6, "v1": 6}))]
    write_jsonl(tmp_path / "given.jsonl", given)
    values = {
        "name": "shot",
        "rextime": {
            "sources": {"captions": {"form": "captions", "annotations": "captions.json", "split": "val"}},
            "released": {"given": "given.jsonl"},
            "published": {
                name: {"checkpoint": file, "video": features, "text_encoder": clip} for name, file in weights.items()
            },
        },
    }
    (tmp_path / "shot.yaml").write_text(yaml.safe_dump(values))
    ended_well(tmp_path, "--cores", "1", "results/tables", config=tmp_path / "shot.yaml")
    lines = (tmp_path / "results/tables/rextime-models.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    methods = {(row["Test"], row["Method"]) for row in rows}
    shown = {f"{name}, published weights, zero-shot" for name in weights}
    assert methods >= {("this run, val", name) for name in shown}
    assert methods >= {("this run, given", f"{name} (given)") for name in shown}
    foot = (tmp_path / "results/tables/rextime-models.md").read_text(encoding="utf-8")
    assert foot.count("sha256") == 4 and foot.count("not trained here") == 4
    home = tmp_path / "results/shot/rextime"
    questions = read_jsonl(home / "annotations/val.jsonl")
    found = read_jsonl(home / "grounding/published/univtg/suite.jsonl")
    assert [row["qid"] for row in found] == [row["qid"] for row in questions]
    assert all(0 <= start <= end <= 12 for row in found for start, end in row["pred_relevant_windows"])
    assert read_json(home / "results.json").keys() == {"val", "given"}
