"""Before a run: stages, disk, steps of trainings, figures of the page, and every command that only reads."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from running import PROJECT, SHIPPED

from verified.__main__ import main
from verified.config import load, read
from verified.corpus.splits import HELD_OUT, is_held_out
from verified.io.jsonl import read_jsonl
from verified.lmm.tasks.paper import PAPER
from verified.planning.check_retrieval import training_findings
from verified.planning.needs import disk_needs
from verified.planning.stages import roles_in_use, stages

PROMPTS = PROJECT / "config" / "prompts"
FOLDER = {"kind": "folder", "videos": "videos", "moments": "moments.csv"}


def settings_of(**source):
    return load({"datasets": {"own": {"title": "Own", "source": source}}})


def asked(settings) -> set[str]:
    return {task.name for stage in stages() for task in stage.tasks(settings)}


def test_commands_and_plans_import_no_library_that_takes_a_second():
    program = """
import sys
from verified.__main__ import parser
from verified.planning import check
parser(), check.stages()
print(*sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert not {"pandas", "scipy.signal", "scipy.stats", "torch", "transformers"} & set(run.stdout.split())


def test_every_prompt_is_asked_by_a_stage():
    prompts = {file.relative_to(PROMPTS).with_suffix("").as_posix() for file in PROMPTS.rglob("*.md")}
    proposing = settings_of(kind="folder", videos="videos")
    assert prompts - asked(proposing) == set()
    assert {task.name for task in PAPER} <= asked(settings_of(**FOLDER))
    assert set(roles_in_use(proposing)) == {"llm", "image_lmm", "video_lmm"}


def findings(tmp_path, moments, last="split", **retrieval):
    rows = [f"video,start,end,caption,{last}"]
    for number in range(moments):
        (tmp_path / f"v{number}.mp4").touch()
        rows.append(f"v{number},0,2,a dog {number},{('train', 'train', 'train', 'val', 'test')[number % 5]}")
    (tmp_path / "moments.csv").write_text("\n".join(rows) + "\n")
    source = {"kind": "folder", "videos": str(tmp_path), "moments": str(tmp_path / "moments.csv")}
    values = {"datasets": {"mine": {"title": "Mine", "source": source}}, "retrieval": retrieval}
    return list(training_findings(load(values)))


def test_steps_that_a_small_corpus_does_not_bear_are_noted(tmp_path):
    note, counts = findings(tmp_path, 25, models=["xml", "hero"], training={"xml": {"epochs": 7, "batch": 4}})
    assert note.level == "note" and note.key == "retrieval.training.hero.steps"
    assert "5,000 passes over 15 training moments of mine" in note.message and "set it to 50 or less" in note.remedy
    assert counts.level == "ok" and "on 15 moments of mine: xml 28, hero 5,000" in counts.message


def test_steps_of_the_users_own_are_counted(tmp_path):
    (counts,) = findings(tmp_path, 25, models=["xml", "hero"], training={"hero": {"steps": 60}})
    assert counts.message.endswith("xml 100, hero 60")
    assert "on 20 moments" in findings(tmp_path, 25, "scene", models=["xml"])[0].message, "the share to train on"


def test_the_papers_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = read(PROJECT / "config" / "paper.yaml")
    needed = disk_needs(config)
    larger = config.model_copy(update={"evaluator": config.evaluator.model_copy(update={"clip_side": 3 * 256})})
    clips, nine = (
        max(size for purpose, size in of.items() if "clips" in purpose) for of in (needed, disk_needs(larger))
    )
    assert 35 < clips < 39 and nine == pytest.approx(9 * clips), "a side of 256 in the paper's run"
    # By hand, from the published annotations: text 12.8 and video 9.3; five keyframes a moment of ActivityNet's, one of
    # the others'; eight and twelve calls a moment.
    assert needed["features"] == pytest.approx(22.1, abs=0.1)
    assert needed["keyframes"] == pytest.approx((16128 + 41104 + 5 * 71957) * 40e-6, rel=0.01)
    assert needed["ledger"] == pytest.approx((8 * (16128 + 41104) + 12 * 71957) * 3e-6, rel=0.01)
    assert needed["models"] == pytest.approx(50.8 + 2.6, abs=0.5)
    assert needed["environments"] > 0 and 195 < sum(needed.values()) < 210


PAPER_RUN = read(PROJECT / "config" / "paper.yaml")
PAGE = " ".join((PROJECT / "docs" / "paper-run.md").read_text(encoding="utf-8").split())
DATA = PROJECT.parent / "shared" / "data"
annotated = pytest.mark.skipif(not DATA.is_dir(), reason="the published annotation files are not beside the project")


@annotated
def test_videos_that_are_held_out():
    spans = PAPER_RUN.datasets["charades-fig"].spans
    rows = read_jsonl(DATA / "charades-fig" / "charades_fig_train.jsonl")
    out = [row for row in rows if is_held_out(row["video"], spans.held_out_share)]
    assert spans.selection_split == HELD_OUT
    counted = (len({row["video"] for row in out}), len({row["video"] for row in rows}), len(out), len(rows))
    said = re.search(r"([\d,]+) of ([\d,]+) with ([\d,]+) of ([\d,]+) moments", PAGE).groups()
    assert tuple(int(number.replace(",", "")) for number in said) == counted


@annotated
def test_a_training_on_activitynet_keeps_its_features_in_memory():
    """In float32: a feature of 2048 for each clip of a video, of 768 for each token of a caption."""
    spans = PAPER_RUN.datasets["activitynet-fig"].spans
    size = 0
    for split in (spans.train_split, spans.selection_split):
        videos = json.loads(Path(DATA, "activitynet-captions", f"{split}.json").read_text(encoding="utf-8"))
        for video in videos.values():
            size += 4 * 2048 * min(spans.max_context_clips, math.ceil(video["duration"] / spans.clip_seconds))
            size += 4 * 768 * sum(len(sentence.split()) + 2 for sentence in video["sentences"])
    assert 14e9 < size < PAPER_RUN.retrieval.memory_mb * 2**20


each_shipped = pytest.mark.parametrize("file", SHIPPED.values(), ids=lambda file: file.stem)


@each_shipped
@pytest.mark.parametrize("arguments", [("check", "--offline"), ("check", "--print-config"), ("quote",)], ids=" ".join)
def test_a_command_in_this_process(arguments, file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status = main([*arguments, "--configfile", str(file)])
    shown = capsys.readouterr()
    if status == 1:  # findings, each with what to do about it
        assert "problem" in shown.out + shown.err
    elif status == 2:
        assert re.search(r"^error: .+\(.+\)", shown.err, re.MULTILINE) and "Traceback" not in shown.err, shown.err
    else:
        assert status == 0 and shown.out
        if (arguments, file.stem) == (("quote",), "nano"):
            assert "made up to 3 times" in shown.out, "an attempt is paid too"
    assert not any(tmp_path.rglob("results/*.jsonl")), "a command that only reads has built something"
