"""Cassettes written by hand: YAML files with answers that a person gave in place of a model.

The file maps each coarse caption to its answers, by the name of the task (docs/real-clips.md shows one). Moments with
equal captions get equal answers. Its only model is `hand-written`, whose revision is a digest of the file: after an
edit everything is asked anew, which costs nothing.
"""

import os
from pathlib import Path
from typing import Any

from verified.errors import InputError
from verified.io.files import file_digest
from verified.io.yaml_file import read_yaml

MODEL = "hand-written"
SUFFIX = ".yaml"
REMEDY = "docs/real-clips.md shows such a file"

Answers = dict[str, dict[str, Any]]
"""By coarse caption and task: a list of texts, or a mapping of texts and such lists."""


def is_hand_written(path: str | os.PathLike[str]) -> bool:
    """Whether a cassette is one of these, by its name."""
    return Path(path).suffix == SUFFIX


def revision_of(path: str | os.PathLike[str]) -> str:
    """What pins the answers of a file. Raises InputError where it cannot be read."""
    try:
        return file_digest(path)[:16]
    except OSError as error:
        raise InputError(f"the cassette cannot be read: {error}", file=path) from None


def read_answers(path: str | os.PathLike[str]) -> Answers:
    """The answers of a file. Raises InputError where it cannot be read, or an answer is of another form."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the cassette cannot be read: {error}", file=path) from None
    answers = read_yaml(text, path)
    for caption, tasks in answers.items():
        if not isinstance(tasks, dict):
            raise InputError(f"{caption!r} has no answers by task", file=path, remedy=REMEDY)
        for task, written in tasks.items():
            if fault := _fault(written):
                raise InputError(f"{task} of {caption!r}: {fault}", file=path, remedy=REMEDY)
    return answers


def _fault(written: Any) -> str:
    """What is wrong with an answer; empty where nothing is."""
    if not isinstance(written, dict | list) or not written:
        return "neither a list of texts nor a mapping"
    values = list(written.values()) if isinstance(written, dict) else [written]
    texts = [text for value in values for text in (value if isinstance(value, list) else [value])]
    unfit = [text for text in texts if not isinstance(text, str) or not text.strip()]
    return f"{unfit[0]!r} is no text (put it in quotes)" if unfit else ""
