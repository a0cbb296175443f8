"""A disk that takes no more ends a command with an error; given again, the command does the same as ever."""

import errno
import shutil
from pathlib import Path

import pytest
from refusals import said
from small_index import random_videos, write_corpus

from verified.__main__ import main
from verified.search.ask import Index
from verified.search.update import update


@pytest.mark.parametrize("kind", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_an_error_and_the_repeated_command_goes_on(tmp_path, monkeypatch, capsys, kind):
    files, settings = write_corpus(tmp_path, random_videos(5))
    update(tmp_path / "index", files, settings)
    shutil.copytree(tmp_path / "index", tmp_path / "whole")
    remove = ["index", "--remove", "v0001", "v0002", "--index"]
    assert main([*remove, str(tmp_path / "whole")]) == 0
    opening, room = Path.open, 0

    def full(self, mode="r", *rest, **named):
        nonlocal room
        if "w" in mode and tmp_path in self.parents and self.name != ".lock":
            room -= 1
            if room < 0:
                raise OSError(kind, "No space left on device", str(self))
        return opening(self, mode, *rest, **named)

    capsys.readouterr()
    failed = 0
    for written in range(20):
        folder = tmp_path / f"index-{written}"
        shutil.copytree(tmp_path / "index", folder)
        room = written
        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", full)
            status = main([*remove, str(folder)])
        if status == 0:
            break
        failed += 1
        said(capsys.readouterr().err, "No space left", remedy=True)
        assert main([*remove, str(folder)]) == 0
        assert Index(folder).positions.keys() == Index(tmp_path / "whole").positions.keys()
        assert (folder / "index.json").read_bytes() == (tmp_path / "whole" / "index.json").read_bytes()
    assert failed >= 3


def test_a_name_longer_than_file_systems_take_is_an_error(capsys):
    assert main(["ledger", "stats", "--ledger", "ledger" * 60]) == 2
    said(capsys.readouterr().err, ("ledger" * 20)[:100], remedy=True)
