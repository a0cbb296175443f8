"""Umasks, errors while writing, paths that are no ordinary files, hostile archives."""

import io
import json
import os
import stat
import tarfile
from pathlib import Path

import pytest
from refusals import said

from verified.__main__ import main
from verified.io.files import atomic_path, write_text
from verified.keyframes.archive import KeyframeTar


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


@pytest.mark.parametrize("path", ["n" * 300 + ".yaml", "/proc/self/mem", "pipe", "/dev/zero", ".", "large.yaml"])
def test_a_path_that_is_no_ordinary_file_ends_in_a_sentence(tmp_path, monkeypatch, capsys, path):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("large.yaml").write_text("name: " + "a" * 60_000_000 + "\n")
    reading = [["lint"]] if path == "pipe" else []
    for words in (["check", "--offline", "--configfile"], ["verify", "--configfile"], ["import", "xml"], *reading):
        assert main([*words, path]) == 2
        said(capsys.readouterr().err)


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
