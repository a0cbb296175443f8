"""Full disks, read-only folders, other users' umasks, hostile archives: outputs are whole or absent, and say why."""

import io
import json
import os
import re
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from verified.io.files import atomic_path, write_text
from verified.io.hdf5 import write_features
from verified.io.jsonl import write_json, write_jsonl
from verified.keyframes.archive import KeyframeTar

PROJECT = Path(__file__).resolve().parents[2]
BIG = "x" * 4_000_000
# Runs a writer in a process whose files may not grow beyond 64 KiB, as on a disk that fills up half-way.
FULL = """
import resource, signal, sys
sys.path[:0] = ["scripts", "tests/faults"]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
from test_files_and_folders import WRITERS
try:
    WRITERS[sys.argv[1]](sys.argv[2])
except (OSError, RuntimeError) as error:  # HDF5 adds the latter when it cannot close a file
    print(error)
    sys.exit(7)
"""


def text(path):
    write_text(path, BIG)


def json_lines(path):
    write_jsonl(path, ({"text": BIG} for _ in range(3)))


def json_document(path):
    write_json(path, {"text": BIG})


def features(path):
    write_features(path, {"backbone": "none", "dim": 512}, [("v", np.ones((4000, 512), np.float32), {})])


WRITERS = {"text": text, "json-lines": json_lines, "json": json_document, "features": features}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_leaves_the_earlier_file(tmp_path, writer):
    path = tmp_path / "out.h5"
    path.write_text("earlier")
    run = subprocess.run(
        [sys.executable, "-c", FULL, writer, str(path)], cwd=PROJECT, stdout=subprocess.PIPE, text=True, timeout=120
    )
    assert run.returncode == 7, run.stdout
    assert path.read_text() == "earlier"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.h5"]


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_files_get_the_rights_that_the_umask_leaves(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_text(tmp_path / "a.txt", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o666 & ~mask


def test_an_error_while_writing_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


# Root may write anywhere, so it becomes nobody first; the modules are read before, while it may still read them.
READ_ONLY = """
import os, sys
sys.path.insert(0, "scripts")
from verified.io.files import write_text
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    write_text("a.txt", "text")
except PermissionError as error:
    sys.exit(f"refused: {error}")
"""


def test_a_read_only_folder_is_an_error_that_names_the_file(tmp_path):
    tmp_path.chmod(0o555)
    try:
        run = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(tmp_path)], cwd=PROJECT, stderr=subprocess.PIPE, text=True
        )
    finally:
        tmp_path.chmod(0o755)
    assert run.returncode == 1
    assert re.search(r"refused: .*a\.txt", run.stderr)
    assert list(tmp_path.iterdir()) == []


def member(name: str, content: bytes = b"owned", kind: bytes = tarfile.REGTYPE, link: str = "") -> tuple:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(content) if kind == tarfile.REGTYPE else 0
    return info, io.BytesIO(content)


@pytest.mark.parametrize("name", ["../../outside.jpg", "/tmp/outside.jpg", "1/../../outside.jpg"])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_an_archive_is_read_in_memory_and_never_unpacked(tmp_path, monkeypatch, name, kind):
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    keyframe = {"file": name, "time": 0.5, "segment": [0, 1]}
    index = json.dumps({"desc_id": 1, "video": "v", "keyframes": [keyframe], "threshold": 27.0, "cuts": []}).encode()
    with tarfile.open("s.tar", "w") as archive:
        for info, content in (member("index.jsonl", index), member(name, kind=kind, link="/etc/passwd")):
            archive.addfile(info, content)
    with KeyframeTar("s.tar") as archive:
        assert archive.keyframes(1) == [keyframe]
        assert archive.image(name) == (b"owned" if kind == tarfile.REGTYPE else b"")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["s.tar", "work"]


RISKY = {
    r"\.extractall\(|\.extract\(": "archives are read in memory",
    r"\bshell=True|os\.system\(|os\.popen\(": "no shell",
    r"\bimport pickle|\bpickle\.(?:load|dump)|allow_pickle=True|\bjoblib": "no pickle",
    r"weights_only=False": "tensors only",
    r"yaml\.(?:unsafe_)?load\(": "plain YAML only",
    r"(?<![\w.])(?:eval|exec)\(": "no code from text",
    r"verify=False|_create_unverified_context": "certificates are checked",
}


@pytest.mark.parametrize("pattern", RISKY, ids=RISKY.values())
def test_the_package_has_no_such_call(pattern):
    calls = [
        f"{path.relative_to(PROJECT)}: {line.strip()}"
        for path in sorted((PROJECT / "scripts").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(pattern, line)
    ]
    assert calls == []
