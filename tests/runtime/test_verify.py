"""`verified verify`, and commands that check their inputs: changed files and nothing else, with the way to rebuild."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from refusals import refused, said
from running import PROJECT
from tvr_lists import COUNT, lists

from verified.__main__ import main
from verified.io.files import checking, file_digest, read_text
from verified.io.hdf5 import link_features, write_features
from verified.io.jsonl import read_json, write_json, write_jsonl
from verified.runtime.checksums import checksums_of, write_checksums
from verified.runtime.manifest import NAME, write_manifest
from verified.runtime.verify import check

RECORDED = ("small/b.jsonl", "small/corpus/c.jsonl", "small/tables", "small/a.jsonl")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small run: three files, a folder of tables and a temporary file."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "results" / "small"
    for name in ("a.jsonl", "b.jsonl", "corpus/c.jsonl"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        write_jsonl(home / name, [{"desc_id": 1}])
    (home / "tables").mkdir()
    (home / "tables" / "main.csv").write_text("a\n")
    (home / "clips.npy").write_bytes(b"clips")
    for name in ("a.jsonl", "b.jsonl", "corpus/c.jsonl", "tables", "clips.npy"):
        write_checksums(f"results/small/{name}", rule="any", temporary=["results/small/clips.npy"])
    (home / "clips.npy").unlink()
    write_manifest("results/small", "", dict.fromkeys(RECORDED), ended=True)
    (home / "notes.txt").write_text("no job wrote this")
    (tmp_path / "small.yaml").write_text("name: small\n")
    return home


def verify(capsys, *options) -> tuple[int, str]:
    status = main(["verify", *options])
    return status, capsys.readouterr().out


def test_a_sound_run_has_no_findings(folder, capsys):
    status, said = verify(capsys, "--configfile", "small.yaml")
    assert status == 0 and "results/small: 5 of 5 files and folders are as they were written; 0 to be" in said


def test_damages_are_listed_with_the_commands_in_order_and_nothing_is_removed(folder, capsys):
    (folder / "a.jsonl").write_text('{"desc_id": 2}\n')
    (folder / "corpus" / "c.jsonl").unlink()
    (folder / "tables" / "main.csv").unlink()
    checksums_of(folder / "b.jsonl").unlink()
    before = sorted(folder.rglob("*"))
    status, said = verify(capsys, "--configfile", "small.yaml", "--heal")
    assert status == 1 and "4 to be rebuilt" in said and sorted(folder.rglob("*")) == before
    assert "damaged  results/small/a.jsonl: 1 lines, 15 bytes, SHA-256" in said
    assert "gone  results/small/corpus/c.jsonl" in said and "unrecorded  results/small/b.jsonl" in said
    assert "damaged  results/small/tables: not as written: main.csv" in said
    program = f"--snakefile {PROJECT / 'Snakefile'} --configfile small.yaml"
    assert said.splitlines()[-3:] == [  # what a.jsonl may be made of comes first, though its folder has b.jsonl too
        f"  snakemake --cores all results/small/b.jsonl --force {program}",
        f"  snakemake --cores all results/small/corpus/c.jsonl {program}",
        f"  snakemake --cores all results/small/tables results/small/a.jsonl --force {program}",
    ]


@pytest.mark.parametrize(
    "lost", ["checksums of the tables", "all checksums", "the tables", "the manifest", "everything"]
)
def test_lost_outputs_and_records_are_no_sound_run(folder, capsys, lost):
    if lost in ("the tables", "everything"):
        shutil.rmtree(folder / "tables")
    if lost in ("the manifest", "everything"):
        (folder / NAME).unlink()
    for path in sorted(folder.rglob(".*.checksums")):
        if lost in ("all checksums", "everything") or (lost != "the manifest" and path.name == ".tables.checksums"):
            path.unlink()
    status, said = verify(capsys, "--configfile", "small.yaml")
    count = {"all checksums": 4, "everything": 1}.get(lost, 1)
    assert status == 1 and f"{count} to be rebuilt" in said
    assert f"results/small/{NAME if lost in ('the manifest', 'everything') else 'tables'}: " in said


@pytest.mark.parametrize(
    ("options", "text", "named"),
    [
        (["--directory", "nowhere"], "", "nowhere"),
        (["--configfile", "nowhere.yaml"], "", "nowhere.yaml"),
        (["--configfile", "odd.yaml"], "name: other\n", "other"),
        (["--configfile", "odd.yaml"], "name: ../x\n", "odd.yaml"),
    ],
)
def test_what_cannot_be_verified_is_said_before_a_name_becomes_a_path(folder, capsys, options, text, named):
    Path("odd.yaml").write_text(text)
    assert main(["verify", *options]) == 2
    said(capsys.readouterr().err, named)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A finished run of one model with its checksums, as far as `verified compare` reads it."""
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "results" / "demo"
    truth = root / "annotations" / "fig" / "test.jsonl"
    write_jsonl(truth, [{"desc_id": n, "video": f"v{n % 2}", "time": [1.0, 4.0]} for n in range(COUNT)])
    features = root / "features"
    write_features(features / "shard.h5", {"dim": 3}, [("v", np.ones((2, 3), np.float16), {})])
    for name in ("video", "text-fig"):
        link_features(features / f"{name}.h5", [features / "shard.h5"], {"backbone": "small-resnet"})
    for seed in (1, 2):
        folder = root / "retrieval" / "xml" / "fig" / f"seed-{seed}" / "fig"
        folder.mkdir(parents=True)
        (folder / "submission.json.gz").write_bytes(lists(lambda n: False))
        facts = {"dataset": "demo", "model": "xml", "trained_on": "fig", "tested_on": "fig", "seed": seed}
        facts |= {"split": "test", "nms_threshold": 0.6, "ground_truth_sha256": file_digest(truth)}
        write_json(folder / "metrics.json", facts)
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            links = path.parent == features and path.stem != "shard"
            write_checksums(
                path, made_of={"demo/features/shard.h5": file_digest(features / "shard.h5")} if links else {}
            )
    return root


READ = {
    "compare": "retrieval/xml/fig/seed-2/fig/metrics.json",
    "evaluate": "retrieval/xml/fig/seed-1/fig/submission.json.gz",
    "lint": "annotations/fig/test.jsonl",
    "features": "features/shard.h5",
}
COMMANDS = {
    "compare": ["compare", "RUN/annotations/fig/test.jsonl", "a=RUN/retrieval/xml/fig", "b=RUN/retrieval/xml/fig"],
    "evaluate": ["evaluate", "RUN/annotations/fig/test.jsonl", "RUN/retrieval/xml/fig/seed-1/fig/submission.json.gz"],
    "lint": ["lint", "RUN/annotations/fig/test.jsonl"],
    "features": ["lint", "RUN/features/video.h5"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["results/demo", "ABSOLUTE", "elsewhere/results/demo"])
def test_a_command_refuses_what_is_not_as_a_job_wrote_it(run, command, place, tmp_path, capsys):
    file = READ[command]
    if place.startswith("elsewhere"):
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "results").rename(tmp_path / "elsewhere" / "results")
    folder = tmp_path / (place if place != "ABSOLUTE" else "results/demo")
    words = [word.replace("RUN", str(folder) if place == "ABSOLUTE" else place) for word in COMMANDS[command]]
    content = bytearray((folder / file).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / file).write_bytes(content)
    assert main(words) == 2
    said(capsys.readouterr().err, Path(file).name, "damaged", remedy=True)
    assert not (tmp_path / "comparison").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_all_that_a_command_opens_of_a_run_was_checked(run, command, tmp_path, monkeypatch):
    opened, checked, watching = set(), set(), [True]

    def note(event, arguments):
        if watching and event == "open" and isinstance(arguments[0], str) and "r" in (arguments[1] or "r"):
            opened.add(os.path.abspath(arguments[0]))

    def note_checked(path):
        check(path)
        checked.add(os.path.abspath(path))

    monkeypatch.setattr("verified.__main__.check", note_checked)
    sys.addaudithook(note)
    assert main([word.replace("RUN", "results/demo") for word in COMMANDS[command]]) != 2
    watching.clear()
    results = str(tmp_path / "results")
    assert {path for path in opened if path.startswith(results) and "/." not in path} <= checked and checked


COMPARED = [word.replace("RUN", "results/demo") for word in COMMANDS["compare"]]


def test_the_metrics_of_another_training_are_none_of_this_one(run, capsys):
    first, second = (run / "retrieval" / "xml" / "fig" / f"seed-{seed}" / "fig" / "metrics.json" for seed in (1, 2))
    shutil.copy(first, second)
    shutil.copy(checksums_of(first), checksums_of(second))
    assert main(COMPARED) == 2
    said(capsys.readouterr().err, "seed-2", "seed-1", remedy=True)
    write_checksums(second)  # somebody made checksums of the copy: its own contents remain
    assert main(COMPARED) == 2
    said(capsys.readouterr().err, "seed-2", "'seed'", remedy=True)


def test_a_file_of_a_job_without_checksums_is_refused_and_one_of_a_person_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("written.json", "mine.json"):
        write_json(tmp_path / "results" / "a" / name, {})
    write_manifest("results/a", "", {"a/written.json": "0"}, ended=True)
    with checking(check):
        assert read_json("results/a/mine.json") == {}
        with refused("no checksums", remedy=True):
            read_json("results/a/written.json")
        with refused("no checksums", remedy=True):
            read_json(tmp_path / "results" / "a" / "written.json")
    assert read_json("results/a/written.json") == {}  # not a command


def test_a_file_in_a_recorded_folder_is_checked_against_it_also_through_a_link(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables = tmp_path / "results" / "demo" / "tables"
    tables.mkdir(parents=True)
    for name in ("all.csv", "main.csv"):
        (tables / name).write_text("a,b\n")
    write_checksums("results/demo/tables")
    (tmp_path / "results" / "tables").symlink_to("demo/tables")
    (tables / "all.csv").write_text("a,c\n")
    (tables / "added.csv").write_text("a\n")
    with checking(check):
        for folder in ("results/tables", "results/demo/tables"):
            assert read_text(Path(folder, "main.csv"), 100) == "a,b\n"
            for name in ("all.csv", "added.csv"):
                with refused(name, remedy=True):
                    read_text(Path(folder, name), 100)


def test_a_command_writes_over_its_earlier_output(tmp_path):
    """Between the two, the new file is beside the old checksums, and gets its own."""
    target = tmp_path / "results" / "answers.jsonl"
    with checking(check):
        for count in (1, 2):
            write_jsonl(target, [{"number": 1}] * count)
            write_checksums(target)
            assert len(target.read_text().splitlines()) == count


def test_while_a_run_is_at_work_a_command_says_so(run, capsys):
    write_manifest("results/demo", "", {}, ended=False)  # by this process
    (run / READ["lint"]).write_text("{}")
    assert main(["lint", f"results/demo/{READ['lint']}"]) == 2
    said(capsys.readouterr().err, "test.jsonl", f"process {os.getpid()}", "at work", remedy=True)
    write_manifest("results/demo", "", {}, ended=True)
    assert main(["lint", f"results/demo/{READ['lint']}"]) == 2
    assert "at work" not in said(capsys.readouterr().err, "snakemake --cores all", remedy=True)
