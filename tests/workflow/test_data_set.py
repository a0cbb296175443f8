"""docs/data-set.md from top to bottom: from a bare folder of MP4s to a reviewed, exported data set."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest
import yaml
from loopback import endpoint
from running import PROJECT, command

from verified.demo.source import render_demo
from verified.io.jsonl import read_json, read_jsonl, write_jsonl

PAGE = (PROJECT / "docs" / "data-set.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line, comments=True)
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
    if not language
]
REVIEW = yaml.safe_load(re.search(r"```yaml\n(annotations: \{review:.*?)```", PAGE, re.DOTALL)[1])


def run(folder: Path, words: list[str]) -> None:
    """One command of the page, word for word but for the number of cores."""
    if words[0] == "snakemake":
        words = command(folder, "--cores", "2", *words[3:-2], config=folder / words[-1])
    elif words[0] == "verified":
        words = [sys.executable, "-m", *words, "--cores", "2"]
    environment = os.environ | {"MY_KEY": "x", "PYTHONPATH": str(PROJECT / "scripts")}
    done = subprocess.run(
        words, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-6000:]}"


def decisions(folder: Path) -> list[dict]:
    """What Ann decides on the first review page: the first is right, the second edited, the third rejected."""
    page = (folder / "results/kitchen/review/pages/page-001.html").read_text(encoding="utf-8")
    shown = json.loads(re.search(r'id="review">(.*?)</script>', page, re.DOTALL)[1])
    rows = []
    for item, more in zip(
        shown["items"],
        (
            {"decision": "accept"},
            {"decision": "edit", "text": "a thing turns round"},
            {"decision": "reject", "reason": "wrong object"},
        ),
    ):
        judged = item["candidates"][item["chosen"]]
        rows.append(
            {
                "dataset": shown["dataset"],
                **{key: item[key] for key in ("desc_id", "video", "start", "end")},
                **{key: judged[key] for key in ("type", "candidate", "caption")},
                "reviewer": "Ann",
                "when": "2026-01-01T00:00:00Z",
                **more,
            }
        )
    return rows


@pytest.mark.night
@pytest.mark.timeout(1500)
def test_the_page_leads_from_a_bare_folder_to_a_reviewed_and_exported_data_set(tmp_path):
    source = {"videos": 4, "seconds": 6, "fps": 8, "size": 112, "train_share": 0.5, "val_share": 0.25}
    render_demo(source, 5, tmp_path / "videos", tmp_path / "rendered.jsonl", tmp_path / "truth.jsonl")
    with endpoint() as served:
        role = {"engine": "openai", "model": "loop", "base_url": served.url, "api_key_variable": "MY_KEY"}
        values = {
            "name": "kitchen",
            "shards": 1,
            "datasets": {
                "kitchen": {
                    "title": "Kitchen-FIG",
                    "source": {"kind": "folder", "videos": "videos"},
                    "proposals": {"train_share": 0.5, "val_share": 0.25},
                }
            },
            "generation": {"llm": role, "image_lmm": role, "video_lmm": role},
            "evaluator": {"pretrain_clips": 64, "epochs": 1, "batch": 4},
        }
        configuration = tmp_path / "kitchen.yaml"
        configuration.write_text(yaml.safe_dump(values))
        done, given = [], None
        for words in COMMANDS:
            if words[0] == "cp":
                shutil.copy(tmp_path / words[1], tmp_path / words[2])
                values["datasets"]["kitchen"]["source"]["moments"] = words[2]
            elif "export" in words and given is None:
                given = decisions(tmp_path)
                write_jsonl(tmp_path / REVIEW["annotations"]["review"][0], given)
                (tmp_path / REVIEW["annotations"]["review"][1]).write_text("")  # Bob has not begun
                values |= REVIEW
            configuration.write_text(yaml.safe_dump(values))
            if words[0] != "cp":
                run(tmp_path, words)
            done.append(words[0])
    assert done == ["snakemake", "cp", "verified", "verified"]

    base = tmp_path / "results" / "kitchen"
    with (tmp_path / "moments.csv").open(encoding="utf-8", newline="") as file:
        proposed = list(csv.DictReader(file))
    assert len(proposed) >= 4 and all(row["caption"].startswith("A thing moves") for row in proposed)
    accepted, edited, rejected = (row["desc_id"] for row in given)
    rows = {row["desc_id"]: row for path in (base / "annotations/fig").glob("*.jsonl") for row in read_jsonl(path)}
    assert rejected not in rows and len(rows) == len(proposed) - 1
    assert rows[accepted]["review"] == {"decision": "accept", "reviewers": ["Ann"], "when": "2026-01-01T00:00:00Z"}
    assert rows[edited]["fig_desc"] == "a thing turns round" and rows[edited]["review"]["decision"] == "edit"
    selections = [read_json(path) for path in (base / "annotations/selection").glob("*.json")]
    assert {key: why for selection in selections for key, why in selection["left_out"].items()} == {
        str(rejected): "rejected"
    }
    assert sum(selection["counts"].get("edited", 0) for selection in selections) == 1
    manifest = read_json(base / "export" / "hugging-face" / "manifest.json")
    assert sum(split["captions"] for split in manifest["splits"].values()) == len(rows)
    rows = pyarrow.parquet.read_table(
        base / "export/hugging-face/data" / f"{_split_of(base, edited)}.parquet"
    ).to_pylist()
    (row,) = [row for row in rows if row["desc_id"] == edited]
    assert (row["decision"], row["reviewers"], row["fig_desc"]) == ("edit", "reviewer 1", "a thing turns round")


def _split_of(base: Path, desc_id: int) -> str:
    return next(row["split"] for row in read_jsonl(base / "corpus/moments.jsonl") if row["desc_id"] == desc_id)
