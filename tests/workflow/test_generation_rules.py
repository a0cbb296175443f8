"""Captions and perturbations under Snakemake: what a changed prompt touches, and one's own corpus with an endpoint."""

import os
from collections import Counter

import pytest
import yaml
from captioning import make_moments
from loopback import endpoint
from media import scenes, write_video
from refusals import names, said
from running import PROJECT, snakemake

from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified.lmm.ledger import Ledger

pytestmark = pytest.mark.slow

KEY = "sk-canary-4711"
SHARD = "shard-00"
TARGETS = [
    f"results/own/mine/{stage}/{SHARD}.jsonl" for stage in ("captions/statics", "captions/dynamics", "perturbations")
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A folder of videos, a moments file, a configuration, prompts of one's own, and a scripted endpoint."""
    folder = tmp_path_factory.mktemp("own")
    moments = make_moments(["a dog runs", "a cat sits", "a dog runs", "a cow eats"], seconds=2.0, videos=2)
    (folder / "videos").mkdir()
    for name in ("v0", "v1"):
        write_video(folder / "videos" / f"{name}.mp4", scenes([10, 12, 10], seed=ord(name[1])), 8)
    write_jsonl(folder / "moments.jsonl", moments)
    (folder / "prompts").mkdir()
    for file in (PROJECT / "config" / "prompts").glob("*.md"):
        (folder / "prompts" / file.name).write_bytes(file.read_bytes())
    with endpoint() as served:
        role = {"engine": "openai", "model": "loop-1", "base_url": served.url}
        config = {
            "name": "own",
            "shards": 1,
            "datasets": {
                "mine": {"title": "Mine", "source": {"kind": "folder", "videos": "videos", "moments": "moments.jsonl"}}
            },
            "generation": {"llm": role, "image_lmm": role, "video_lmm": role, "prompts": "prompts"},
        }
        (folder / "own.yaml").write_text(yaml.safe_dump(config))
        yield folder, served


def run(folder, *arguments, targets=TARGETS):
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    return snakemake(folder, "--cores", "2", *targets, *arguments, config=folder / "own.yaml", env=environment)


def recorded(folder):
    with Ledger(folder / "results" / "ledger.sqlite", read_only=True) as ledger:
        return Counter(row["task"] for row in ledger.rows())


def test_a_budget_stops_the_run_between_calls(corpus):
    folder, served = corpus
    done = run(folder, "--config", "generation={budget: {calls: 5}}", targets=TARGETS[:1])
    assert done.returncode != 0 and "Traceback" not in done.stdout
    said(done.stdout, "5 of 5 calls", "generation.budget.calls")
    assert sum(recorded(folder).values()) == len(served.bodies) == 5
    assert not (folder / TARGETS[0]).exists()


def test_own_videos_captioned_by_an_endpoint(corpus):
    """The run goes on where the budget stopped the one above."""
    folder, served = corpus
    before = len(served.bodies)
    done = run(folder)
    assert before < len(served.bodies)
    assert done.returncode == 0, done.stdout
    for target in TARGETS[:2]:
        rows = read_jsonl(folder / target)
        assert len(rows) == 4 and all(len(row["candidates"]) == 3 for row in rows)
        counts = read_json(folder / target.replace(".jsonl", ".counts.json"))
        assert counts["moments"] == 4 == counts["complete"] + counts["short"] + counts["without"]
    assert all(all(row["selected"].values()) for row in read_jsonl(folder / TARGETS[2]))
    assert sum(recorded(folder).values()) == len(served.bodies)
    # The key reached the endpoint, and stands in no output, log, ledger or record of Snakemake's.
    assert served.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in done.stdout
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert any("logs" in path.parts for path in written) and any(".snakemake" in path.parts for path in written)
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


def test_a_changed_prompt_repeats_the_calls_below_it_and_no_others(corpus):
    folder, served = corpus
    before, asked = recorded(folder), len(served.bodies)
    assert before, "the run of the test above is continued here"
    prompt = folder / "prompts" / "dynamics_candidates.md"
    prompt.write_text(prompt.read_text().replace("Invent nothing.", "Invent nothing at all."))
    plan = run(folder, "--dry-run")
    assert "caption_dynamics" in plan.stdout, plan.stdout
    assert "caption_statics" not in plan.stdout and "write_perturbations" not in plan.stdout, plan.stdout
    done = run(folder)
    assert done.returncode == 0, done.stdout
    new = recorded(folder) - before
    assert set(new) == {"dynamics_candidates"} and len(served.bodies) - asked == sum(new.values()) == 4
    assert "Nothing to be done" in run(folder).stdout


def test_outputs_made_again_ask_nothing(corpus):
    folder, served = corpus
    captions = TARGETS[:2]
    before = {target: (folder / target).read_bytes() for target in captions}
    asked = len(served.bodies)
    for target in captions:
        (folder / target).unlink()
    assert run(folder, targets=captions).returncode == 0
    assert {target: (folder / target).read_bytes() for target in captions} == before
    assert len(served.bodies) == asked


def test_a_bad_prompt_stops_before_any_call(corpus):
    folder, served = corpus
    prompt = folder / "prompts" / "questions.md"
    whole, asked = prompt.read_text(), len(served.bodies)
    prompt.write_text(whole.replace("{caption}", "{capton}"))
    done = run(folder, targets=TARGETS[1:2])
    prompt.write_text(whole)
    assert done.returncode != 0 and len(served.bodies) == asked
    assert names(done.stdout, "questions.md", "slot caption")
