"""The rehearsal of the paper's run in a shorter form: few videos, one data set's tables, one of the models."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
import yaml
from running import PROJECT, printed

pytestmark = [pytest.mark.night, pytest.mark.timeout(1800)]  # its run shares the cores with the demo's

VIDEOS = 8
REHEARSAL = PROJECT / "tests" / "rehearsal" / "run.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Path, Path]:
    """Folder and configuration of a run: fetch, UMT, answers, two-process fine-tuning, models, tables, and a kill."""
    folder = tmp_path_factory.mktemp("rehearsal")
    config = folder / "short.yaml"
    values = {"layers": [str(PROJECT / "config" / "rehearsal.yaml")], "shards": 1, "tables": ["charades-fig"]}
    values["retrieval"] = {"models": ["xml"]}
    values["generation"] = {"video_lmm": {"video_input": "stills"}}  # frames take torchvision: make rehearsal
    config.write_text(yaml.safe_dump(values))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(PROJECT / "scripts"), str(PROJECT / "tests")])}
    rehearse = [sys.executable, REHEARSAL, "--configfile", config, "--videos", VIDEOS]
    said = printed(rehearse, folder, env=environment)
    assert "will be killed at the stage" in said and "rehearsal: started again" in said
    return folder, config


def test_the_tables_name_what_was_really_used(run):
    folder, _ = run
    text = "".join(path.read_text() for path in sorted((folder / "results" / "tables").glob("main-*.md")))
    lock = json.loads((folder / "resources/rehearsal/lock.json").read_text())
    for name in ("mistralai/Mistral-7B-Instruct-v0.2", "Qwen/Qwen2.5-VL-7B-Instruct", "microsoft/resnet-152"):
        assert f"{name} at commit {lock['models'][name]['commit'][:12]}" in text
    assert "answers of cassette answers.parquet first" in text
    assert re.search(r"\d+ of \d+ videos", text), "missing videos stand in the head"


def test_unanswered_calls_of_random_models_are_counted(run):
    folder, _ = run
    counts = json.loads(next((folder / "results").rglob("captions/statics/*.counts.json")).read_text())
    assert counts["moments"] == counts["complete"] + counts["short"] + counts["without"]
    assert counts["without"] > 0 and counts["complete"] > counts["without"]


def test_two_processes_fine_tuned_umts_weights(run):
    folder, _ = run
    card = json.loads(next((folder / "results").rglob("card.json")).read_text())
    assert "UMT, imported from mini_16.pth" in json.dumps(card)
    assert not list((folder / "results").rglob("*.h264")), "clips go when nothing needs them"
