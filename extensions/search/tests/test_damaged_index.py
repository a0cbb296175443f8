"""An index that is not as it was written is refused."""

import shutil
from pathlib import Path

import pytest
from refusals import refused, said
from small_index import random_videos, write_corpus

from verified.__main__ import main
from verified_search.ask import Index
from verified_search.update import update


@pytest.fixture
def index(tmp_path):
    files, settings = write_corpus(tmp_path, random_videos(5))
    update(tmp_path / "index", files, settings)
    return tmp_path / "index"


def every_7th_byte_changed(content: bytes) -> bytes:
    changed = bytearray(content)
    changed[::7] = bytes(byte ^ 1 for byte in changed[::7])
    return bytes(changed)


@pytest.mark.parametrize("damage", ["every 7th byte", "cut", "gone"])
def test_an_index_that_is_not_as_it_was_written_is_not_asked(index, capsys, damage):
    paths = (path for path in index.rglob("*") if path.is_file() and not path.name.startswith("."))
    names = sorted(path.relative_to(index).as_posix() for path in paths)
    assert len(names) == 8
    search = ["search", "a red thing", "--index", str(index)]
    for name in names:
        content = (index / name).read_bytes()
        damaged = {"every 7th byte": every_7th_byte_changed(content), "cut": content[:-1], "gone": None}[damage]
        if damaged == content or name.endswith("thumbnails.bin"):  # which the page alone reads
            continue
        (index / name).unlink()
        if damaged is not None:
            (index / name).write_bytes(damaged)
        assert main(search) == 2, name
        gone = name == "000001.json" and damaged is None
        said(capsys.readouterr().err, str(index) if gone else Path(name).name, remedy=True)
        (index / name).write_bytes(content)
    assert main(search) == 0


def test_an_index_without_its_checksums_is_refused_and_a_whole_copy_is_as_good(index, tmp_path):
    for name in ("copy", "bare"):
        shutil.copytree(index, tmp_path / name)
    assert len(Index(tmp_path / "copy").positions) == 5
    for checksum_file in (tmp_path / "bare").rglob(".*.checksums"):
        checksum_file.unlink()
    with refused("no index", remedy=True):
        Index(tmp_path / "bare")
