"""`verified verify`: finds changed files, and nothing else, and says how to rebuild them."""

import shutil
from pathlib import Path

import pytest
from refusals import said
from running import PROJECT

from verified.__main__ import main
from verified.io.jsonl import write_jsonl
from verified.runtime.checksums import checksums_of, write_checksums
from verified.runtime.manifest import NAME, write_manifest

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
    """As after a copy without hidden files, and after rm."""
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
