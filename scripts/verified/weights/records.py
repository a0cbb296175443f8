"""Models of the hub: the lock file that pins them, and the records by which jobs find each one's folder and commit.

The lock file pins every file of each model of a configuration by size and SHA-256. One JSON object: {"models": {NAME or
NAME@REVISION: {"commit", "files": {name: {"bytes", "sha256"}}}}, "files": {address: {"bytes", "sha256"}}}. The first
fetch writes it, and it belongs under version control: everybody with the same lock loads the same weights or gets an
error.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from verified.config.generation import EngineSettings, Generation
from verified.errors import InputError
from verified.io.files import is_inside, write_text
from verified.io.jsonl import read_json
from verified.runtime.lock_file import exclusive

COMMIT = re.compile(r"[0-9a-f]{40}")
SHA256 = re.compile(r"[0-9a-f]{64}")
BUILT_IN = ("all-MiniLM-L6-v2", "small-resnet", "packaged", "packaged-joint", "evaluator")
"""Names that are not models of the hub: parts of the installed packages or of the workflow."""


@dataclass(frozen=True, order=True)
class Wanted:
    """A model by its name on the hub, and the branch, tag or commit of the configuration (may be empty)."""

    name: str
    revision: str = ""

    @property
    def key(self) -> str:
        """The model's key in the lock file."""
        return f"{self.name}@{self.revision}" if self.revision else self.name

    @property
    def slug(self) -> str:
        """The key as a file name."""
        return self.key.replace("/", "--")


def is_from_hub(name: str) -> bool:
    """Whether `name` is a model of the hub: neither built in nor a folder on this machine."""
    return name not in BUILT_IN and not Path(name).is_dir() and not name.startswith((".", "/", "~"))


def wanted_by_role(role: EngineSettings) -> Wanted | None:
    """The hub model that a role of text generation loads, or None."""
    if role.kind.loads_model and not role.folder and is_from_hub(role.model):
        return Wanted(role.model, role.revision)
    return None


def read_records(paths: Iterable[str | Path]) -> dict[Wanted, dict]:
    """Records by model; folders of models have none. Raises InputError for a record whose folder does not exist."""
    records = {}
    for path in (path for path in paths if not Path(path).is_dir()):
        record = read_json(path)
        if not Path(record["folder"]).is_dir():
            raise InputError(
                f"{record['model']} is gone from {record['folder']}",
                file=path,
                remedy=f"fetch it again: remove {path} and run the workflow",
            )
        records[Wanted(record["model"], record["revision"])] = record
    return records


def locate_models(generation: Generation, paths: Iterable[str | Path]) -> Generation:
    """The same settings with every role of a hub model at its folder and commit, from its record among `paths`."""
    records = read_records(paths)

    def placed(role: EngineSettings) -> EngineSettings:
        model = wanted_by_role(role)
        record = records.get(model) if model else None
        return role.model_copy(update={"folder": record["folder"], "revision": record["commit"]}) if record else role

    return generation.model_copy(update={name: placed(role) for name, role in generation.roles().items()})


def source_of(name: str, revision: str, paths: Iterable[str | Path]) -> tuple[str, str]:
    """(model to load, commit) for a model of a configuration: its folder, or its name without a commit if it is built
    in or a folder. Raises InputError for a model of the hub without a record."""
    if not is_from_hub(name):
        return name, ""
    record = read_records(paths).get(Wanted(name, revision))
    if record is None:
        raise InputError(f"{name} was not fetched", remedy="run: verified fetch --configfile CONFIG")
    return record["folder"], record["commit"]


def pin_models(generation: Generation, lock: str | Path) -> Generation:
    """The same settings with the commits of the lock file, to look calls up without loading a model."""
    models = read_lock(lock)["models"]

    def pinned(role: EngineSettings) -> EngineSettings:
        model = wanted_by_role(role)
        entry = models.get(model.key) if model else None
        return role.model_copy(update={"revision": entry["commit"]}) if entry else role

    return generation.model_copy(update={name: pinned(role) for name, role in generation.roles().items()})


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
