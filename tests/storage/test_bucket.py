"""Files in a bucket: what is copied, what belongs to it, and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
from refusals import refused
from running import PROJECT, snakemake

from verified.runtime.bucket import Bucket, _fetch_belongings
from verified.runtime.rebuilding import begun_of
from verified.runtime.seals import check, seal, seal_of


@pytest.fixture
def bucket(client, prefix, tmp_path, monkeypatch) -> Bucket:
    monkeypatch.chdir(tmp_path)
    return Bucket(client, prefix)


def put(bucket: Bucket, path: str, text: str = "", sealed: bool = True) -> Path:
    """A file that a job wrote, here and in the bucket, with its seal."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    if text:
        file.write_text(text)
    bucket.store(path)
    if sealed:
        seal(path)
        bucket.store(seal_of(path))
    return file


def test_files_come_back_as_they_were(bucket):
    put(bucket, "results/a/b.txt", "text")
    Path("results/a/b.txt").unlink()
    assert bucket.fetch("results/a/b.txt") and Path("results/a/b.txt").read_text() == "text"
    assert set(bucket.entries("results/a/")) == {"results/a/b.txt", "results/a/.b.txt.seal"}
    size, time = bucket.entries("results/a/b.txt")["results/a/b.txt"]
    assert size == 4 and Path("results/a/b.txt").stat().st_mtime == time
    bucket.remove("results/a/b.txt")
    assert not bucket.fetch("results/a/b.txt") and not bucket.entries("results/a/b.txt")


def test_a_process_that_has_left_the_working_directory_still_finds_its_files(bucket, tmp_path, monkeypatch):
    put(bucket, "results/a.txt", "text")
    monkeypatch.chdir(PROJECT / "tests")
    (tmp_path / "results" / "a.txt").write_text("new")
    bucket.store("results/a.txt")
    (tmp_path / "results" / "a.txt").unlink()
    assert bucket.fetch("results/a.txt") and (tmp_path / "results" / "a.txt").read_text() == "new"


def test_the_seal_of_an_earlier_state_does_not_stay(bucket):
    put(bucket, "results/a.txt", "text", sealed=False)
    seal("results/a.txt")
    _fetch_belongings(bucket, Path("results/a.txt"))
    assert not seal_of("results/a.txt").exists()


def test_what_a_file_links_to_and_lists_comes_with_it(bucket):
    """An HDF5 file of links is of no use without the shards, and a list of videos is read to decode them."""
    Path("results/n/features/video").mkdir(parents=True)
    with h5py.File("results/n/features/video/shard-00.h5", "w") as file:
        file["v"] = [1.0]
    with h5py.File("results/n/features/video.h5", "w") as file:
        file["v"] = h5py.ExternalLink("video/shard-00.h5", "v")
    row = {"video": "v", "path": "videos/v.mp4"}
    put(bucket, row["path"], "pictures", sealed=False)
    put(bucket, "results/n/corpus/shards/s.videos.jsonl", json.dumps({**row, "sha256": "x"}) + "\n")
    for path in ("results/n/features/video/shard-00.h5", "results/n/features/video.h5"):
        put(bucket, path)
    shard, video = Path("results/n/features/video/shard-00.h5"), Path(row["path"])
    for path in (shard, seal_of(shard), video):
        path.unlink()
    _fetch_belongings(bucket, Path("results/n/features/video.h5"))
    _fetch_belongings(bucket, Path("results/n/corpus/shards/s.videos.jsonl"))
    check("results/n/features/video.h5")
    assert shard.exists() and video.read_text() == "pictures"


def test_what_a_job_began_to_build_again_is_known_on_an_empty_disk(bucket):
    """Until it is there; a folder is there with its first file."""
    for path in ("results/n/a.txt", "results/n/tables/b.txt"):
        put(bucket, path, "text")
    seal("results/n/tables")
    bucket.store(begun_of("results/n/a.txt"), b"")
    bucket.store(begun_of("results/n/tables"), b"")
    assert bucket.begun_again("results/n") == []
    for path in ("results/n/a.txt", "results/n/tables/b.txt"):
        bucket.remove(path)
    bucket.remove("results/n/tables/.b.txt.seal")
    assert sorted(bucket.begun_again("results/n")) == ["results/n/a.txt", "results/n/tables"]


def test_a_bucket_that_is_not_there_is_named(client, prefix, tmp_path):
    with refused("no-such-bucket"):
        Bucket(client, prefix.replace("lab", "no-such-bucket")).check()


def on_bucket(folder: Path, prefix: str, environment: dict[str, str], *arguments: str, provider: str = "s3"):
    options = ("--default-storage-provider", provider, "--default-storage-prefix", prefix)
    return snakemake(folder, "--cores", "2", *options, *arguments, env=environment)


def test_a_folder_holds_the_results_of_one_run(prefix, environment, tmp_path):
    """Copies of another bucket, or a run without one, are neither used nor replaced."""
    (tmp_path / "results" / "nano").mkdir(parents=True)
    first = on_bucket(tmp_path, prefix, environment, "results/nano/corpus/videos")
    assert first.returncode and "the results in this folder are of a run without a bucket" in first.stdout
    (tmp_path / "results" / ".bucket").write_text("s3://elsewhere/run\n")
    second = snakemake(tmp_path, "--cores", "2", "results/nano/corpus/videos")
    assert second.returncode and "are copies of s3://elsewhere/run" in second.stdout


@pytest.mark.parametrize("where", ["s3", "kubernetes"])
def test_profiles_plan(profile, environment, tmp_path, where):
    options = ("--dry-run", "--profile", str(profile(where)), "results/tables")
    run = snakemake(tmp_path, *options, env=environment)
    assert run.returncode == 0, run.stdout[-4000:]
    assert "build_tables" in run.stdout and "(send to storage)" in run.stdout


SCRIPT = """
from verified.runtime.job import job
with job(snakemake):
    text = open(snakemake.input[0]).read()
    assert snakemake.rule != "{fails}", "as the test asks"
    open(snakemake.output[0], "w").write(text + snakemake.rule)
"""
SNAKEFILE = """
import sys
sys.path.insert(0, "{scripts}")
from verified.runtime.announcements import announce
from verified.runtime.bucket import keep_in_bucket
from verified.runtime.rebuilding import finish_begun

bucket = keep_in_bucket(workflow)
finish_begun(workflow, "results", bucket.begun_again)

rule last:
    input: "results/middle.txt"
    output: "results/last.txt"
    script: "run.py"

rule middle:
    input: "results/first.txt"
    output: "results/middle.txt"
    script: "run.py"

rule first:
    input: "source.txt"
    output: temp("results/first.txt")
    script: "run.py"

announce(workflow.rules, workflow.configfiles, sys.argv)
"""


def test_what_a_failed_job_left_undone_is_built_by_another_machine(prefix, environment, tmp_path):
    """The job fails on one disk; on an empty one the run does not take what is behind it for up to date."""

    def run(place: str, *arguments: str, fails: str = "") -> subprocess.CompletedProcess:
        folder = tmp_path / place
        folder.mkdir(exist_ok=True)
        (folder / "Snakefile").write_text(SNAKEFILE.format(scripts=PROJECT / "scripts"))
        (folder / "run.py").write_text(SCRIPT.replace("{fails}", fails))
        (folder / "source.txt").write_text("1 ")
        for name in ("run.py", "source.txt"):
            os.utime(folder / name, (1.7e9, 1.7e9))
        options = ("--default-storage-provider", "s3", "--default-storage-prefix", prefix, "results/last.txt")
        command = [sys.executable, "-m", "snakemake", "--cores", "1", *options, *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    assert run("one").returncode == 0
    assert (tmp_path / "one" / "results" / "last.txt").read_text() == "1 firstmiddlelast"
    failed = run("one", "--forcerun", "middle", fails="middle")
    assert failed.returncode and "as the test asks" in failed.stderr, failed.stderr[-3000:]
    done = run("two")
    assert done.returncode == 0 and "Nothing to be done" not in done.stderr, done.stderr[-3000:]
    assert "rule last" in done.stderr and "rule middle" in done.stderr
    assert "Nothing to be done" in run("three").stderr
