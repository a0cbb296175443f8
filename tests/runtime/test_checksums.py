"""Checksums: every kind of file and damage, messages, jobs that check first and write theirs last."""

import hashlib
import os
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from refusals import refused
from running import PROJECT

from verified.errors import InputError
from verified.io.files import file_digest, write_record
from verified.io.jsonl import write_json, write_jsonl
from verified.runtime.checksums import checksums_of, record_of, write_checksums
from verified.runtime.job import job
from verified.runtime.manifest import manifest_of, rebuild_command, write_manifest
from verified.runtime.verify import check, job_checksums, verify


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Files and a folder, below results, with checksums; the working directory is their parent."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / "a"
    folder.mkdir(parents=True)
    write_jsonl(folder / "rows.jsonl", [{"desc_id": number, "caption": "a ball"} for number in range(7)])
    write_json(folder / "metrics.json", {"VR": {"r1": 12.5}})
    with h5py.File(folder / "shard.h5", "w") as file:
        for name in "abc":
            file[name] = np.ones((4, 8), np.float16)
    with h5py.File(folder / "linked.h5", "w") as file:
        file["a"] = h5py.ExternalLink("shard.h5", "/a")
    (folder / "tables").mkdir()
    (folder / "tables" / "main.csv").write_text("a,b\n1,2\n")
    (folder / "tables" / "main.md").write_text("| a | b |\n")
    names = sorted(path.relative_to(tmp_path) for path in folder.iterdir())
    for name in names:
        links = name.name == "linked.h5"
        write_checksums(name, made_of={"a/shard.h5": file_digest(folder / "shard.h5")} if links else {})
    return names


def read(path):
    with job_checksums([str(path)], []):
        pass


DAMAGE = {
    "cut": lambda content: content[: len(content) // 2],
    "one bit": lambda content: content[:5] + bytes([content[5] ^ 8]) + content[6:],
    "longer": lambda content: content + b"\n",
    "empty": lambda content: b"",
    "gone": None,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_any_damage_to_any_kind_is_named_with_file_and_command(files, damage):
    for name in files:
        target = name / "main.csv" if name.is_dir() else name
        content = target.read_bytes()
        target.unlink()
        if change := DAMAGE[damage]:
            target.write_bytes(change(content))
        with refused(f"snakemake --cores all {name}", file=name, remedy=True):
            check(name)
        target.write_bytes(content)
        check(name, required=True)


def test_a_video_that_changed_after_it_was_probed_is_found_before_it_is_decoded(files, tmp_path):
    video = tmp_path / "a.mp4"
    video.write_bytes(bytes(1000) + b"more" * 5000)
    shard = tmp_path / "results" / "a" / "shard-00.videos.jsonl"
    write_jsonl(shard, [{"video": "a", "path": "a.mp4", "sha256": hashlib.sha256(video.read_bytes()).hexdigest()}])
    shard = shard.relative_to(tmp_path)
    write_checksums(shard)
    read(shard)
    content = bytearray(video.read_bytes())
    content[3000] ^= 1
    video.write_bytes(content)
    with refused("videos.jsonl", "a.mp4", remedy=True):
        read(shard)
    video.unlink()
    with refused("a.mp4", remedy=True):
        read(shard)


def test_without_checksums_a_file_below_results_is_refused_and_one_of_the_user_read(files, tmp_path):
    checksums_of(files[0]).unlink()
    with refused("checksums", file=files[0], remedy=True):
        read(files[0])
    (tmp_path / "mine.jsonl").write_text("{}\n")
    read("mine.jsonl")
    read(tmp_path / "mine.jsonl")


def test_nobody_is_told_to_remove_a_file_of_their_own(files):
    saved = Path("results", "a", "review", "review-a-001-Ann.jsonl")
    saved.parent.mkdir(parents=True)
    write_jsonl(saved, [{"decision": "accept"}])
    with refused("no checksums", "move it", remedy=True) as error:
        read(saved)
    assert "rm -r" not in str(error.value)


@pytest.mark.parametrize("content", ["", "{", "[]\n", "{}\n0\n", [1], {}, {"version": 4, "files": [2]}, Path, None])
def test_a_damaged_checksum_file_is_refused(files, content):
    own = checksums_of(files[0])
    if isinstance(content, list | dict):
        write_record(own, content)
    elif content is Path:
        own.unlink()
        os.mkfifo(own)
    else:
        own.write_text(own.read_text().replace('"rule": ""', '"rule": "r"') if content is None else content)
    with refused("checksum file is damaged", file=files[0], remedy=True):
        check(files[0])


def run(inputs, outputs, work, log):
    with job(SimpleNamespace(input=inputs, output=outputs, log=[str(log)], rule="r")):
        work()


def test_a_job_checks_its_inputs_before_it_works(files, tmp_path, capsys):
    files[0].write_bytes(b"other")
    with pytest.raises(SystemExit):
        run([str(files[0])], [], lambda: pytest.fail("it worked on damaged inputs"), tmp_path / "log")
    assert str(files[0]) in (tmp_path / "log").read_text() and "Traceback" not in (tmp_path / "log").read_text()


def test_a_job_has_one_checksum_file_written_last_and_only_on_success(files, tmp_path):
    names = [f"results/b/x/{name}" for name in ("metrics.json", "rows.jsonl", "rows.csv")]
    Path(names[0]).parent.mkdir(parents=True)

    def write():
        for name in names:
            Path(name).write_text("{}\n")

    def fails():
        raise InputError("no")

    run([str(path) for path in files], names, write, tmp_path / "log")
    assert [path.name for path in Path("results/b/x").glob(".*")] == [".metrics.json.checksums"]
    for name in names:
        check(name)
    Path(names[2]).write_text("[]\n")
    with refused("damaged", file=names[2], remedy=True):
        check(names[2])
    with pytest.raises(SystemExit):
        run([], names, fails, tmp_path / "log")
    assert not list(Path("results/b/x").glob(".*"))  # what a job begins again is not whole until it ends


def built(made, *of, params=()):
    with job_checksums(map(str, of), [str(made)], rule="job", params=params):
        Path(made).parent.mkdir(parents=True, exist_ok=True)
        Path(made).write_text("".join(Path(path).read_text() for path in of) or f"{made} {params}")


def ended(*paths):
    write_manifest("results/a", "", {f"a/{Path(path).name}": record_of(path)["sha256"] for path in paths}, ended=True)


def put_back(earlier, path, times):
    """A file of an earlier run with its checksums: cp -p, or cp."""
    for each in (path, checksums_of(path)):
        (shutil.copy2 if times else shutil.copy)(earlier / Path(each).relative_to("results"), each)


@pytest.mark.parametrize("times", [False, True])
@pytest.mark.parametrize("old", ["model", "metrics"])
def test_an_earlier_state_put_back_with_its_checksums_is_named_itself(tmp_path, monkeypatch, old, times):
    """A model is trained again with another rate; one of the earlier files is copied back, whatever its time."""
    monkeypatch.chdir(tmp_path)
    model, metrics, table = paths = [f"results/a/{name}" for name in ("model", "metrics", "table")]

    def train(rate):
        built(model, params=[rate])
        if rate:
            assert [(found.path.name, found.kind) for found in verify(Path("results/a"))[1]] == [("metrics", "damaged")]
        built(metrics, model)
        built(table, metrics)
        ended(*paths)
        assert verify(Path("results/a"))[1] == []

    train(0)
    earlier = tmp_path / "earlier"
    shutil.copytree("results", earlier)
    write_manifest("results/a", "", {"a/model": "", "a/metrics": "", "a/table": ""}, ended=False)
    train(1)
    path = f"results/a/{old}"
    put_back(earlier, path, times)
    assert [found.path.name for found in verify(Path("results"))[1]] == [old]
    Path(table).unlink()  # as Snakemake does before it runs a job again
    for use in (check, lambda path: built("results/a/other", path)):
        with refused("another state", file=path, remedy=True):
            use(path)
    write_manifest("results/a", "", {f"a/{old}": ""}, ended=False)
    built(path, *([model] if old == "metrics" else []), params=[1] if old == "model" else [])
    check(path)


def test_the_command_names_folder_and_configuration_and_removes_nothing(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Snakefile").touch()
    (tmp_path / "results" / "a").mkdir(parents=True)
    (tmp_path / "results" / "a" / "b c").touch()
    monkeypatch.setenv("VERIFIED_CONFIGFILES", "mine.yaml")
    paths = ["results/a/b c", "results/a/gone"]
    command = "snakemake --cores all 'results/a/b c' results/a/gone --force"
    assert rebuild_command(paths) == f"{command} --configfile mine.yaml"
    write_manifest("results/a", "", {}, ended=True)
    monkeypatch.delenv("VERIFIED_CONFIGFILES")
    assert rebuild_command(paths) == f"{command} --configfile mine.yaml"
    monkeypatch.chdir("results")
    program = f"--snakefile {PROJECT / 'Snakefile'}"
    assert rebuild_command(["a/b c"]) == (
        f"snakemake --cores all 'results/a/b c' --force --directory {tmp_path} {program} "
        f"--configfile {tmp_path / 'mine.yaml'}"
    )


def test_outputs_of_other_targets_stay_listed_until_the_configuration_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for settings, targets, listed in (("one", "ab", "ab"), ("one", "c", "cab"), ("two", "a", "a")):
        write_manifest("results/a", settings, {f"a/{target}": "0" for target in targets}, ended=True)
        assert list(manifest_of("results/a/x").outputs) == [f"a/{target}" for target in listed]


def test_checksums_that_appear_late_are_waited_for(files, monkeypatch):
    monkeypatch.setenv("VERIFIED_LATENCY_WAIT", "20")
    late = checksums_of(files[0]).rename("late")
    threading.Timer(0.4, late.rename, [checksums_of(files[0])]).start()
    read(files[0])


def test_checksums_copied_with_their_file_do_not_pass_for_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cog, fig = (tmp_path / "results" / "a" / kind / "metrics.json" for kind in ("cog", "fig"))
    for path in (cog, fig):
        write_json(path, {"trained_on": path.parent.name})
        write_checksums(path, rule="test_model", wildcards={"trained_on": path.parent.name})
    assert record_of(fig)["wildcards"] == {"trained_on": "fig"}
    shutil.copy(cog, fig)
    shutil.copy(checksums_of(cog), checksums_of(fig))
    for path in (fig, fig.relative_to(tmp_path)):
        with refused("a/cog/metrics.json", "test_model", file=path, remedy=True):
            check(path)
    shutil.copytree(tmp_path / "results", tmp_path / "other" / "results")
    check(tmp_path / "other" / "results" / "a" / "cog" / "metrics.json")  # a copy of the whole run is as good
    shutil.copytree(cog.parent, tmp_path / "elsewhere")
    check(tmp_path / "elsewhere" / "metrics.json")
    with job_checksums(["results/a/cog/metrics.json"], ["results/a/cog/rows.csv"]):
        Path("results/a/cog/rows.csv").write_text("a\n")
    for path in (Path("results/a/cog/rows.csv"), checksums_of("results/a/cog/rows.csv")):
        shutil.copy(path, path.name)
    check("rows.csv")
    monkeypatch.chdir("results/a/cog")
    check("rows.csv")
