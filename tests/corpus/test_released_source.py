"""Releases: which splits are at hand, their rows, their moments."""

import hashlib
import json

import given
import pytest
from refusals import refused

from verified.config.sources import PublishedSource, ReleasedSource
from verified.errors import InputError
from verified.released.collections import DOWNLOADS, moments_of, read_release, resolve

HEADER = "collection,split,version,format,place,url,sha256,bytes,rows,licence,access"


def fig(first: int, count: int) -> bytes:
    rows = [given.fig(i, f"v{i}", fig_desc=f"A red ball moves past {i} boxes.") for i in range(first, first + count)]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def listed(tmp_path):
    """A list of two collections: `set-fig` (train by hand, val and test open) and `set-cog` (ActivityNet's form)."""
    lines = [HEADER, "set-fig,train,1,fig,set/train.jsonl,https://example.org/set,,,4,MIT,form"]
    for split, data in (("val", fig(10, 2)), ("test", fig(20, 3))):
        digest = hashlib.sha256(data).hexdigest()
        lines.append(
            f"set-fig,{split},1,fig,set/{split}.jsonl,https://example.org/{split},{digest},{len(data)},,MIT,open"
        )
    for split in ("train", "test"):
        lines.append(f"set-cog,{split},1,activitynet-captions,cog/{split}.json,https://example.org/{split},,,,MIT,open")
    path = tmp_path / "sources.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "released"
    (folder / "set").mkdir(parents=True)
    (folder / "set" / "val.jsonl").write_bytes(fig(10, 2))
    (folder / "set" / "test.jsonl").write_bytes(fig(20, 3))
    (folder / "cog").mkdir()
    for split in ("train", "test"):
        videos = {"v_a": {"duration": 9.0, "timestamps": [[0, 2], [1, 3]], "sentences": ["One.", "Two."]}}
        (folder / "cog" / f"{split}.json").write_text(json.dumps(videos))
    return folder


def release(collection: str, splits: tuple, folder=None) -> ReleasedSource:
    return ReleasedSource(
        kind="released", collection=collection, splits=splits, released_dir=None if folder is None else str(folder)
    )


def test_what_is_not_at_hand_is_left_out_with_the_way_to_get_it(listed, folder):
    resolved = resolve(release("set-fig", ("train", "val", "test"), folder), listed)
    assert resolved.splits == ["val", "test"] and resolved.kind == "fig"
    assert list(resolved.missing) == ["train"]
    assert "fetch it by hand from https://example.org/set and save it as set/train.jsonl" in resolved.missing["train"]


def test_splits_that_are_not_asked_for_are_missing_too(listed, folder):
    resolved = resolve(release("set-fig", ("test",), folder), listed)
    assert resolved.splits == ["test"] and set(resolved.missing) == {"train", "val"}


def test_without_a_folder_open_files_are_to_be_downloaded(listed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    resolved = resolve(release("set-fig", ("train", "test"), None), listed)
    assert resolved.splits == ["test"] and resolved.paths("test") == [DOWNLOADS / "set" / "test.jsonl"]


def test_nothing_at_hand_is_an_error_that_says_what_to_fetch(listed, tmp_path):
    with refused("'set-fig'", "set/train.jsonl", remedy=True):
        resolve(release("set-fig", ("train",), tmp_path / "empty"), listed)


def test_unknown_names_are_answered_with_the_nearest(listed, folder):
    with refused("'sett-fig'", "'set-fig'", remedy=True):
        resolve(release("sett-fig", ("test",)), listed)
    with refused("'tests'", remedy=True):
        resolve(release("set-fig", ("tests",), folder), listed)


def test_rows_come_as_released(listed, folder):
    rows = read_release(release("set-fig", ("val", "test"), folder), "test", listed)
    assert [row["desc_id"] for row in rows] == [20, 21, 22]


def test_a_wrong_byte_is_refused_before_it_is_read(listed, folder):
    data = bytearray(fig(20, 3))
    data[40] ^= 1
    (folder / "set" / "test.jsonl").write_bytes(data)
    with refused("set/test.jsonl", remedy=True):
        read_release(release("set-fig", ("val", "test"), folder), "test", listed)


def test_where_no_checksum_is_known_the_rows_are_counted(listed, folder):
    (folder / "set" / "train.jsonl").write_bytes(fig(0, 3))
    with refused("train.jsonl", "3 rows", "4", remedy=True):
        read_release(release("set-fig", ("train", "test"), folder), "train", listed)


def test_ids_count_on_over_the_splits_of_a_collection_without_ids(listed, folder):
    source = release("set-cog", ("train", "test"), folder)
    assert [row["desc_id"] for row in read_release(source, "train", listed)] == [0, 1]
    assert [row["desc_id"] for row in read_release(source, "test", listed)] == [2, 3]
    assert resolve(source, listed).kind == "cog"


def test_a_set_of_ones_own(listed, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "test.jsonl").write_bytes(fig(0, 2))
    source = release("mine", ("test",), tmp_path / "mine")
    assert len(read_release(source, "test", listed)) == 2
    with refused("'mine'", remedy=True):
        resolve(release("mine", ("val",), tmp_path / "mine"), listed)


def test_moments_are_clamped_or_excluded_and_reconcile():
    def row(number, start, end):
        return {"video": "v", "time": [start, end], "desc_id": number, "duration": 10.0, "cog_desc": "a ball moves"}

    rows = [row(1, 0, 5), row(2, 5, 12.5), row(3, 10.0, 12.0), row(4, 3, 3), row(5, 4, 2)]
    moments, exclusions, clamped = moments_of(rows, "test")
    assert [(moment["desc_id"], moment["end"]) for moment in moments] == [(1, 5), (2, 10.0)] and clamped == 1
    assert [(row["row"], row["desc_id"], row["reason"]) for row in exclusions] == [
        (3, 3, "starts-after-the-end"),
        (4, 4, "no-length"),
        (5, 5, "no-length"),
    ]
    assert set(moments[0]) == {"desc_id", "video", "start", "end", "duration", "split", "caption"}


def test_a_published_collection_of_ones_own_needs_its_splits(listed, folder):
    source = PublishedSource(kind="published", collection="mine", videos="videos", released_dir=str(folder))
    with pytest.raises(InputError) as raised:
        resolve(source, listed)
    assert "mine" in str(raised.value) and raised.value.file == listed and raised.value.remedy
