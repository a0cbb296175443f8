"""Releases: the list of published files with the check of their bytes, splits that are available, rows and moments."""

import contextlib
import hashlib
import json
from http.server import BaseHTTPRequestHandler
from pathlib import PurePosixPath

import given
import pytest
from loopback import served_by
from refusals import refused, said

from verified.__main__ import main
from verified.config.sources import ReleasedSource
from verified.errors import InputError
from verified.released.collections import moments_of, read_release, resolve
from verified.released.files import SourceFile, download, read_sources

HEADER = "collection,split,version,format,place,url,sha256,bytes,rows,licence,access"


def fig(first: int, count: int) -> bytes:
    rows = [given.fig(i, f"v{i}", fig_desc=f"A red ball moves past {i} boxes.") for i in range(first, first + count)]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


COG = json.dumps({"v_a": {"duration": 9.0, "timestamps": [[0, 2], [1, 3]], "sentences": ["One.", "Two."]}})


@pytest.fixture
def listed(tmp_path):
    """A list of two collections: `set-fig` (train by hand, val and test open) and `set-cog` (ActivityNet's form)."""
    lines = [HEADER, "set-fig,train,1,fig,set/train.jsonl,https://example.org/set,,,4,MIT,form"]
    for split, data in (("val", fig(10, 2)), ("test", fig(20, 3))):
        digest = hashlib.sha256(data).hexdigest()
        lines.append(
            f"set-fig,{split},1,fig,set/{split}.jsonl,https://example.org/{split},{digest},{len(data)},,MIT,open"
        )
    for split in ("train", "val", "test"):
        form = f"activitynet-captions,cog/{split}.json,https://example.org/{split}"
        lines.append(f"set-cog,{split},1,{form},,{len(COG)},,MIT,open")
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
    for split in ("train", "val", "test"):
        (folder / "cog" / f"{split}.json").write_text(COG)
    return folder


def release(collection: str, splits: tuple, folder=None) -> ReleasedSource:
    return ReleasedSource(
        kind="released", collection=collection, splits=splits, released_dir=None if folder is None else str(folder)
    )


def test_missing_splits_are_omitted_with_the_way_to_get_them(listed, folder):
    resolved = resolve(release("set-fig", ("train", "val", "test"), folder), listed)
    assert resolved.splits == ["val", "test"] and resolved.kind == "fig"
    assert list(resolved.missing) == ["train"]
    assert "fetch it by hand from https://example.org/set and save it as set/train.jsonl" in resolved.missing["train"]
    (folder / "set" / "test.jsonl").unlink()
    assert resolve(release("set-fig", ("test", "val"), folder), listed).splits == ["val"], "none is downloaded"


def test_a_wrong_byte_is_refused_before_it_is_read(listed, folder):
    data = bytearray(fig(20, 3))
    data[40] ^= 1
    (folder / "set" / "test.jsonl").write_bytes(data)
    with refused("set/test.jsonl", remedy=True):
        read_release(release("set-fig", ("val", "test"), folder), "test", listed)


def test_other_bytes_or_rows_are_refused_where_no_checksum_was_published(listed, folder):
    (folder / "cog" / "test.json").write_text(f"{COG} ")
    for collection, split, found in (("set-fig", "train", 3), ("set-fig", "train", 5), ("set-cog", "test", 0)):
        (folder / "set" / "train.jsonl").write_bytes(fig(0, found))
        with refused(f"{found} rows" if found else f"{len(COG) + 1} bytes", remedy=True):
            read_release(release(collection, (split,), folder), split, listed)


def test_ids_count_on_over_the_splits_of_a_collection_without_ids(listed, folder):
    source = release("set-cog", ("train", "val", "test"), folder)
    for first, split in ((0, "train"), (2, "val"), (4, "test")):
        assert [row["desc_id"] for row in read_release(source, split, listed)] == [first, first + 1]
    assert resolve(source, listed).kind == "cog"


OWN = {
    "txt": "v 3.5 1.25##a ball moves\n",
    "json": {"v": {"duration": 10.0, "timestamps": [[1.25, 3.5]], "sentences": ["a ball moves"]}},
    "tvr": {"vid_name": "v", "ts": [1.25, 3.5], "desc_id": 6, "duration": 10.0, "desc": "a ball moves", "type": "vt"},
    "qvhighlights": {
        "vid": "v",
        "relevant_windows": [[1.25, 3.5], [7, 8]],
        "qid": 6,
        "duration": 10.0,
        "query": "a ball moves",
    },
    "cog": {"video": "v", "time": [1.25, 3.5], "desc_id": 6, "duration": 10.0, "cog_desc": "a ball moves"},
}


@pytest.mark.parametrize("form", OWN)
def test_a_users_annotations_are_read_in_the_form_of_their_benchmark(form, tmp_path):
    text = OWN[form] if form == "txt" else json.dumps(OWN[form]) + "\n"
    (tmp_path / f"dev.{form if form in ('txt', 'json') else 'jsonl'}").write_text(text)
    source = release("mine", ("dev",), tmp_path)
    if form == "txt":
        with refused("dev.csv is not there"):
            resolve(source)
        (tmp_path / "dev.csv").write_text("id,length\nv,10.0\n")
    assert resolve(source).kind == "cog"
    (row,) = read_release(source, "dev")
    wanted = OWN["cog"] | {"desc_id": 0 if form in ("txt", "json") else 6}
    assert row == wanted | ({"windows": [[1.25, 3.5], [7, 8]]} if form == "qvhighlights" else {})
    (tmp_path / "fine.jsonl").write_bytes(fig(0, 1))
    assert resolve(release("mine", ("dev", "fine"), tmp_path)).kind == "cog", "not all of it is fine"


def test_a_row_without_a_span_is_refused_by_its_number(tmp_path):
    rows = [OWN["qvhighlights"], OWN["qvhighlights"] | {"qid": 7, "relevant_windows": []}]
    (tmp_path / "dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with refused("'relevant_windows' holds no [start, end]", file="dev.jsonl", row=2):
        read_release(release("mine", ("dev",), tmp_path), "dev")


def test_moments_are_clamped_or_excluded_and_reconcile():
    def row(number, start, end):
        return {"video": "v", "time": [start, end], "desc_id": number, "duration": 10.0, "cog_desc": "a ball moves"}

    rows = [row(1, 0, 5), row(2, 5, 12.5), row(3, 10.0, 12.0), row(4, 3, 3), row(5, 4, 2), row(6, 0, 10.0)]
    moments, exclusions, clamped = moments_of(rows, "test")
    assert [(moment["desc_id"], moment["end"]) for moment in moments] == [(1, 5), (2, 10.0), (6, 10.0)] and clamped == 1
    assert [(row["row"], row["desc_id"], row["reason"]) for row in exclusions] == [
        (3, 3, "starts-after-the-end"),
        (4, 4, "no-length"),
        (5, 5, "no-length"),
    ]
    assert set(moments[0]) == {"desc_id", "video", "start", "end", "duration", "split", "caption"}


def test_every_open_file_has_all_that_is_needed_to_trust_it():
    files = read_sources()
    assert len({file.place for file in files}) == len(files)
    for file in files:
        path = PurePosixPath(file.place)
        assert not path.is_absolute() and ".." not in path.parts and file.licence
        if file.access == "open":
            assert len(file.sha256) == 64 and file.bytes > 0 and (file.rows or not file.split)
            assert file.url.startswith("https://raw.githubusercontent.com/")


def test_a_list_that_leaves_the_folder_is_refused(tmp_path):
    header = "collection,split,version,format,place,url,sha256,bytes,rows,licence,access"
    (tmp_path / "sources.csv").write_text(f"{header}\nset,test,1,fig,../../etc/passwd,https://e.org,,,,MIT,open\n")
    with refused(file="sources.csv", row=2):
        read_sources(tmp_path / "sources.csv")


DATA = bytes(range(256)) * 400


@pytest.fixture
def fetch(tmp_path):
    """A function that downloads DATA from a server with one behaviour per request (ok, cut, wrong or a status); it
    returns the ranges that were asked for."""
    with contextlib.ExitStack() as stack:

        def run(*plan: str) -> list[str | None]:
            waiting, ranges = list(plan), []

            class Handler(BaseHTTPRequestHandler):
                def do_GET(self):
                    kind, wanted = waiting.pop(0), self.headers.get("Range")
                    ranges.append(wanted)
                    if kind.isdigit():
                        return self.send_error(int(kind))
                    start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
                    data = (DATA if kind != "wrong" else DATA[:-1] + b"!")[start:]
                    self.send_response(206 if start else 200)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data[: len(data) // 2] if kind == "cut" else data)

                def log_message(self, *_):
                    pass

            url, digest = stack.enter_context(served_by(Handler)), hashlib.sha256(DATA).hexdigest()
            source = SourceFile("set", "test", "1", "fig", "set/test.jsonl", url, digest, len(DATA), 1, "MIT", "open")
            download(source, tmp_path / "set" / "test.jsonl", pause=0.01)
            return ranges

        yield run


def test_a_cut_connection_is_resumed_where_it_stopped(fetch, tmp_path):
    assert fetch("cut", "503", "ok") == [None, f"bytes={len(DATA) // 2}-", f"bytes={len(DATA) // 2}-"]
    assert (tmp_path / "set" / "test.jsonl").read_bytes() == DATA


def test_a_wrong_byte_leaves_nothing_behind(fetch, tmp_path):
    with refused("set/test.jsonl", remedy=True):
        fetch("wrong")
    assert list((tmp_path / "set").iterdir()) == []


def test_fetch_downloads_the_published_annotations_of_a_configuration(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    asked = []

    def write(file, path):
        asked.append(file.place)
        raise InputError("the server is away", file=path)

    monkeypatch.setattr("verified.released.files.download", write)
    command = ["fetch", "--annotations", "--configfile", "config/didemo.yaml"]
    assert main([*command, "--dry-run"]) == 0 and not asked
    listed = {line.split("/")[-1]: line for line in capsys.readouterr().out.splitlines()}
    assert "1.11 MB" in listed["val_data.json"]
    assert "0.00" not in listed["train_data.json  (fetch it by hand)"], "nobody knows its size"
    assert main(command) == 2
    assert {"didemo-cog/val_data.json", "activitynet-captions/train.json"} <= {*asked}
    assert "didemo-cog/train_data.json" not in asked, "no address gives it"
    said(capsys.readouterr().err, "by hand", "resources/released/didemo-cog/train_data.json")
