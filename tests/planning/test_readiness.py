"""`verified check --print-config`: what a run would stumble over, each with its remedy."""

import json
from pathlib import Path

import pytest
import yaml
from refusals import names

from verified.__main__ import main
from verified.io.jsonl import write_jsonl

LOCKED = {"commit": "0" * 40, "files": {"model.safetensors": {"bytes": 1, "sha256": "0" * 64}}}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a configuration whose only fault is what the test changes; returns its path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "videos").mkdir()
    (tmp_path / "start.safetensors").touch()
    write_jsonl(
        tmp_path / "moments.jsonl",
        [{"video": "v", "start": 0, "end": 1, "caption": "c", "split": split} for split in ("train", "val", "test")],
    )
    model = tmp_path / "models" / "org--eyes" / LOCKED["commit"]
    model.mkdir(parents=True)
    (model / "model.safetensors").write_bytes(b"x")
    (tmp_path / "lock.json").write_text(json.dumps({"models": {"org/eyes": LOCKED}}))

    def file(**changes) -> str:
        source = {"kind": "folder", "videos": "videos", "moments": "moments.jsonl"}
        values = {
            "datasets": {"d": {"title": "D", "source": source}},
            "features": {"video_backbone": "org/eyes"},
            "evaluator": {"checkpoint": "start.safetensors"},
            "weights": {"lock": "lock.json", "folder": "models"},
        }
        for key, value in changes.items():
            section, _, name = key.partition("__")
            values.setdefault(section, {})[name] = value
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(values))
        return str(tmp_path / "own.yaml")

    return file


def test_nothing_is_missing(write, capsys):
    assert main(["check", "--print-config", "--configfile", write()]) == 0
    shown = capsys.readouterr()
    assert "video_backbone: org/eyes" in shown.out and not shown.err


@pytest.mark.parametrize(
    "change, parts",
    [
        (
            {"features__text_encoder": "org/words"},
            ["features.text_encoder", "org/words", "lock.json", "verified fetch --configfile"],
        ),
        ({"features__video_backbone": "./eyes"}, ["features.video_backbone", "no folder ./eyes"]),
        (
            {"weights__folder": "elsewhere"},
            ["features.video_backbone", "org/eyes", "verified fetch"],
        ),
        (
            {"evaluator__checkpoint": "none.safetensors"},
            ["evaluator.checkpoint", "none.safetensors", "verified import umt"],
        ),
        ({"evaluator__splits": ["train", "dev"]}, ["evaluator.splits", "'dev'", "test, train, val"]),
        (
            {
                "datasets__d": {
                    "title": "D",
                    "spans": {"test_split": "held-out"},
                    "source": {"kind": "folder", "videos": "videos", "moments": "moments.jsonl"},
                }
            },
            ["datasets.d.spans.test_split", "'held-out'", "test, train, val"],
        ),
        (
            {"datasets__d": {"title": "D", "source": {"kind": "folder", "videos": "gone", "moments": "moments.jsonl"}}},
            ["datasets.d.source.videos", "gone"],
        ),
        (
            {"generation__llm": {"engine": "cassette", "cassette": "c.parquet"}},
            ["generation.llm.cassette", "c.parquet", "verified ledger export"],
        ),
        (
            {"generation__llm": {"engine": "openai", "model": "m", "api_key_variable": "NO_SUCH_KEY"}},
            ["NO_SUCH_KEY"],
        ),
        ({"generation__prompts": "nowhere"}, ["generation.prompts"]),
    ],
)
def test_each_fault_is_named_with_its_remedy(write, capsys, change, parts):
    assert main(["check", "--print-config", "--configfile", write(**change)]) == 1
    shown = capsys.readouterr().err
    assert len(shown.splitlines()) == 1, shown
    assert names(shown, *parts) and shown.rstrip().endswith(")"), "a remedy in brackets ends it"


def test_answers_written_by_hand_are_read_before_a_run(write, capsys):
    Path("answers.yaml").write_text("a dog runs:\n  questions: [Where to?, Why?]\n")
    role = {"engine": "cassette", "model": "hand-written", "cassette": "answers.yaml"}
    assert main(["check", "--print-config", "--configfile", write(generation__llm=role)]) == 1
    assert names(capsys.readouterr().err, "generation.llm.cassette", "answers.yaml", "line 2")


def test_the_papers_configuration_says_what_it_still_needs(tmp_path, monkeypatch, capsys):
    from running import PROJECT

    monkeypatch.chdir(tmp_path)
    assert main(["check", "--print-config", "--configfile", str(PROJECT / "config" / "paper.yaml")]) == 1
    shown = capsys.readouterr().err
    assert names(shown, "mistralai/Mistral-7B-Instruct-v0.2", "evaluator.umt_file")
