"""Own videos end to end, as docs/own-corpus.md tells it: clips and a CSV in, graded captions out.

One walk: videos in subfolders, neither a split `val` nor `test`, a budget that ends, the report, an edited prompt.
"""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet
import pytest
from loopback import endpoint
from PIL import Image
from refusals import said
from running import PROJECT, printed, snakemake

from verified.demo.source import render_demo
from verified.io.jsonl import read_json, read_jsonl
from verified.keyframes.archive import KeyframeTar
from verified.lmm.ledger import Ledger
from verified.tables.table import read_table_json

PAGE = (PROJECT / "docs" / "own-corpus.md").read_text(encoding="utf-8")
CONFIG = re.search(r"```yaml\n(name: kitchen\n.*?)```", PAGE, re.DOTALL)[1]
TARGET = re.search(r"^snakemake --cores all (results/\S+) --configfile kitchen\.yaml$", PAGE, re.MULTILINE)[1]
HEADER = re.search(r"```csv\n(.+)\n", PAGE)[1].split(",")
SMALL = """shards: 1
evaluator: {epochs: 1, batch: 4}
retrieval: {models: []}
"""  # longer training would prove nothing here
KEY = "sk-canary-0815"
FIG_KEYS = ["video", "time", "desc_id", "duration", "cog_desc", "fig_desc"]
FIG_KEYS += ["fig_desc_score", "fig_desc_type", "lineage"]
pytestmark = pytest.mark.slow
UNUSABLE = {
    "unknown-video": ["missing", "0", "2", "a dog runs", "train"],
    "starts-after-video": ["kitchen/bikes", "90", "95", "nothing is there any more", "train"],
    "empty-caption": ["kitchen/bikes", "1", "2", " ", "train"],
}


def put_clips(folder: Path) -> list[list[str]]:
    """Render videos into `folder`, one of them in a folder of its own; rows of their moments."""
    rendered = folder.parent / "rendered.jsonl"
    source = {"videos": 3, "seconds": 10, "fps": 8, "size": 112, "train_share": 0.5, "val_share": 0.3}
    render_demo(source, 5, folder, rendered, folder.parent / "truth.jsonl")
    (folder / "kitchen").mkdir()
    (folder / "demo-0001.mp4").rename(folder / "kitchen" / "bikes.mp4")
    rows = [[str(row[name]) for name in HEADER] for row in read_jsonl(rendered)]
    rows = [["kitchen/bikes.mp4" if row[0] == "demo-0001" else row[0], *row[1:]] for row in rows]
    return [[*row[:-1], "train"] for row in rows]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A folder with videos, moments.csv and the page's configuration for a scripted endpoint; usable moments."""
    folder = tmp_path_factory.mktemp("lab")
    rows = put_clips(folder / "videos")
    with (folder / "moments.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows, *UNUSABLE.values()])
    shutil.copytree(PROJECT / "config" / "prompts", folder / "prompts")
    with endpoint() as served:
        config = CONFIG.replace("http://127.0.0.1:8000/v1", served.url) + SMALL
        config = config.replace("generation:\n", "generation:\n  prompts: prompts\n")
        (folder / "kitchen.yaml").write_text(config, encoding="utf-8")
        yield folder, served, rows


def run(folder: Path, target: str = TARGET, *arguments: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"MY_KEY": KEY}
    return snakemake(folder, "--cores", "2", target, *arguments, config=folder / "kitchen.yaml", env=environment)


def recorded(folder: Path) -> Counter:
    with Ledger(folder / "results" / "ledger") as ledger:
        return Counter(row["task"] for row in ledger.rows())


def test_a_budget_stops_the_run_between_calls(corpus):
    folder, served, _ = corpus
    quote = [sys.executable, "-m", "verified", "quote", "--configfile", "kitchen.yaml", "--json"]
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "scripts")}
    quoted = json.loads(subprocess.check_output(quote, cwd=folder, env=environment))
    assert quoted["totals"]["calls"] > 0 and not served.bodies
    done = run(folder, TARGET, "--config", "generation={budget: {calls: 5}}")
    assert done.returncode != 0 and "Traceback" not in done.stdout
    said(done.stdout, "5 of 5 calls", "generation.budget.calls")
    assert sum(recorded(folder).values()) == len(served.bodies) == 5
    assert not list(folder.rglob("captions/*/shard-00.jsonl"))


def test_from_clips_to_fine_captions(corpus):
    folder, served, given = corpus
    done = run(folder)
    assert done.returncode == 0, done.stdout[-6000:]
    base = folder / "results" / "kitchen"

    moments = read_jsonl(base / "corpus" / "moments.jsonl")
    excluded = [row for row in read_jsonl(base / "corpus" / "exclusions.jsonl") if row["row"] is not None]
    assert [row["caption"] for row in moments] == [row[3] for row in given]
    assert "kitchen/bikes" in {row["video"] for row in moments}
    assert {row["split"] for row in moments} == {"train", "val"}, "a split to select on is held out by itself"
    assert [row["reason"] for row in excluded] == list(UNUSABLE)

    with KeyframeTar(base / "keyframes" / "shard-00.tar") as tar:
        for moment in moments:
            keyframes = tar.keyframes(moment["desc_id"])
            assert keyframes and all(moment["start"] <= k["time"] <= moment["end"] for k in keyframes)
            assert all(Image.open(io.BytesIO(tar.image(k["file"]))).size[0] >= 112 for k in keyframes)

    ids = [moment["desc_id"] for moment in moments]
    captions = {}
    for kind in ("statics", "dynamics"):
        rows = read_jsonl(base / "captions" / kind / "shard-00.jsonl")
        assert [row["desc_id"] for row in rows] == ids and all(len(row["candidates"]) == 3 for row in rows)
        captions |= {(row["desc_id"], kind): {c["caption"] for c in row["candidates"]} for row in rows}
    perturbed = read_jsonl(base / "perturbations" / "shard-00.jsonl")
    assert [row["desc_id"] for row in perturbed] == ids and all(all(row["selected"].values()) for row in perturbed)
    scores = read_jsonl(base / "evaluator" / "scores" / "shard-00.jsonl")
    assert len(scores) == 6 * len(ids) and len({row["score"] for row in scores}) > len(ids)

    counts = read_json(base / "annotations" / "counts.json")
    assert counts["moments"] == counts["annotated"] == len(ids) and counts["candidates"] == 6 * len(ids)
    with Ledger(folder / "results" / "ledger") as ledger:
        keys = {row["key"] for row in ledger.rows("ok")}
        assert len(served.bodies) == len(keys), "what the budget left open is asked, each call once"
    annotated = [
        row for split in ("train", "val", "test") for row in read_jsonl(base / f"annotations/fig/{split}.jsonl")
    ]
    assert sorted(row["desc_id"] for row in annotated) == ids
    best = {key: max(row["score"] for row in scores if row["desc_id"] == key) for key in ids}
    for row in annotated:
        assert list(row) == FIG_KEYS and row["lineage"] in keys
        assert row["fig_desc"] in captions[row["desc_id"], row["fig_desc_type"]]
        assert row["fig_desc_score"] == pytest.approx(best[row["desc_id"]], abs=1e-6)
    table = pyarrow.parquet.read_table(folder / TARGET)
    assert table.num_rows == len(scores) and set(table["lineage"].to_pylist()) <= keys


def test_the_report_leads_with_what_came_in_and_out(corpus):
    folder, served, given = corpus
    asked = len(served.bodies)
    command = [sys.executable, "-m", "verified", "report", "--configfile", "kitchen.yaml", "--cores", "2"]
    environment = os.environ | {"MY_KEY": KEY, "PYTHONPATH": str(PROJECT / "scripts")}
    said = printed(command, folder, env=environment)
    assert len(served.bodies) == asked > 0, said[-6000:]
    base = folder / "results" / "kitchen"

    came, took = read_table_json(base / "annotations" / "tables.json")
    assert ("moments annotated", len(given), "") in came.rows
    assert {row[2] for row in came.rows if row[0] == "rows left out"} == set(UNUSABLE)
    assert took.rows[-2][:3] == ("all", "", asked), "each call once"
    assert all(row[3] == 0 and row[5] > 0 for row in took.rows), "nothing failed for good, and tokens are counted"

    pages = {path.stem for path in (base / "tables").glob("*.html")}
    assert {"corpus-kitchen", "costs-kitchen", "main-1", "main-2", "supp-1", "evaluator", "outcomes"} <= pages
    assert not {"main-3", "main-4", "supp-6", "reproduction", "verdicts"} & pages, "tables without any value"
    front = (base / "report" / "summary.html").read_text(encoding="utf-8")
    assert "corpus-kitchen: What came in" in front and "main-4:" not in front
    assert "costs-kitchen" in (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert "(split val)" in (base / "figures" / "task.svg").read_text(encoding="utf-8"), "there is no split test"


def test_the_key_stands_nowhere(corpus):
    folder, served, *_ = corpus
    assert {headers["authorization"] for headers in served.headers} == {f"Bearer {KEY}"}
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert any(".snakemake" in path.parts for path in written) and any("logs" in path.parts for path in written)
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


def test_a_changed_prompt_repeats_the_calls_below_it_and_no_others(corpus):
    folder, served, _ = corpus
    before, asked = recorded(folder), len(served.bodies)
    assert before, "the run of the first test is continued here"
    prompt = folder / "prompts" / "dynamics_candidates.md"
    prompt.write_text(prompt.read_text().replace("Invent nothing.", "Invent nothing at all."))
    plan = run(folder, TARGET, "--dry-run").stdout
    assert "caption_dynamics" in plan and "caption_statics" not in plan and "write_perturbations" not in plan, plan
    target = "results/kitchen/captions/dynamics/shard-00.jsonl"
    done = run(folder, target)
    assert done.returncode == 0, done.stdout
    new = recorded(folder) - before
    assert set(new) == {"dynamics_candidates"} and len(served.bodies) - asked == sum(new.values())
    made = (folder / target).read_bytes()
    (folder / target).unlink()
    assert run(folder, target).returncode == 0 and (folder / target).read_bytes() == made
    assert len(served.bodies) - asked == sum(new.values()), "an output made again asks nothing"
