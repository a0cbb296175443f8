"""Counts of all shards added up, and caught where they do not reconcile."""

import copy

import pytest
from captioning import make_moments, make_tar, settings
from stub_engine import StubEngine

from verified.captions.counts import add_up
from verified.captions.rows import shard_counts
from verified.captions.statics import caption_statics
from verified.keyframes.archive import KeyframeTar
from verified.lmm.request import Reply
from verified.lmm.session import Session
from verified.lmm.tasks.statics import TASKS
from verified.perturbations.write import TASK_OF_KIND, perturb
from verified.perturbations.write import shard_counts as perturbation_counts


def reply(request, text):
    return Reply("", "blocked", "content-filter") if request.slots["caption"] == "a cat sits" else Reply(text)


@pytest.fixture
def stages(tmp_path, monkeypatch):
    monkeypatch.setattr("verified.perturbations.write.add_similarities", _no_model)
    engine, stages = StubEngine(reply), {"statics": [], "perturbations": []}
    for captions in (["a dog runs", "a cat sits"], ["a dog runs"]):
        moments = make_moments(captions)
        tar = make_tar(tmp_path / "k.tar", moments)
        roles = {"llm": engine, "image_lmm": engine}
        tasks = (*TASKS, *TASK_OF_KIND.values())
        with KeyframeTar(tar) as keyframes, Session(settings(tmp_path), 7, tasks, roles) as session:
            stages["statics"].append(shard_counts(caption_statics(moments, keyframes, session), 3, _of(session, TASKS)))
            rows = perturb(moments, session, "no model")
            stages["perturbations"].append(perturbation_counts(rows, 3, _of(session, TASK_OF_KIND.values())))
    return stages


def _of(session, tasks):
    return {task.name: session.outcome_counts()[task.name] for task in tasks}


def _no_model(rows, encoder, threads):
    for row in rows:
        row["similarities"] = {kind: [0.5] * len(row[kind]) for kind in TASK_OF_KIND}


def test_counts_that_do_not_reconcile_are_an_error(stages):
    lost = copy.deepcopy(stages)
    lost["statics"][0]["complete"] = 0
    with pytest.raises(ValueError, match="do not sum to 3 moments"):
        add_up(lost)
    stages["statics"][0]["calls"]["keyframe_description"]["outcomes"]["ok"] = 0
    with pytest.raises(ValueError, match="do not sum to 6 calls"):
        add_up(stages)
