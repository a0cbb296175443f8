"""Published coarse annotations joined with a folder of videos under the names of the data set."""

import json
import os
from pathlib import Path

import media
import numpy as np
import pytest
import yaml
from published import publish
from refusals import refused
from running import PROJECT, snakemake
from whole_corpus import read_folder

from verified.annotations.selection import fig_row
from verified.annotations.splits import check_releases
from verified.benchmark.lists import Lists
from verified.benchmark.vcmr.data import read_moments
from verified.benchmark.vcmr.metrics import Truth, per_query
from verified.benchmark.vcmr.submission import read_truth
from verified.config import load
from verified.config.sources import PublishedSource
from verified.io.fig import write_fig
from verified.io.jsonl import read_json, read_jsonl, write_jsonl

DATA = PROJECT.parent / "shared" / "data"
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
    run = snakemake(folder, "--cores", "1", "results/sta/corpus/moments.jsonl", config=folder / "sta.yaml")
    assert run.returncode == 0, run.stdout[-4000:]
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


DIDEMO = [
    {
        "video": "1@N0_2_a.mov",
        "description": "a bug",
        "times": [[1, 1], [1, 1], [6, 6], [0, 1], [5, 5]],
        "annotation_id": 3,
        "num_segments": 7,
    }
]


def test_all_annotators_of_didemo_are_used_on_request(tmp_path):
    text = json.dumps(DIDEMO)
    listed = publish(tmp_path / "published", {("didemo", split, "didemo"): text for split in ("test",)})
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
    assert read_truth(tmp_path / "test.jsonl")[3].spans == [(5, 10), (5, 10), (0, 10), (25, 28)]
    truth = Truth(moments.desc_id, moments.video, moments.spans)
    for span, right in (((5, 10), True), ((0, 10), True), ((25, 28), False)):  # of four spans, two must agree
        lists = Lists.pad([np.array([[0, *span, 1.0]])])
        assert per_query("VCMR", truth, lists)["0.5/r1"].tolist() == [right]


@pytest.mark.skipif(not DATA.is_dir(), reason="the published annotation files are not beside the project")
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
        kind="published", collection=collection, videos="videos", splits=splits, released_dir=str(DATA)
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
