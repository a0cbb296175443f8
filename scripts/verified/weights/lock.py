"""The lock file pins every file of each model of a configuration by size and SHA-256.

One JSON object: {"models": {NAME or NAME@REVISION: {"commit", "files": {name: {"bytes", "sha256"}}}}, "files":
{address: {"bytes", "sha256"}}}. The first fetch writes it, and it belongs under version control: everybody with the
same lock loads the same weights or gets an error.
"""

import json
import re
from pathlib import Path

from verified.errors import InputError
from verified.io.files import is_inside, write_text
from verified.runtime.lock_file import exclusive

COMMIT = re.compile(r"[0-9a-f]{40}")
SHA256 = re.compile(r"[0-9a-f]{64}")


def read_lock(path: str | Path) -> dict:
    """The whole lock, with empty sections if there is no file. Raises InputError for an invalid one."""
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"models": {}, "files": {}}
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a lock file: {error}", file=path, remedy="restore it from version control") from None
    problem = _problem(content)
    if problem:
        raise InputError(
            f"not a lock file: {problem}",
            file=path,
            remedy="restore it from version control, or remove it to pin the versions published today",
        )
    return {"models": content.get("models", {}), "files": content.get("files", {})}


def _problem(content: object) -> str | None:
    if not isinstance(content, dict) or not all(isinstance(content.get(k, {}), dict) for k in ("models", "files")):
        return "expected the objects `models` and `files`"
    entries = content.get("models", {})
    for name, entry in entries.items():
        if not isinstance(entry, dict) or not COMMIT.fullmatch(str(entry.get("commit"))):
            return f"the commit of {name} is not 40 hexadecimal digits"
        if not isinstance(entry.get("files"), dict) or not entry["files"]:
            return f"{name} names no files"
    files = {file: facts for entry in entries.values() for file, facts in entry["files"].items()}
    for file, facts in {**files, **content.get("files", {})}.items():
        right = isinstance(facts, dict) and isinstance(facts.get("bytes"), int)
        if not right or not SHA256.fullmatch(str(facts.get("sha256"))):
            return f"size or SHA-256 of {file} is missing"
        if file in files and not is_inside(file):
            return f"{file} lies outside the model's folder"
    return None


def add_to_lock(path: str | Path, section: str, key: str, entry: dict) -> None:
    """Add one entry to a section; concurrent jobs take turns."""
    path = Path(path)
    with exclusive(path.with_name(f".{path.name}.turn")):
        content = read_lock(path)
        content[section][key] = entry
        ordered = {name: dict(sorted(entries.items())) for name, entries in content.items()}
        write_text(path, json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")
