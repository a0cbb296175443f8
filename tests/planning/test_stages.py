"""The list of stages: every prompt is asked by one of them, so that quotes count it and checks read it."""

import subprocess
import sys

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


def test_commands_and_plans_import_no_library_that_takes_a_second():
    program = """
import sys
from verified.__main__ import parser
from verified.planning import check
parser(), check.stages()
print(*sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert not {"pandas", "scipy.signal", "scipy.stats", "torch", "transformers"} & set(run.stdout.split())


def test_every_prompt_is_asked_by_a_stage():
    prompts = {file.relative_to(PROMPTS).with_suffix("").as_posix() for file in PROMPTS.rglob("*.md")}
    proposing = settings_of(kind="folder", videos="videos")
    assert prompts - asked(proposing) == set()
    assert {task.name for task in PAPER} <= asked(settings_of(**FOLDER))
    assert set(roles_in_use(proposing)) == {"llm", "image_lmm", "video_lmm"}
