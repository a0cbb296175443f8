"""The list of stages: every prompt is asked by one of them, so that quotes count it and checks read it."""

from running import PROJECT

from verified.config import load
from verified.lmm.tasks.paper import PAPER
from verified.planning.stages import roles_in_use, stages

PROMPTS = PROJECT / "config" / "prompts"
FOLDER = {"kind": "folder", "videos": "videos", "moments": "moments.csv"}


def settings_of(**source):
    return load({"datasets": {"own": {"title": "Own", "source": source}}})


def asked(settings) -> set[str]:
    return {task.name for stage in stages() for task in stage.tasks(settings)}


def test_every_prompt_is_asked_by_a_stage():
    prompts = {file.relative_to(PROMPTS).with_suffix("").as_posix() for file in PROMPTS.rglob("*.md")}
    proposing = settings_of(kind="folder", videos="videos")
    assert prompts - asked(proposing) == set()
    assert {task.name for task in PAPER} <= asked(settings_of(**FOLDER))
    assert set(roles_in_use(proposing)) == {"llm", "image_lmm", "video_lmm"}
