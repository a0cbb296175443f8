"""Candidates as parquet, counts, and the dataset card."""

import pyarrow.parquet
from candidate_rows import moment_row, score_row

from verified.annotations.export import origins, write_candidates
from verified.annotations.selection import candidates_by_moment

MOMENTS = [moment_row(i, split=split) for i, split in enumerate(["train", "train", "test", "other"])]
SCORES = [score_row(i, kind, k, float(k)) for i in (0, 2) for kind in ("statics", "dynamics") for k in range(3)]
SAID = {"chosen_by": "confidence", "warning": "Not to be trusted."}
FACTS = {"model": "writer@abc", "image_model": "looker", "video_model": "watcher"}
FACTS |= {"prompts": "mine", "prompts_sha256": "0f"}
STATICS = [
    {
        "desc_id": i,
        "reason": None,
        "keyframes": [
            {"time": 0.5, "foreground": "a ball", "description": "a ball"},
            {"time": 1.5, "foreground": "", "description": ""},
        ],
    }
    for i in (0, 2)
]
DYNAMICS = [{"desc_id": i, "reason": "short", "frames": 20, "thinned": True} for i in (0, 2)]
ORIGIN = origins(STATICS, DYNAMICS, FACTS)


def test_the_table_holds_every_candidate_with_its_lineage(tmp_path):
    path = tmp_path / "candidates.parquet"
    write_candidates(path, MOMENTS, candidates_by_moment(MOMENTS, SCORES), ORIGIN, SAID)
    read = pyarrow.parquet.read_table(path)
    assert read.schema.metadata[b"verified.chosen_by"] == b"confidence"
    assert read.schema.metadata[b"verified.warning"] == b"Not to be trusted."
    table = read.to_pylist()
    assert all(row["choice"] == row["score"] for row in table)
    assert len(table) == len(SCORES)
    assert {row["lineage"] for row in table} == {"abc"}
    assert [(row["type"], row["candidate"]) for row in table if row["highest"]] == [("statics", 2)] * 2
    assert [(row["type"], row["candidate"]) for row in table if row["lowest"]] == [("dynamics", 0)] * 2
    assert all(row["model"] == "writer@abc" and row["prompts_sha256"] == "0f" for row in table)
    seen = {
        row["type"]: [row[name] for name in ("seen_by", "frames", "frame_times", "thinned", "outcome")] for row in table
    }
    assert seen["statics"] == ["looker", 1, [0.5], False, "ok"]
    assert seen["dynamics"] == ["watcher", 20, None, True, "short"]
