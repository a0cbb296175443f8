"""`verified verify`: finds what is not as it was written, and nothing else; heals so that it is built again."""

import base64
import os

import pytest
from refusals import said

from verified.__main__ import main
from verified.io.jsonl import write_jsonl
from verified.runtime import seals
from verified.runtime.rebuilding import mark_of, marked_files
from verified.runtime.seals import replacing, seal, seal_of


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small run: three files, a folder of tables and a temporary file, all noted by Snakemake."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "results" / "small"
    for name in ("a.jsonl", "b.jsonl", "corpus/c.jsonl"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        write_jsonl(home / name, [{"desc_id": 1}])
    (home / "tables").mkdir()
    (home / "tables" / "main.csv").write_text("a\n")
    (home / "clips.npy").write_bytes(b"clips")
    metadata = tmp_path / ".snakemake" / "metadata"
    metadata.mkdir(parents=True)
    for name in ("a.jsonl", "b.jsonl", "corpus/c.jsonl", "tables", "clips.npy"):
        seal(f"results/small/{name}", temporary=name == "clips.npy")
        (metadata / base64.urlsafe_b64encode(f"results/small/{name}".encode()).decode()).touch()
    (home / "clips.npy").unlink()
    (home / "notes.txt").write_text("no job wrote this")
    (tmp_path / "small.yaml").write_text("name: small\n")
    return home


def verify(capsys, *options) -> tuple[int, str]:
    status = main(["verify", *options])
    return status, capsys.readouterr().out


def test_a_sound_run_has_no_findings(folder, capsys):
    status, said = verify(capsys, "--configfile", "small.yaml")
    assert status == 0 and "results/small: 5 of 5 sealed files and folders are what was written; 0 to be" in said


def damage(folder):
    (folder / "a.jsonl").write_text('{"desc_id": 2}\n')
    (folder / "corpus" / "c.jsonl").unlink()
    (folder / "tables" / "main.csv").unlink()
    seal_of(folder / "b.jsonl").unlink()


def killed(*arguments):
    raise KeyboardInterrupt


def test_what_is_damaged_gone_or_unsealed_is_listed_with_the_command(folder, capsys, monkeypatch):
    damage(folder)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(seals, "seal", killed)
        with replacing(folder / "notes.txt") as new:
            new.write_text("of a command that was killed before it sealed them")
    status, said = verify(capsys)
    assert status == 1 and "unfinished  results/small/notes.txt" in said and "4 to be rebuilt" in said
    assert "damaged  results/small/a.jsonl: damaged: its 15 bytes are not those that were written" in said
    assert "gone  results/small/corpus/c.jsonl" in said and "unsealed  results/small/b.jsonl" in said
    assert "damaged  results/small/tables: damaged: lacks main.csv" in said
    assert "remove them with --heal" in said
    status, said = verify(capsys, "--heal")
    assert status == 0 and said.count("notes.txt") == 1 and (folder / "notes.txt").exists()  # left to its command
    seal_of(folder / "notes.txt").unlink()
    assert "notes.txt" not in verify(capsys)[1]


def test_healing_removes_just_that_and_the_next_run_is_told(folder, capsys):
    damage(folder)
    for age, name in enumerate(("tables", "corpus/c.jsonl", "b.jsonl", "a.jsonl")):
        aged = seal_of(folder / name) if name != "b.jsonl" else folder / name
        os.utime(aged, (10**9 - age, 10**9 - age))
    status, said = verify(capsys, "--configfile", "small.yaml", "--heal")
    build = "  snakemake --cores all results/small"
    assert status == 0
    assert said.splitlines()[-2:] == [
        f"{build}/a.jsonl {build[-13:]}/b.jsonl {build[-13:]}/tables --configfile small.yaml",
        f"{build}/corpus/c.jsonl --configfile small.yaml",
    ]
    wanted = [f"results/small/{name}" for name in ("a.jsonl", "b.jsonl", "corpus/c.jsonl", "tables")]
    assert marked_files("results/small") == wanted
    assert sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) == ["corpus", "notes.txt"]
    write_jsonl(folder / "a.jsonl", [{"desc_id": 1}])
    seal("results/small/a.jsonl")
    assert marked_files("results/small") == wanted[1:] and not mark_of(folder / "a.jsonl").exists()


def test_what_configurations_share_is_removed_and_no_rule_is_asked_for_it(folder, capsys):
    shared = folder.parent / "statistics"
    shared.mkdir()
    for name in ("cut.json", "gone.json", "sound.json"):
        (shared / name).write_text("{}\n")
        seal(f"results/statistics/{name}")
    (shared / "cut.json").write_text("")
    (shared / "gone.json").unlink()
    status, said = verify(capsys)
    assert status == 1 and "damaged  results/statistics/cut.json" in said and "1 to be rebuilt" in said
    status, said = verify(capsys, "--heal")
    assert status == 0 and "snakemake" not in said and marked_files("results") == []
    assert not (shared / "cut.json").exists() and verify(capsys)[0] == 0


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--directory", "nowhere"], "nowhere"),
        (["--configfile", "nowhere.yaml"], "nowhere.yaml"),
        (["--configfile", "other.yaml"], "other"),
    ],
)
def test_what_cannot_be_verified_is_said(folder, capsys, options, named):
    (folder.parents[1] / "other.yaml").write_text("name: other\n")
    assert main(["verify", *options]) == 2
    said(capsys.readouterr().err, named)


@pytest.mark.parametrize("name", ["[a, b]", "../x", "3.5", "{a: b}"])
def test_a_name_that_is_none_is_refused_before_it_becomes_a_path(folder, capsys, name):
    config = folder / "odd.yaml"
    config.write_text(f"name: {name}\n")
    assert main(["verify", "--directory", str(folder), "--configfile", str(config)]) == 2
    said(capsys.readouterr().err, config, remedy=True)
