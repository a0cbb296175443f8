"""Prompt files: a declared schema of slots, checked at the start, and a text filled in a single pass.

A file begins with a YAML header between two lines of ``---``, whose key ``slots`` names each slot and how its value is
written: ``quoted`` (as a JSON string, so that a caption full of quotes, braces or line breaks stays one delimited piece
of data), ``number`` or ``lines`` (text that a stage has laid out from quoted pieces). In the text ``{slot}`` is
replaced; ``{{`` and ``}}`` are literal braces.

Instructions on the form of the answer are given twice, between lines that consist of ``[printed]``, ``[structured]``
and ``[end]``: once for the printed formats and once, without any format, for answers that are constrained to JSON. A
file without such lines serves the printed formats only.
"""

import dataclasses
import os
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from json.encoder import encode_basestring  # json.dumps(text, ensure_ascii=False) without making an encoder
from pathlib import Path

from verified.errors import InputError
from verified.io.jsonl import is_object
from verified.io.yaml_file import read_yaml
from verified.lmm.tasks import Task
from verified.runtime.project import EXTENSIONS, WORKFLOW, check_installed, locate

KINDS = ("quoted", "number", "lines")
MARK = re.compile(r"(?m)^[^\S\n]*\[(printed|structured|end)\][^\S\n]*(?:\n|\Z)")
PIECE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")


@dataclasses.dataclass(frozen=True)
class Prompt:
    """One prompt file: its task, the text in both variants and the kind of each slot."""

    task: str
    text: str
    kinds: dict[str, str]
    structured: str | None = None

    def fill(self, slots: dict[str, str], structured: bool = False, ending: str = "") -> str:
        """The text with all slots replaced, and `ending`; slots inside values are not replaced.

        Raises ValueError when `slots` are not exactly the declared ones, or the file has no structured variant.
        """
        text = self.structured if structured else self.text
        if text is None:
            raise ValueError(f"the prompt of {self.task} has no structured variant")
        if slots.keys() != self.kinds.keys():
            raise ValueError(f"{self.task} needs the slots {sorted(self.kinds)}, got {sorted(slots)}")
        values = {name: quote(slots[name]) if kind == "quoted" else slots[name] for name, kind in self.kinds.items()}
        return _template(text, ending) % values


@cache
def _template(text: str, ending: str) -> str:
    """A prompt's text and ending for Python's `%`, which takes half the time of `str.format`."""
    slots = PIECE.sub(lambda piece: f"%({piece[1]})s" if piece[1] else piece[0][0], text.replace("%", "%%"))
    return slots + ending.replace("%", "%%")


@lru_cache(maxsize=4096)  # the prompts of all tasks hold the same captions
def quote(text: str) -> str:
    """One line between double quotes, inner quotes and backslashes escaped, white space collapsed."""
    return encode_basestring(" ".join(text.split()))


def prompt_file(folder: str | os.PathLike, task: str) -> str:
    """Path of the file of the task of this name.

    A folder that is not below the working directory is looked for in the project. A task that it lacks is looked for
    in the folders `prompts` of extensions, where those of the extension NAME may leave NAME/ out.
    """
    own = locate(folder) / f"{task}.md"
    added = (place / "prompts" / f"{task.removeprefix(f'{place.name}/')}.md" for place in EXTENSIONS)
    return str(own if own.exists() else next(filter(Path.is_file, added), own))


def read_prompts(folder: str | os.PathLike, tasks: Iterable[Task]) -> dict[str, Prompt]:
    """Read and check the prompt files of `tasks`, by the task's name.

    Raises InputError for a missing file or a slot that does not fit.
    """
    return {task.name: read_prompt(prompt_file(folder, task.name), task) for task in tasks}


def read_prompt(path: str | os.PathLike, task: Task) -> Prompt:
    """Read one prompt file and check its slots against those of the task."""
    path = Path(path)
    check_installed(WORKFLOW, [path])
    try:
        content = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"the prompt of task {task.name} is missing",
            file=path,
            remedy="a prompt folder holds one file per task; start from a copy of config/prompts",
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 ({error.reason} at byte {error.start})", file=path) from None
    header, text = _split(content, path)
    kinds = header.get("slots")
    if not is_object(kinds) or not all(isinstance(kind, str) and kind in KINDS for kind in kinds.values()):
        raise InputError(f"the header needs `slots:` with one of {', '.join(KINDS)} for each slot", file=path)
    if kinds.get("said", "quoted") != "quoted":
        raise InputError("the slot said must be quoted: strangers speak there", file=path, remedy="write said: quoted")
    slots = set(task.slots) | (set(task.optional) & set(kinds))
    _compare(slots, set(kinds), "the header", path)
    printed, structured = _variants(text, path)
    for variant, called in ((printed, "the text"), (structured, "the structured text")):
        if variant is not None:
            _compare(slots, _used_slots(variant, path), called, path)
    if structured is None and task.always_json:
        structured = printed
    return Prompt(task.name, printed, {str(name): str(kind) for name, kind in kinds.items()}, structured)


def _variants(text: str, path: Path) -> tuple[str, str | None]:
    """The text for the printed formats, and for structured answers; None if the file has one text for both."""
    pieces = MARK.split(text)
    texts, marks = list(enumerate(pieces[::2])), pieces[1::2]
    if marks != ["printed", "structured", "end"] * (len(marks) // 3):
        raise InputError(
            f"its lines {', '.join(f'[{mark}]' for mark in marks)} are not in their order",
            file=path,
            remedy="the lines [printed], [structured] and [end] come in this order, each alone on its line",
        )
    printed = "".join(part for number, part in texts if number % 3 != 2).strip()
    structured = "".join(part for number, part in texts if number % 3 != 1).strip()
    return printed, structured if marks else None


def check_structured(prompt: Prompt, folder: str | os.PathLike) -> None:
    """Raise InputError for a prompt that asks for the printed format where the answer has to be JSON."""
    if prompt.structured is None:
        raise InputError(
            "`structured: true` asks for JSON, and this prompt for the printed format",
            file=prompt_file(folder, prompt.task),
            remedy="put what asks for a form between lines [printed], [structured] and [end] as the files of "
            "config/prompts do, or set structured: false for the role",
        )


def _split(content: str, path: Path) -> tuple[dict, str]:
    pieces = re.split(r"(?m)^---[ \t]*\r?\n", content, maxsplit=2)
    if len(pieces) != 3 or pieces[0].strip():
        raise InputError("a prompt file begins with a YAML header between two lines of ---", file=path)
    header = read_yaml(pieces[1], path, first_line=2)
    if not pieces[2].strip():
        raise InputError("the prompt has no text", file=path)
    return header, pieces[2].strip()


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


def _compare(needed: set[str], present: set[str], place: str, path: Path) -> None:
    if missing := sorted(needed - present):
        raise InputError(f"{place} lacks the slot {', '.join(missing)}", file=path)
    if unknown := sorted(present - needed):
        raise InputError(
            f"{place} holds the unknown slot {', '.join(unknown)}",
            file=path,
            remedy=f"the slots of this task are {', '.join(sorted(needed))}",
        )
