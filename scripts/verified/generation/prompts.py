"""Prompt files: a declared schema of slots, checked at the start, and a text filled in a single pass.

A file begins with a YAML header between two lines of ``---``, whose key ``slots`` names each slot and how its value is
written: ``quoted`` (as a JSON string, so that a caption full of quotes, braces or line breaks stays one delimited piece
of data), ``number`` or ``lines`` (text that a stage has laid out from quoted pieces). In the text ``{slot}`` is
replaced and ``{{``, ``}}`` stand for braces.
"""

import dataclasses
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

import yaml

from verified.common.errors import InputError
from verified.generation.further import FURTHER
from verified.generation.request import TASKS

PROJECT = Path(__file__).resolve().parents[3]
KINDS = ("quoted", "number", "lines")
PIECE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")


@dataclasses.dataclass(frozen=True)
class Prompt:
    """One prompt file: its task, the text and the kind of each slot."""

    task: str
    text: str
    kinds: dict[str, str]

    def fill(self, slots: dict[str, str]) -> str:
        """The text with all slots replaced; values are never looked into for further slots.

        Raises ValueError when `slots` are not exactly the declared ones.
        """
        if set(slots) != set(self.kinds):
            raise ValueError(f"{self.task} needs the slots {sorted(self.kinds)}, got {sorted(slots)}")

        def piece(match: re.Match) -> str:
            name = match.group(1)
            if name is None:
                return match.group(0)[0]
            return quoted(slots[name]) if self.kinds[name] == "quoted" else slots[name]

        return PIECE.sub(piece, self.text)


def quoted(text: str) -> str:
    """One line between double quotes, inner quotes and backslashes escaped, white space collapsed."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def prompt_file(folder: str | os.PathLike, task: str) -> str:
    """Path of the file of `task`; a folder that is not below the working directory is looked for in the project."""
    if not Path(folder).is_dir() and (PROJECT / folder).is_dir():
        folder = PROJECT / folder
    return str(Path(folder, f"{task}.md"))


def read_prompts(folder: str | os.PathLike, tasks: Iterable[str] = TASKS) -> dict[str, Prompt]:
    """Read and check the prompt files of `tasks`. Raises InputError for a missing file or a slot that does not fit."""
    return {task: read_prompt(prompt_file(folder, task), task) for task in tasks}


def read_prompt(path: str | os.PathLike, task: str) -> Prompt:
    """Read one prompt file and check its slots against those of the task."""
    path = Path(path)
    try:
        content = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"the prompt of task {task} is missing",
            file=path,
            remedy="a prompt folder holds one file per task; start from a copy of config/prompts",
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 ({error.reason} at byte {error.start})", file=path) from None
    header, text = _split(content, path)
    kinds = header.get("slots")
    if not isinstance(kinds, dict) or not all(kind in KINDS for kind in kinds.values()):
        raise InputError(f"the header needs `slots:` with one of {', '.join(KINDS)} for each slot", file=path)
    used = _used_slots(text, path)
    slots = set(TASKS[task] if task in TASKS else FURTHER[task].slots)
    _compare(slots, set(kinds), "the header", path)
    _compare(slots, used, "the text", path)
    return Prompt(task, text, {str(name): str(kind) for name, kind in kinds.items()})


def _split(content: str, path: Path) -> tuple[dict, str]:
    parts = re.split(r"(?m)^---[ \t]*\r?\n", content, maxsplit=2)
    if len(parts) != 3 or parts[0].strip():
        raise InputError("a prompt file begins with a YAML header between two lines of ---", file=path)
    try:
        header = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        raise InputError(f"the header is not YAML: {error}", file=path) from None
    if not isinstance(header, dict):
        raise InputError("the header is not a mapping of keys", file=path)
    if not parts[2].strip():
        raise InputError("the prompt has no text", file=path)
    return header, parts[2].strip()


def _used_slots(text: str, path: Path) -> set[str]:
    used = set()
    for match in PIECE.finditer(text):
        if match.group(0) in "{}":
            row = text.count("\n", 0, match.start()) + 1
            raise InputError(
                f"a single brace on line {row} of the text",
                file=path,
                remedy="write {slot} for a slot, {{ and }} for braces",
            )
        if match.group(1):
            used.add(match.group(1))
    return used


def _compare(needed: set[str], found: set[str], where: str, path: Path) -> None:
    if missing := sorted(needed - found):
        raise InputError(f"{where} lacks the slot {', '.join(missing)}", file=path)
    if unknown := sorted(found - needed):
        raise InputError(
            f"{where} holds the unknown slot {', '.join(unknown)}",
            file=path,
            remedy=f"the slots of this task are {', '.join(sorted(needed))}",
        )
