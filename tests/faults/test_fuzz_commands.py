"""Every command that reads files of others, with files damaged and options mistyped: it succeeds or says what is wrong.

VERIFIED_FUZZ_CASES sets how many cases run; VERIFIED_FUZZ_SEED which (both are printed). Each case starts from whole
files, and its number is all that decides it: VERIFIED_FUZZ_SEED=N VERIFIED_FUZZ_CASES=1 repeats case N alone.
"""

import collections
import gzip
import json
import os
import random
import re
import shutil
import sys
import time
import traceback
import warnings

import h5py
import numpy as np
import pytest
from benchmark.test_board import COUNT, lists
from fuzz import ARGUMENTS, damaged_file, other_argument
from given import annotations
from people.answered import QUESTION_PAGES, QUESTIONS, STUDY, answer_file, question_key, study

from verified.__main__ import main
from verified.benchmark.board.cards import TEXTS, TRUTH
from verified.benchmark.mad.annotations import write_mad
from verified.io.files import file_digest
from verified.io.hdf5 import write_features
from verified.io.jsonl import write_json, write_jsonl

CASES = int(os.environ.get("VERIFIED_FUZZ_CASES", 2500))
SEED = int(os.environ.get("VERIFIED_FUZZ_SEED", 33_000))
SHOWN = 20
"""Tracebacks that a failure shows."""


def _evaluate(folder):
    truth = [{"desc_id": n, "video": f"v{n % 2}", "time": [1.0, 4.0]} for n in range(COUNT)]
    write_jsonl(folder / "truth.jsonl", truth)
    (folder / "submission.json.gz").write_bytes(lists(lambda n: n < 5))
    (folder / "plain.json").write_bytes(gzip.decompress(lists(lambda n: n < 7)))
    return [
        ["evaluate", "truth.jsonl", "submission.json.gz", "--nms", "0.5", "--json"],
        ["evaluate", "truth.jsonl", "plain.json", "--partial"],
        ["compare", "truth.jsonl", "submission.json.gz", "plain.json", "--output", "out"],
    ]


def _board(folder):
    run = folder / "run"
    _evaluate(folder)
    (run / "annotations" / "fig").mkdir(parents=True)
    shutil.move(folder / "truth.jsonl", run / "annotations" / "fig" / "test.jsonl")
    digest = file_digest(run / "annotations" / "fig" / "test.jsonl")
    (run / "features").mkdir()
    for name in ("video", "text-fig"):
        write_features(run / "features" / f"{name}.h5", {"dim": 4, "backbone": "x"}, [("a", np.ones((2, 4)), {})])
    for seed in (1, 2):
        place = run / "retrieval" / "xml" / "fig" / f"seed-{seed}" / "fig"
        place.mkdir(parents=True)
        (place / "submission.json.gz").write_bytes(lists(lambda n: n < 5))
        facts = {"dataset": "demo", "model": "xml", "seed": seed, "split": "test", "nms_threshold": 0.6}
        write_json(place / "metrics.json", {**facts, "settings_sha256": "new", "ground_truth_sha256": digest})
    card = dict.fromkeys(TEXTS, "x") | {"seeds": [1], "nms": 0.6}
    entry = folder / "submissions" / "demo" / "xml"
    entry.mkdir(parents=True)
    write_json(entry / "card.json", card)
    (entry / "seed-1.json.gz").write_bytes(lists(lambda n: n < 5))
    shutil.copy(run / "annotations" / "fig" / "test.jsonl", entry.parent / TRUTH)
    return [
        ["board-add", "run", "added/demo", "--command", "make tables"],
        ["board", "submissions", "--output", "tables"],
    ]


def _annotations(folder):
    (folder / "fig.jsonl").write_bytes(annotations(0))
    return [["lint", "fig.jsonl", "--rows", "3"], ["lint", "fig.jsonl", "--json"]]


def _features(folder):
    draw = np.random.default_rng(1)
    film = draw.normal(size=(60, 8)).astype(np.float32)
    write_features(folder / "films.h5", {"dim": 8, "clip_seconds": 1.0}, [("f", film, {}), ("g", film * 2, {})])
    write_features(folder / "clips.h5", {"dim": 8, "clip_seconds": 1.0}, [("c", film[20:40], {})])
    with h5py.File(folder / "clips.h5", "r+") as file:
        file.create_dataset("packed", data=film[:9], compression="gzip", chunks=(3, 8))
    write_jsonl(folder / "pairs.jsonl", [{"clip": "c", "film": "f"}, {"clip": "packed", "film": "g"}])
    write_jsonl(folder / "videos.jsonl", [{"video": "f", "duration": 60.0}, {"video": "g", "duration": 60.0}])
    return [
        ["lint", "films.h5", "--videos", "videos.jsonl"],
        ["longform", "locate", "films.h5", "clips.h5", "pairs.jsonl", "--fps", "5"],
    ]


def _longform(folder):
    rows = [
        {"id": str(n), "film": f"f{n % 2}", "sentence": "A door opens.", "duration": 600.0, "split": "test",
         "start": 10.0 * n, "end": 10.0 * n + 4}
        for n in range(1, 7)
    ]  # fmt: skip
    write_mad(folder / "mad.json", rows)
    spans = [{"id": str(n), "spans": [[0.0, 1.0], [10.0 * n, 10.0 * n + 4]]} for n in range(1, 7)]
    write_jsonl(folder / "spans.jsonl", spans)
    return [
        ["evaluate", "mad.json", "spans.jsonl", "--iou", "gt"],
        ["longform", "chance", "mad.json", "--seconds", "180", "--tail", "cover"],
        ["compare", "mad.json", "spans.jsonl", "again=spans.jsonl", "--output", "out"],
    ]


def _rextime(folder):
    key = question_key("verify")
    write_json(folder / "key.json", key)
    write_json(folder / "answers.json", answer_file(QUESTION_PAGES, key))
    write_jsonl(folder / "questions.jsonl", QUESTIONS)
    given = [{"qid": row["qid"], "pred_relevant_windows": [[0.5, 2.0, 0.9]], "ans": "B"} for row in QUESTIONS]
    write_jsonl(folder / "given.jsonl", given)
    importing = ["answers", "answers.json", "--key", "key.json", "--output", "out"]
    return [
        [*importing, "--questions", "questions.jsonl"],
        ["evaluate", "questions.jsonl", "given.jsonl", "--json"],
        ["compare", "questions.jsonl", "given.jsonl", "again=given.jsonl", "--output", "out"],
    ]


def _study(folder):
    key = study()
    write_json(folder / "key.json", key)
    names = [f"{participant}.json" for participant in range(1, 11)]
    for participant, name in enumerate(names, start=1):
        write_json(folder / name, answer_file(STUDY, key, participant))
    return [["answers", "--key", "key.json", "--raters", "1", *names]]


KINDS = (_evaluate, _board, _annotations, _features, _longform, _rextime, _study)
NUMBER = re.compile(r"-?\d+(\.\d+)?")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """For each kind: a folder of files without a fault, and the commands that read them."""
    made = []
    for kind in KINDS:
        folder = tmp_path_factory.mktemp(kind.__name__.strip("_"))
        made.append((folder, kind(folder)))
    return made


def _mistyped(command: list[str], draw: random.Random) -> list[str]:
    """The command with the value of one option, where it has one that is no file, exchanged."""
    places = [at for at in range(1, len(command)) if command[at - 1].startswith("--") and NUMBER.fullmatch(command[at])]
    if not places:
        return command
    at = draw.choice(places)
    value = other_argument(draw)
    return [*command[: at - 1], f"{command[at - 1]}={value}", *command[at + 1 :]]


def _outcome(command: list[str], capsys) -> str:
    """success, refused or usage; a traceback where it is none of them."""
    try:
        status = main(command)
    except SystemExit as ended:  # argparse's
        status, usage = ended.code, True
    except Exception:
        capsys.readouterr()
        return traceback.format_exc(limit=-4)
    else:
        usage = False
    printed = capsys.readouterr()
    if usage:
        return "usage" if status == 2 and "usage:" in printed.err else f"ended with {status}"
    if status == 2:
        return (
            "refused" if printed.err.lstrip().startswith(("error: ", "{")) or "error: " in printed.err else printed.err
        )
    return "success" if status in (0, 1) else f"status {status}"


def run_case(seed: int, whole, folder, capsys) -> tuple[str, str, list[str]]:
    """(outcome, what was damaged, the command) of one case."""
    draw = random.Random(seed)
    source, commands = whole[seed % len(whole)]
    command = draw.choice(commands)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    os.chdir(folder)
    damage = "whole files"
    if draw.random() < 0.2:
        command = _mistyped(command, draw)
        damage = "an option"
    else:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        damage = damaged_file(draw.choice(files), draw.randrange(2**32))
    return _outcome(command, capsys), damage, command


@pytest.mark.slow
def test_commands_succeed_or_say_what_is_wrong(whole, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    counts: collections.Counter = collections.Counter()
    failures, begun = {}, time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(SEED, SEED + CASES):
            outcome, damage, command = run_case(seed, whole, tmp_path / "case", capsys)
            expected = outcome in ("success", "refused", "usage")
            counts[f"{' '.join(command[:2]) if command[0] in ('longform', 'rextime') else command[0]}:"
                   f" {outcome if expected else 'FAILED'}"] += 1  # fmt: skip
            if not expected:
                failures.setdefault(
                    outcome.strip().splitlines()[-1][:80] + outcome[-400:-300], (seed, damage, command, outcome)
                )
    seconds = time.process_time() - begun
    with capsys.disabled():
        print(f"\n{CASES} cases from seed {SEED}, {seconds:.0f} CPU s", file=sys.stderr)
        for name, count in sorted(counts.items()):
            print(f"  {name} {count}", file=sys.stderr)
    told = "\n".join(
        f"seed {seed}, {damage}, {command}:\n{outcome}" for seed, damage, command, outcome in failures.values()
    )
    assert not failures, told[-20_000:]
    if CASES > 300:
        assert {name.split(": ")[1] for name in counts} == {"success", "refused", "usage"}


def test_the_harness_sees_a_crash(whole, tmp_path, monkeypatch, capsys):
    """A command that reads without looking is found within a few cases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fuzz.ARGUMENTS", ARGUMENTS)
    monkeypatch.setattr("verified.features.inspect.inspect_features", lambda path, videos: json.loads("{"))
    outcomes = [run_case(seed, whole, tmp_path / "case", capsys) for seed in range(3, 150, len(KINDS))]
    assert any("JSONDecodeError" in outcome for outcome, _, _ in outcomes)


def test_whole_files_are_read(whole, tmp_path, monkeypatch, capsys):
    for source, commands in whole:
        for command in commands:
            shutil.rmtree(tmp_path / "case", ignore_errors=True)
            shutil.copytree(source, tmp_path / "case")
            monkeypatch.chdir(tmp_path / "case")
            assert main(command) in (0, 1), (command, capsys.readouterr())
