"""A finished run, damaged: found and healed with equal bytes, or refused by name. Never other tables without a word."""

import json
import random
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from running import NANO, digests, snakemake

from verified.__main__ import main
from verified.errors import InputError
from verified.runtime.checksums import TIMESTAMP, checksum_files, record_of, records_in
from verified.runtime.verify import check, verify

pytestmark = pytest.mark.slow

CASES = 200


@pytest.fixture
def run(nano, tmp_path, monkeypatch):
    """A copy of the finished run; the working directory is in it."""
    folder = tmp_path / "run"
    shutil.copytree(nano, folder, copy_function=shutil.copy2, symlinks=True)
    monkeypatch.chdir(folder)
    return folder


def recorded_files() -> dict[str, list[Path]]:
    """Built files by the kind that their endings tell; files of a built folder count as its."""
    kinds: dict[str, list[Path]] = {}
    for path in sorted(path for file in checksum_files(Path("results")) for path in records_in(file)):
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.is_file() and file.name != TIMESTAMP)
            kinds.setdefault("folder", []).extend(sorted(inside))
        elif path.exists():
            kinds.setdefault("".join(path.suffixes), []).append(path)
    return kinds


def damage(path: Path, draw: random.Random) -> bytes:
    """Damage a file, and its checksums at times; returns the bytes that were there."""
    content = path.read_bytes()
    at = draw.randrange(len(content)) if content else 0
    kind = draw.choice(["flip", "cut", "empty", "longer", "remove", "row", "zeros", "swap"])
    if kind == "remove":
        path.unlink()
    elif kind == "flip" and content:
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :])
    elif kind == "row" and content.count(b"\n") > 1:
        rows = content.splitlines(keepends=True)
        del rows[draw.randrange(len(rows))]
        path.write_bytes(b"".join(rows))
    elif kind == "zeros" and any(content[at : at + 16]):
        path.write_bytes(content[:at] + bytes(len(content[at : at + 16])) + content[at + 16 :])
    elif kind == "swap" and len(content) > 1 and content[at:] + content[:at] != content:
        path.write_bytes(content[at:] + content[:at])
    elif kind == "empty" and content:
        path.write_bytes(b"")
    elif kind == "cut" and content:
        path.write_bytes(content[:at])
    else:
        path.write_bytes(content + b" ")
    return content


def test_any_damage_to_any_file_is_found_and_refused(run):
    draw, kinds = random.Random(2204), recorded_files()
    assert {".jsonl", ".json", ".tar", ".h5", ".safetensors", ".npz", ".json.gz", ".parquet", "folder"} <= set(kinds)
    names = sorted(kinds)
    for case in range(CASES):
        path = draw.choice(kinds[names[case % len(names)]])
        owner = next(parent for parent in (path, *path.parents) if record_of(parent))
        content = damage(path, draw)
        if case % 20 == 0:
            _, findings = verify(Path("results"))
            assert [finding.path for finding in findings] == [owner], (path, findings)
        with pytest.raises(InputError) as refusal:
            check(owner)
        assert f"{owner}: " in str(refusal.value) and "snakemake --cores all" in str(refusal.value)
        path.write_bytes(content)
    assert verify(Path("results"))[1] == []


def test_a_job_refuses_a_damaged_input_and_makes_nothing_of_it(run, tmp_path, monkeypatch):
    """Through Snakemake, for jobs drawn from those that read outputs of others, each in a run without other damage."""
    draw = random.Random(58)
    records = [json.loads(file.read_text().splitlines()[0]) for file in sorted(checksum_files(Path("results")))]
    for number, record in enumerate(draw.sample([record for record in records if record["made_of"]], 4)):
        folder = tmp_path / str(number)
        shutil.copytree(run, folder, copy_function=shutil.copy2, symlinks=True)
        monkeypatch.chdir(folder)
        read, target = Path("results", draw.choice(sorted(record["made_of"]))), Path("results", min(record["files"]))
        path = min(read.glob("*.mp4")) if read.is_dir() else read
        content = damage(path, draw)
        if not path.exists():  # a file that is gone is made again
            path.write_bytes(content[:-1])
        made = target.stat().st_mtime_ns
        refused = snakemake(folder, "--cores", "2", "--force", str(target))
        errors = "\n".join(line for line in refused.stdout.splitlines() if " error: " in line)
        assert refused.returncode and str(read) in errors, refused.stdout[-3000:]
        assert not target.exists() or target.stat().st_mtime_ns == made  # a job before it read the damaged file too


def test_what_is_healed_comes_back_with_equal_bytes_and_nothing_else_is_built(run, capsys):
    before, draw = digests(run), random.Random(7)
    home = Path("results/nano")
    for path in (
        home / "tables" / "all.csv",
        home / "annotations" / "candidates.parquet",
        home / "keyframes" / "shard-00.tar",
    ):
        damage(path, draw)
    assert main(["verify", "--heal"]) == 1
    commands = [line for line in capsys.readouterr().out.splitlines() if " snakemake --cores all" in line]
    wanted = {
        "keyframes/shard-00.tar": "extract_keyframes",
        "annotations/candidates.parquet": "export_annotations",
        "tables": "build_tables",
    }
    assert len(commands) == 3
    for command, (target, rule) in zip(commands, wanted.items()):  # in the order of the chain
        words = shlex.split(command)
        assert f"results/nano/{target}" in words and str(NANO) in words
        healed = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
        assert healed.returncode == 0, healed.stderr[-4000:]
        assert set(re.findall(r"^(?:local)?rule (\w+):", healed.stdout + healed.stderr, re.MULTILINE)) == {rule}
    assert digests(run) == before
    assert "Nothing to be done" in snakemake(run, "--dry-run", "results/tables").stdout


CHECKPOINT = "results/nano/retrieval/xml/cog/seed-2018/checkpoint.safetensors"


def test_an_earlier_training_put_back_with_its_checksums_is_trained_again(run, nano, tmp_path, capsys):
    """New times, all in its folder: Snakemake itself would build on it."""
    seed = Path(CHECKPOINT).parent
    shutil.copytree(seed, tmp_path / "earlier")
    (tmp_path / "edited.yaml").write_text(NANO.read_text().replace("epochs: 5", "epochs: 5\n      learning_rate: 0.01"))
    config = {"config": tmp_path / "edited.yaml"}
    assert snakemake(run, "--cores", "2", "results/tables", **config).returncode == 0
    tables = digests(run)
    shutil.rmtree(seed)
    shutil.copytree(tmp_path / "earlier", seed, copy_function=shutil.copyfile)
    capsys.readouterr()
    assert main(["verify"]) == 1
    said = capsys.readouterr().out
    assert f"damaged  {CHECKPOINT}" in said and "nano/tables" not in said
    assert main(["evaluate", "results/nano/annotations/fig/test.jsonl", f"{seed}/fig/submission.json.gz"]) == 2
    assert str(tmp_path / "edited.yaml") in capsys.readouterr().err
    again = snakemake(run, "--cores", "2", "results/tables", **config)
    assert again.returncode == 0 and f"{CHECKPOINT} is made again" in again.stdout, again.stdout[-4000:]
    assert digests(run) == tables and main(["verify"]) == 0
    shutil.rmtree(run / "results")
    shutil.copytree(nano / "results", run / "results", copy_function=shutil.copyfile, symlinks=True)
    assert main(["verify"]) == 0  # a complete older run, with its manifest
    assert snakemake(run, "--cores", "2", "results/tables", **config).returncode == 0
    assert digests(run) == tables and main(["verify"]) == 0
