"""Releases and published annotations: their files, the check of bytes, forms, splits, rows, moments and videos."""

import hashlib
import json
import os
from http.server import BaseHTTPRequestHandler
from pathlib import Path, PurePosixPath

import given
import media
import numpy as np
import pytest
import yaml
from loopback import served_by
from published import publish
from refusals import refused, said
from running import PROJECT, ended_well
from whole_corpus import read_folder

from verified.__main__ import main
from verified.annotations.lint import lint
from verified.annotations.selection import fig_row
from verified.annotations.splits import check_releases
from verified.benchmark.lists import Lists
from verified.benchmark.vcmr.data import read_moments
from verified.benchmark.vcmr.metrics import Truth, per_query
from verified.benchmark.vcmr.submission import read_truth
from verified.config import load
from verified.config.annotations import Lint
from verified.config.sources import PublishedSource, ReleasedSource
from verified.errors import InputError
from verified.io.fig import write_fig
from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified.released.collections import moments_of, read_release, resolve
from verified.released.files import SourceFile, download, read_sources
from verified.released.formats import read_split

HEADER = "collection,split,version,format,place,url,sha256,bytes,rows,licence,access"


def fig(first: int, count: int) -> bytes:
    rows = [given.fig(i, f"v{i}", fig_desc=f"A red ball moves past {i} boxes.") for i in range(first, first + count)]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


COG = json.dumps({"v_a": {"duration": 9.0, "timestamps": [[0, 2], [1, 3]], "sentences": ["One.", "Two."]}})


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """A list of two collections: `set-fig` (train by hand, val and test open) and `set-cog` (ActivityNet's form)."""
    lines = [HEADER, "set-fig,train,1,fig,set/train.jsonl,https://example.org/set,,,4,MIT,form"]
    for split, data in (("val", fig(10, 2)), ("test", fig(20, 3))):
        digest, place = hashlib.sha256(data).hexdigest(), f"set/{split}.jsonl,https://example.org/{split}"
        lines.append(f"set-fig,{split},1,fig,{place},{digest},{len(data)},,MIT,open")
    for split in ("train", "val", "test"):
        form = f"activitynet-captions,cog/{split}.json,https://example.org/{split}"
        lines.append(f"set-cog,{split},1,{form},,{len(COG)},,MIT,open")
    path = tmp_path / "sources.csv"
    path.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr("verified.released.collections.SOURCES", path)


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
    resolved = resolve(release("set-fig", ("train", "val", "test"), folder))
    assert resolved.splits == ["val", "test"] and resolved.kind == "fig"
    assert list(resolved.missing) == ["train"]
    assert "fetch it by hand from https://example.org/set and save it as set/train.jsonl" in resolved.missing["train"]
    (folder / "set" / "test.jsonl").unlink()
    assert resolve(release("set-fig", ("test", "val"), folder)).splits == ["val"], "none is downloaded"


def test_a_wrong_byte_is_refused_before_it_is_read(listed, folder):
    data = bytearray(fig(20, 3))
    data[40] ^= 1
    (folder / "set" / "test.jsonl").write_bytes(data)
    with refused("set/test.jsonl", remedy=True):
        read_release(release("set-fig", ("val", "test"), folder), "test")


def test_other_bytes_or_rows_are_refused_where_no_checksum_was_published(listed, folder):
    (folder / "cog" / "test.json").write_text(f"{COG} ")
    for collection, split, found in (("set-fig", "train", 3), ("set-fig", "train", 5), ("set-cog", "test", 0)):
        (folder / "set" / "train.jsonl").write_bytes(fig(0, found))
        with refused(f"{found} rows" if found else f"{len(COG) + 1} bytes", remedy=True):
            read_release(release(collection, (split,), folder), split)


def test_ids_count_on_over_the_splits_of_a_collection_without_ids(listed, folder):
    source = release("set-cog", ("train", "val", "test"), folder)
    for first, split in ((0, "train"), (2, "val"), (4, "test")):
        assert [row["desc_id"] for row in read_release(source, split)] == [first, first + 1]
    assert resolve(source).kind == "cog"


BALL = "a ball##s moves"
OWN = {
    "txt": f"v 3.5 1.25##{BALL}\n",
    "json": {"v": {"duration": 10.0, "timestamps": [[3.5, 1.25]], "sentences": [f" {BALL} "]}},
    "tvr": {"vid_name": "v", "ts": [1.25, 3.5], "desc_id": 6, "duration": 10.0, "desc": BALL, "type": "vt"},
    "qvhighlights": {"vid": "v", "relevant_windows": [[1.25, 3.5], [7, 8]], "qid": 6, "duration": 10.0, "query": BALL},
    "cog": {"video": "v", "time": [1.25, 3.5], "desc_id": 6, "duration": 10.0, "cog_desc": BALL},
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
    (tmp_path / "sources.csv").write_text(f"{HEADER}\nset,test,1,fig,../../etc/passwd,https://e.org,,,,MIT,open\n")
    with refused(file="sources.csv", row=2):
        read_sources(tmp_path / "sources.csv")


DATA = bytes(range(256)) * 400


@pytest.fixture
def fetch(tmp_path):
    """A function that downloads DATA from a server with one behaviour per request (ok, cut, wrong or a status); it
    returns the ranges that were asked for."""

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

        digest = hashlib.sha256(DATA).hexdigest()
        with served_by(Handler) as url:
            source = SourceFile("set", "test", "1", "fig", "set/test.jsonl", url, digest, len(DATA), 1, "MIT", "open")
            download(source, tmp_path / "set" / "test.jsonl", pause=0.01)
        return ranges

    return run


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


def document(tmp_path, name: str, value: object) -> dict:
    (tmp_path / "file.json").write_text(json.dumps(value))
    return {name: tmp_path / "file.json"}


def didemo(**changes) -> dict:
    row = {"video": "12@N0_34_ab.c.mov", "description": "a bug", "annotation_id": 3, "num_segments": 6}
    row["times"] = [[4, 4], [0, 0], [0, 1], [0, 1], [4, 4]]
    return {key: value for key, value in {**row, **changes}.items() if value is not None}


def test_didemo_takes_the_most_frequent_interval_and_the_first_on_ties(tmp_path):
    rows = read_split(document(tmp_path, "didemo", [didemo(), didemo(annotation_id=4, times=[[1, 1], [0, 2], [0, 2]])]))
    wanted = {"video": "12@N0_34_ab.c", "time": [20, 25], "desc_id": 3, "duration": 30.0, "cog_desc": "a bug"}
    assert rows[0] == wanted | {"annotator_times": [[20, 25], [0, 5], [0, 10], [0, 10], [20, 25]]}
    assert rows[1]["time"] == [0, 15]


AT_HAND = PROJECT.parent / "shared" / "data"
at_hand = pytest.mark.skipif(not AT_HAND.is_dir(), reason="the published annotation files are not beside the project")
STA = {
    "train": "AAAAA 0.5 1.5##a person sits.\nAAAAA 1.8 0.2##a person opens a book.\nBBBBB 0.0 1.0##a person eats.\n",
    "test": "CCCCC 0.0 1.0##a person laughs.\nCCCCC 7.0 8.0##a person leaves.\nDDDDD 0.0 1.0##a person smiles.\n"
    "EEEEE 9.0 9.5##a person is gone.\n",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The corpus of annotations in the form of Charades-STA; of their videos, which lie in subfolders, one is missing,
    one there twice, one of no moment."""
    folder = tmp_path_factory.mktemp("charades")
    lengths = "id,length\n" + "".join(f"{video * 5},2.0\n" for video in "ABCDE")
    publish(
        folder / "published",
        {
            ("charades-sta", split, form): text
            for split, moments in STA.items()
            for form, text in (("charades-sta", moments), ("charades-csv", lengths))
        },
    )
    video = media.write_video(folder / "one.mp4", media.counted(16), fps=8)
    for name in ("AAAAA.mp4", "v1/train/CCCCC.mkv", "v1/EEEEE.mp4", "DDDDD.mp4", "again/DDDDD.mp4", "FFFFF.mp4"):
        (folder / "videos" / name).parent.mkdir(parents=True, exist_ok=True)
        os.link(video, folder / "videos" / name)
    source = {"kind": "published", "collection": "charades-sta", "videos": "videos", "sources": "published/sources.csv"}
    spans = {"selection_split": "test"}
    values = {"name": "sta", "shards": 2, "datasets": {"sta": {"title": "STA", "source": source, "spans": spans}}}
    (folder / "sta.yaml").write_text(yaml.safe_dump(values))
    ended_well(folder, "--cores", "1", "results/sta/corpus/moments.jsonl", config=folder / "sta.yaml")
    return folder / "results" / "sta" / "corpus"


def test_videos_are_found_by_their_published_names(built):
    moments = read_jsonl(built / "moments.jsonl")
    assert [(row["video"], row["start"], row["end"], row["split"]) for row in moments] == [
        ("AAAAA", 0.5, 1.5, "train"),
        ("AAAAA", 0.2, 1.8, "train"),
        ("CCCCC", 0.0, 1.0, "test"),
    ]
    assert {row["video"]: Path(row["path"]).name for row in read_jsonl(built / "videos.jsonl")} == {
        "AAAAA": "AAAAA.mp4",
        "CCCCC": "CCCCC.mkv",
    }


def test_missing_videos_have_a_reason_and_are_counted_by_split(built):
    reasons = {(row["video"], row["reason"]) for row in read_jsonl(built / "exclusions.jsonl") if row["row"]}
    late = {(video, "starts-after-video") for video in ("CCCCC", "EEEEE")}
    assert reasons == {("BBBBB", "unknown-video"), ("DDDDD", "ambiguous-video"), *late}
    assert read_json(built / "counts.json")["published"] == {
        "train": {"videos": 2, "videos_at_hand": 1, "moments": 3, "moments_at_hand": 2},
        "test": {"videos": 3, "videos_at_hand": 1, "moments": 4, "moments_at_hand": 1},
    }


def test_all_annotators_of_didemo_are_used_on_request(tmp_path):
    row = didemo(video="1@N0_2_a.mov", times=[[1, 1], [1, 1], [6, 6], [0, 1], [5, 5]], num_segments=7)
    listed = publish(tmp_path / "published", {("didemo", "test", "didemo"): json.dumps([row])})
    for annotators in ("most-frequent", "all"):
        source = PublishedSource(
            kind="published", collection="didemo", videos="videos", sources=str(listed), annotators=annotators
        )
        assert write_jsonl(tmp_path / f"{annotators}.jsonl", source.rows()) == 1
    (tmp_path / "videos").mkdir()
    media.write_video(tmp_path / "videos" / "1@N0_2_a.mp4", media.counted(28 * 2), fps=2)
    one = read_folder(tmp_path / "videos", tmp_path / "most-frequent.jsonl", "test", published=True).moments[0]
    assert (one["start"], one["end"]) == (5, 10) and "annotator_times" not in one
    every = read_folder(tmp_path / "videos", tmp_path / "all.jsonl", "test", published=True).moments[0]
    assert every == {**one, "annotator_times": [[5, 10], [5, 10], [0, 10], [25, 28.0]]}

    candidate = {"caption": "a green bug", "score": 1.0, "type": "statics", "lineage": "x"}
    write_fig(tmp_path / "test.jsonl", [fig_row(every, candidate)])
    moments = read_moments(tmp_path / "test.jsonl", "fig")
    assert moments.spans.shape == (1, 4, 2)
    assert read_truth(tmp_path / "test.jsonl")[3].spans == ((5, 10), (5, 10), (0, 10), (25, 28))
    truth = Truth(moments.desc_id, moments.video, moments.spans)
    for span, right in (((5, 10), True), ((0, 10), True), ((25, 28), False)):  # of four spans, two must agree
        lists = Lists.pad([np.array([[0, *span, 1.0]])])
        assert per_query("VCMR", truth, lists)["0.5/r1"].tolist() == [right]


@at_hand
@pytest.mark.parametrize(
    ("collection", "splits", "moments", "videos"),
    [
        ("charades-sta", None, 16128, 6672),
        ("didemo", ("val", "test"), 8201, 2069),
        ("activitynet-captions", ("val_1", "val_2"), 34536, 4917),
    ],
)
def test_the_published_files_are_read_whole(tmp_path, collection, splits, moments, videos):
    source = PublishedSource(
        kind="published", collection=collection, videos="videos", splits=splits, released_dir=str(AT_HAND)
    )
    assert write_jsonl(tmp_path / "m.jsonl", source.rows()) == moments
    rows = read_jsonl(tmp_path / "m.jsonl")
    assert len({row["desc_id"] for row in rows}) == moments and len({row["video"] for row in rows}) == videos


def test_a_split_that_is_not_at_hand_stops_before_any_job(tmp_path):
    source = {"kind": "published", "collection": "didemo", "videos": "videos", "released_dir": str(tmp_path)}
    (tmp_path / "didemo-cog").mkdir()
    (tmp_path / "didemo-cog" / "val_data.json").write_text("[]")
    settings = load({"name": "d", "datasets": {"d": {"title": "D", "source": source}}})
    with refused("datasets.d.source", "'train'", "didemo", "train_data.json"):
        check_releases(settings)


def rows_of(collection: str, *splits: str) -> dict[str, list[dict]]:
    source = ReleasedSource(kind="released", collection=collection, splits=splits, released_dir=str(AT_HAND))
    return {split: read_release(source, split) for split in splits}


@at_hand
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "charades-fig/charades_fig_train",
            {
                "span_past_end": 1770,
                "start_past_end": 1,
                "double_spaces": 1,
                "duplicate_caption": 147,
                "low_score": 2520,
            },
        ),
        (
            "didemo-fig/didemo_fig_val",
            {"span_past_end": 184, "outer_blanks": 20, "double_spaces": 5, "duplicate_caption": 2, "low_score": 904},
        ),
    ],
)
def test_the_lint_counts_the_known_anomalies(name, expected):
    findings = lint(AT_HAND / f"{name}.jsonl", Lint())["findings"]
    talk = ("wrapper_quotes", "url", "personal_data", "not_of_moment", "speaks_of")
    assert {check: found["count"] for check, found in findings.items() if not check.startswith(talk)} == expected


@at_hand
@pytest.mark.slow
def test_didemo_intervals_agree_in_every_row_and_thirteen_moments_are_missing():
    coarse, fine = rows_of("didemo", "val", "test"), rows_of("didemo-fig", "val", "test")
    missing = {}
    for split in ("val", "test"):
        originals = {row["desc_id"]: row for row in coarse[split]}
        for row in fine[split]:
            original = originals.pop(row["desc_id"])
            assert all(original[key] == row[key] for key in ("video", "time", "cog_desc")), row["desc_id"]
        missing[split] = len(originals)
    assert missing == {"val": 5, "test": 8}
