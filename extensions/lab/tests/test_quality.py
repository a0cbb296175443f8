"""Moments are left out by limits of their measures, each with its reason, and the corpus counts them all."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from loopback import endpoint, transcription
from quality_clips import black, board
from running import ended_well
from sounds import silence, tone, write_film

from verified.config import load
from verified.io.jsonl import read_json, read_jsonl
from verified.io.video import probe
from verified.planning.quote import quote
from verified.runtime.previous_output import PreviousOutput
from verified_lab.config import Quality
from verified_lab.quality.measure import measure_moments
from verified_lab.quality.repeats import LEAST, repeated
from verified_lab.quality.select import judge, said_within, spoken_share

GOOD = {"black": 0.0, "sharpness": 300.0, "motion": 4.0, "text": 0.0, "loudness": -20.0}
SRT = "1\n00:00:00,500 --> 00:00:01,500\nGood evening.\n\n2\n00:00:03,000 --> 00:00:03,500\n[music]\n"


def judged(quality, transcript=None, **measures):
    row = {"desc_id": 1, "video": "a", "start": 0.0, "end": 4.0, **GOOD, **measures}
    (found,) = judge([row], {"a": transcript} if transcript else {}, Quality(**quality))
    return found


@pytest.mark.parametrize(
    "quality, bad, reason",
    [
        ({"max_black": 0.5}, {"black": 0.6}, "black"),
        ({"min_sharpness": 20}, {"sharpness": 3.0}, "blurred"),
        ({"min_motion": 0.5}, {"motion": 0.1}, "still"),
        ({"max_text": 0.1}, {"text": 0.2}, "text-overlay"),
        ({"min_loudness": -60}, {"loudness": -80.0}, "quiet"),
        ({"min_loudness": -60}, {"loudness": None}, "quiet"),
        ({"transcripts": "subtitles", "min_speech": 0.2}, {}, "little-speech"),
    ],
)
def test_each_limit_has_its_reason_and_what_keeps_it_stays(quality, bad, reason):
    out = judged(quality, **bad)
    assert out["reason"] == reason and list(quality)[-1] in out["detail"]
    spoken = {"segments": [[0.0, 4.0, "yes"]]}
    assert judged(quality, spoken)["reason"] is None
    on_the_limit = dict.fromkeys(bad, [*quality.values()][-1])
    assert judged(quality, spoken, **on_the_limit)["reason"] is None
    assert judged({}, **bad)["reason"] is None


def test_speech_is_counted_once_where_segments_overlap():
    segments = [[0.0, 2.0, "one"], [1.0, 3.0, "two"], [9.0, 10.0, "three"]]
    assert spoken_share(segments, 0.0, 4.0) == 0.75 and spoken_share(segments, 4.0, 8.0) == 0.0
    assert said_within(segments, 0.0, 2.5) == "one two" and said_within(segments, 4.0, 9.0) == ""
    assert said_within(segments, 1.5, 4.0) == "two", "by its middle"
    endless = said_within([(0.0, 1.0, "word " * 10**6)], 0.0, 1.0)
    assert 3990 < len(endless) <= 4000 and endless.endswith("word …")


def settings(url="http://127.0.0.1:9/v1", **quality):
    role = {"engine": "openai", "model": "loop-1", "base_url": url}
    speech = {"model": "loud-1", "base_url": url, "price_minute": 0.6}
    source = {"kind": "folder", "videos": "videos", "moments": "moments.csv"}
    return {
        "name": "kitchen",
        "shards": 1,
        "datasets": {"kitchen": {"title": "Kitchen", "source": source}},
        "filters": {"datasets": {"kitchen": quality}},
        "generation": {"llm": role, "image_lmm": role, "video_lmm": role, "speech": speech, "ledger": "ledger"},
    }


def snakemake(values, *targets):
    config = Path("kitchen.yaml")
    config.write_text(yaml.safe_dump(values))
    ended_well(Path.cwd(), "--cores", "1", "--", *targets, config=config)


@pytest.mark.slow
def test_a_run_leaves_out_what_is_black_before_any_call_and_counts_it(tmp_path, monkeypatch):
    """Of a moving clip that speaks, by subtitles, and one that is black for its first half."""
    monkeypatch.chdir(tmp_path)
    Path("videos").mkdir()
    sound = np.concatenate([tone(2.0), silence(2.0)])
    write_film(Path("videos/talk.mkv"), board(32), sound)
    write_film(Path("videos/dark.mkv"), [*black(16), *board(16)], sound)
    Path("videos/talk.srt").write_text(SRT)
    rows = [
        "video,start,end,caption,split",
        "talk,0,2,a board,train",
        "dark,0,2,nothing,train",
        "dark,2,4,a board,test",
    ]
    Path("moments.csv").write_text("\n".join(rows) + "\n")
    with endpoint(lambda number, body: transcription([(0.0, 1.0, "It is dark.")])) as served:
        values = settings(served.url, max_black=0.5, transcripts="speech")
        snakemake(values, "results/kitchen/corpus/counts.json", "results/kitchen/keyframes/shard-00.tar")
        assert [body["model"] for body in served.bodies] == ["loud-1"]  # the clip without subtitles, once
    counts = read_json("results/kitchen/corpus/counts.json")
    assert counts["rows"] == 3 and counts["moments"] == 2 and counts["excluded_rows"] == {"black": 1}
    (out,) = [row for row in read_jsonl("results/kitchen/corpus/exclusions.jsonl") if row["row"]]
    assert out["video"] == "dark" and out["reason"] == "black" and "max_black" in out["detail"]
    moments = read_jsonl("results/kitchen/corpus/moments.jsonl")
    assert [(row["video"], row["said"]) for row in moments] == [("talk", "Good evening."), ("dark", "")]
    table = read_jsonl("results/kitchen/corpus/shards/shard-00.quality.jsonl")
    assert [row["reason"] for row in table] == [None, "black", None] and table[1]["said"] == "It is dark."
    assert [row["speech"] for row in table] == [0.5, 0.5, 0.0]
    rows = {row["task"]: row for row in quote(load(values))}
    assert rows["speech/transcription"]["known"] == 1 and rows["speech/transcription"]["calls"] == 0
    assert rows["answers"]["calls"] + rows["answers"]["known"] == 2
    assert all(row["unseen"] == 0 for row in rows.values())
    Path("videos/talk.srt").write_text(SRT.replace("Good evening", "Good night"))
    snakemake(values, "results/kitchen/corpus/counts.json")
    assert [row["said"] for row in read_jsonl("results/kitchen/corpus/moments.jsonl")] == ["Good night.", ""]


def test_no_pair_above_the_least_share_is_overlooked():
    draw = np.random.default_rng(5)
    for _ in range(200):
        bits = draw.integers(0, 2, 192).astype(np.uint8)
        other = bits.copy()
        other[draw.choice(192, 11, replace=False)] ^= 1
        rows = [{"desc_id": n, "hash": np.packbits(one).tobytes().hex()} for n, one in enumerate((bits, other))]
        assert repeated(rows[::-1], LEAST - 1e-9) == {1: (0, round(1 - 11 / 192, 4))}
        assert repeated(rows, LEAST) == {}


@pytest.mark.slow
def test_a_copy_in_another_encoding_is_left_out_and_names_what_it_repeats(tmp_path):
    frames = board(32)
    write_film(tmp_path / "a.mkv", frames, None)
    write_film(tmp_path / "b.mp4", [frame[::2, ::2].copy() for frame in frames], None)
    write_film(tmp_path / "c.mkv", board(32, blur=2.0)[::-1], None)
    names = {"a": "a.mkv", "b": "b.mp4", "c": "c.mkv"}
    videos = [{"video": name, "path": str(tmp_path / file), **probe(tmp_path / file)} for name, file in names.items()]
    moments = [{"desc_id": n, "video": name, "start": 0.0, "end": 2.0} for n, name in enumerate(names)]
    rows = measure_moments(moments, videos, Quality(), PreviousOutput(tmp_path / "measures.jsonl"))
    found = list(judge(rows, {}, Quality(max_alike=0.95), repeated(rows, 0.95)))
    assert [row["reason"] for row in found] == [None, "near-duplicate", None]
    assert "moment 0" in found[1]["detail"] and "max_alike" in found[1]["detail"]
