"""`verified show`: everything known of a moment, at every stage of a run."""

import json

from captioning import make_moments, make_tar, make_videos
from stub_engine import StubEngine

from verified.__main__ import main
from verified.captions.dynamics import caption_dynamics
from verified.captions.statics import caption_statics
from verified.config.generation import Generation
from verified.io.jsonl import write_jsonl
from verified.keyframes.archive import KeyframeTar
from verified.lmm.session import Session
from verified.lmm.tasks.paper import PAPER

CONFIG = """
name: mine
shards: 1
datasets: {mine: {title: Mine, source: {kind: folder, videos: videos, moments: moments.jsonl}}}
"""


def show(capsys, *arguments):
    status = main(["show", *arguments, "--configfile", "mine.yaml"])
    out, err = capsys.readouterr()
    return status, out + err


def test_keyframes_calls_candidates_and_decision(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(CONFIG)
    moments = make_moments(["a dog runs", "a cat sits", "a cow eats"])
    write_jsonl("results/mine/corpus/moments.jsonl", moments)
    videos, base = make_videos(tmp_path, moments), "results/mine"
    engine = StubEngine()
    generation = Generation()
    with Session(generation, 1, PAPER[:5], dict.fromkeys(("llm", "image_lmm", "video_lmm"), engine)) as s:
        with KeyframeTar(make_tar(tmp_path / "k.tar", moments)) as tar:
            statics = caption_statics(moments, tar, s)
        dynamics = caption_dynamics(moments, videos, {"fps": 8.0, "frames": None, "max_frames": 64}, s)
    write_jsonl(f"{base}/captions/statics/shard-00.jsonl", statics)
    write_jsonl(f"{base}/captions/dynamics/shard-00.jsonl", dynamics)
    write_jsonl(f"{base}/captions/statics/shard-00.corrupted.jsonl", [])
    scores = [
        {"desc_id": 101, "type": kind, "candidate": number, "score": number / 10 + 0.05 + worse}
        for kind, worse in (("statics", 0), ("dynamics", -1))
        for number in range(3)
    ]
    write_jsonl(f"{base}/evaluator/scores/shard-00.jsonl", scores)
    fig = {"desc_id": 101, "fig_desc": "a cat sits by the sea", "fig_desc_score": 0.25, "fig_desc_type": "statics"}
    write_jsonl(f"{base}/annotations/fig/train.jsonl", [fig])
    status, shown = show(capsys, "101")
    assert status == 0 and "keyframe at 2.5 s" in shown and "16 frames" in shown
    assert all(candidate["caption"] in shown for row in (statics[1], dynamics[1]) for candidate in row["candidates"])
    for grade, [row] in (("0.2500", statics[1:2]), ("-0.7500", dynamics[1:2])):
        assert f"  {grade}  {row['candidates'][2]['caption']}" in shown
    assert "fig: 0.2500  statics: a cat sits by the sea" in shown
    for task in (task.name for task in PAPER[:5]):
        assert f"{task}, stub-1 (stub): ok" in shown
    assert "a dog runs" not in shown and "perturbations:\n  not made yet" in shown
    known = json.loads(show(capsys, "101", "--json")[1])
    assert known["dataset"] == "mine" and len(known["calls"]) == 6 and len(known["scores"]) == 6
