"""Table 1 without movies: a published data set by its rule."""

import json

import pytest
import yaml
from given import fig
from running import PROJECT, ended_well

from verified.io.jsonl import read_json

PUBLISHED = PROJECT.parent / "shared" / "data"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PUBLISHED.is_dir(), reason="published annotations are not at ../shared/data"),
]


def _own(folder):
    folder.mkdir()
    rows = [fig(1, duration=20, cog_desc="a dog sleeps"), fig(2, "v", 5, 20, duration=20, cog_desc="it wakes up")]
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {"kind": "released", "collection": "mine", "splits": ["test"], "released_dir": str(folder)}


def test_the_published_row_of_charades_sta_is_rebuilt(tmp_path):
    values = {
        "name": "grounds",
        "datasets": {"mine": {"title": "Mine", "source": _own(tmp_path / "own")}},
        "retrieval": {"models": []},
        "longform": {"published": ["charades-sta"], "published_dir": str(PUBLISHED)},
    }
    config = tmp_path / "grounds.yaml"
    config.write_text(yaml.safe_dump(values))
    stage = "results/grounds/longform"
    targets = [f"{stage}/tables.json", f"{stage}/figures/moments.svg", f"{stage}/figures/sentences.svg"]
    targets.append(f"{stage}/figures/datasets.svg")
    ended_well(tmp_path, "--cores", "2", *targets, config=config)
    tables = {table["key"]: table for table in read_json(tmp_path / stage / "tables.json")["tables"]}
    assert set(tables) == {"mad-1", "mad-1-verdicts"}
    rows = [row[:5] for row in tables["mad-1-verdicts"]["rows"]]
    differing = {row[1]: row[2:4] for row in rows if row[4] != "reproduced"}
    assert len(rows) == 10 and differing == {"Hours": ["57.1", "56.7"], "Min / video": ["0.50", "0.51"]}
