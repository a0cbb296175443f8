"""The eight tasks of the paper, by stage and together."""

import hashlib
import os
from pathlib import Path

from verified.lmm.prompts import prompt_file
from verified.lmm.tasks import Task, dynamics, perturbations, statics

TASKS_OF_STAGE: dict[str, tuple[Task, ...]] = {
    "statics": statics.TASKS,
    "dynamics": dynamics.TASKS,
    "perturbations": perturbations.TASKS,
}
PAPER = (*statics.TASKS, *dynamics.TASKS, *perturbations.TASKS)
"""In the order of supplement listings 2 to 9."""


def prompt_set(folder: str | os.PathLike) -> dict[str, str]:
    """Name (the folder, as the configuration writes it) and digest of the prompt files of the paper's eight tasks.

    The digest is the SHA-256 of the tasks' names and the files' bytes, its first 16 hex digits. A missing file counts
    as empty: the stage that needs it reports it.
    """
    digest = hashlib.sha256()
    for task in PAPER:
        path = Path(prompt_file(folder, task.name))
        digest.update(task.name.encode() + b"\0" + (path.read_bytes() if path.is_file() else b"") + b"\0")
    return {"name": str(folder), "sha256": digest.hexdigest()[:16]}
