"""A run as one folder to archive: a Workflow Run RO-Crate (profiles 0.5, RO-Crate 1.1).

The crate holds the workflow's rules, the configuration, the installed packages, lists of inputs and outputs with size
and SHA-256, and the small results themselves: tables, metrics, counts, cards. Videos, features, annotations and weights
are listed, not copied. Its facts come from checksum records, the corpus and the configuration.
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from verified.config import Config
from verified.config.folders import home
from verified.errors import InputError
from verified.export.form import ExportForm
from verified.io.files import write_text
from verified.io.jsonl import read_jsonl
from verified.io.text_tables import write_csv
from verified.runtime.checksums import checksum_files, record_of, records_in
from verified.runtime.project import PROJECT, commit, versions
from verified.runtime.secrets import redact
from verified.runtime.verify import verify

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
COPIED = ("metrics.json", "counts.json", "README.md", "manifest.json", "croissant.json")
"""Names of results that are copied into the crate, besides the folder of tables."""
TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".tex": "application/x-tex",
    ".txt": "text/plain",
    ".yaml": "application/yaml",
}

Entity = dict[str, Any]


def archive(settings: Config, files: Sequence[Path]) -> str:
    """Write the crate of a configuration's run, read from its `files`; returns its place and size in words."""
    results = Path(home(settings))
    licence = settings.annotations.licence
    facts = {
        "name": settings.name,
        "project": PROJECT,
        "commit": commit(PROJECT),
        "licence": None if licence == "not stated" else licence,
        "creators": settings.export.creators,
    }
    resolved = redact(yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True))
    folder = results / "export" / "crate"
    counts = write_crate(folder, results, resolved, files, facts)
    return (
        f"{folder}: {counts['copied']} of {counts['built']} built files and the digests of all, "
        f"{counts['inputs']} videos by digest"
    )


CRATE = ExportForm(archive, of_run=True)


class Built(NamedTuple):
    """A file that a run built, from its checksum record."""

    path: str
    bytes: int
    sha256: str
    rule: str
    wildcards: str


def write_crate(
    folder: Path, results: Path, resolved: str, files: Sequence[Path], facts: Mapping[str, Any]
) -> dict[str, int]:
    """Write the crate of a run, or replace it; returns the numbers of built, input and copied files.

    `results` is the run's folder, relative to the working directory; `resolved` is the configuration with all defaults
    (YAML), `files` its files. `facts`: name (of the configuration), project (its folder), commit, licence (None if not
    stated) and creators. Raises InputError if nothing is built, or a result was changed after its job.
    """
    built, times = _built(results)
    if not built:
        raise InputError("nothing was built here", file=results, remedy="run the workflow first")
    fed = list(_inputs(results))
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    write_text(unfinished / "configuration.yaml", resolved)
    for path in files:
        _copy(path, unfinished / "given" / path.name)
    _copy(facts["project"] / "Snakefile", unfinished / "workflow" / "Snakefile")
    for path in sorted((facts["project"] / "rules").glob("*.smk")):
        _copy(path, unfinished / "workflow" / "rules" / path.name)
    write_text(unfinished / "packages.txt", "".join(f"{line}\n" for line in installed()))
    write_csv(unfinished / "inputs.csv", [("path", "bytes", "sha256"), *fed])
    write_csv(unfinished / "outputs.csv", [Built._fields, *built])
    tables = [row.path for row in built if row.rule == "build_tables"]
    copied = [row.path for row in built if row.path in tables or Path(row.path).name in COPIED]
    for path in copied:
        _copy(Path(path), unfinished / path)
    described = describe(unfinished, facts, times)
    write_text(unfinished / "README.md", _readme(facts, len(built), len(fed)))
    write_text(unfinished / "ro-crate-metadata.json", json.dumps(described, ensure_ascii=False, indent=1) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
    return {"built": len(built), "inputs": len(fed), "copied": len(copied)}


def _built(results: Path) -> tuple[list[Built], tuple[str, str]]:
    """Every file of a run by path, and the times of the first and the last checksum record (ISO 8601, UTC)."""
    _, findings = verify(results)
    if findings:
        raise InputError(findings[0].message, file=findings[0].path, remedy="look at all of it: verified verify")
    rows, times = list[Built](), list[float]()
    for file in sorted(checksum_files(results)):
        times.append(file.stat().st_mtime)
    for path in sorted(path for file in checksum_files(results) for path in records_in(file)):
        if not path.exists() or (written := record_of(path)) is None:  # temporary: the run has removed it
            continue
        job = written.get("rule", ""), json.dumps(written.get("wildcards", {}), sort_keys=True)
        members = {path / member: digest for member, digest in written.get("files", {}).items()}
        for output, digest in members.items() or [(path, written["sha256"])]:
            rows.append(Built(output.as_posix(), output.stat().st_size, digest, *job))
    first, last = (
        datetime.fromtimestamp(end(times, default=0), UTC).isoformat(timespec="seconds") for end in (min, max)
    )
    return sorted(rows), (first, last)


def _inputs(results: Path) -> Iterator[tuple[str, int, str]]:
    """Path, size and SHA-256 of every video that a run read, as its corpus lists them."""
    for file in sorted(results.rglob("corpus/videos.jsonl")):
        for row in read_jsonl(file):
            path = Path(row["path"])
            yield row["path"], path.stat().st_size if path.exists() else -1, row["sha256"]


def installed() -> list[str]:
    """Every installed package with its version, as pip lists them."""
    return sorted({f"{package.metadata['Name']}=={package.version}" for package in distributions()}, key=str.lower)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def describe(folder: Path, facts: Mapping[str, Any], times: tuple[str, str]) -> Entity:
    """The JSON-LD of a crate with files in `folder`; `times` are those of the first and last result."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    main = "workflow/Snakefile"
    results = [path for path in files if path.startswith("results/")]
    settings = ["configuration.yaml", *(path for path in files if path.startswith("given/"))]
    creators = [
        {"@id": f"#creator-{n}", "@type": "Organization", "name": who} for n, who in enumerate(facts["creators"])
    ]
    authors = _references(creator["@id"] for creator in creators)
    licence = {"@id": "#licence", "@type": "CreativeWork", "name": facts["licence"] or "not stated"}
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"A run of the configuration {facts['name']}",
        "description": f"Results of the workflow VERIFIED, {facts['commit']}, with the rules, settings, packages and "
        "inputs behind them.",
        "datePublished": times[1],
        "license": {"@id": "#licence"},
        "conformsTo": _references(PROFILES),
        "mainEntity": {"@id": main},
        "mentions": {"@id": "#run"},
        "hasPart": _references([*files, "README.md"]),
        **({"author": authors, "publisher": authors[0]} if creators else {}),
    }
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run of the configuration {facts['name']}",
        "description": "Times are those of the first and the last result that is there.",
        "instrument": {"@id": main},
        "object": _references([*settings, "inputs.csv"]),
        "result": _references(["outputs.csv", *results]),
        "startTime": times[0],
        "endTime": times[1],
        **({"agent": authors[0]} if creators else {}),
    }
    workflow = {
        "@id": main,
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "VERIFIED",
        "encodingFormat": "text/plain",
        "conformsTo": {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"},
        "version": facts["commit"],
        "programmingLanguage": {"@id": "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"},
        "softwareRequirements": {"@id": "packages.txt"},
        "hasPart": _references(path for path in files if path.startswith("workflow/rules/")),
    }
    language = {
        "@id": "https://w3id.org/workflowhub/workflow-ro-crate#snakemake",
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "version": versions("snakemake")["snakemake"] or "unknown",
        "url": {"@id": "https://snakemake.readthedocs.io"},
        "identifier": {"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
    }
    about = {
        "configuration.yaml": "the configuration with all defaults",
        "packages.txt": "installed packages with versions",
        "inputs.csv": "videos that were read: path, bytes (-1: it is not here any more), SHA-256",
        "outputs.csv": "files that were built: path, bytes, SHA-256, and the rule and wildcards of their job",
        "README.md": "what is in this folder",
    }
    parts: list[Entity] = [
        {
            "@id": path,
            "@type": "File",
            "name": about.get(path, path),
            "encodingFormat": TYPES.get(Path(path).suffix, "text/plain"),
            **({"about": {"@id": "./"}} if path == "README.md" else {}),
        }
        for path in (*files, "README.md")
        if path != main
    ]
    profiles = [
        {"@id": address, "@type": "CreativeWork", "name": title, "version": address.rsplit("/", 1)[1]}
        for address, title in PROFILES.items()
    ]
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": _references(
            ["https://w3id.org/ro/crate/1.1", "https://w3id.org/workflowhub/workflow-ro-crate/1.0"]
        ),
    }
    return {
        "@context": "https://w3id.org/ro/crate/1.1/context",
        "@graph": [descriptor, root, workflow, run, language, licence, *creators, *profiles, *parts],
    }


def _references(names: Iterable[str]) -> list[dict[str, str]]:
    return [{"@id": name} for name in names]


def _readme(facts: Mapping[str, Any], built: int, fed: int) -> str:
    return f"""# A run of the configuration {facts["name"]}

A Workflow Run RO-Crate of the workflow VERIFIED, {facts["commit"]}.

- `configuration.yaml`: all settings; `given/`: the files they were read from.
- `workflow/`: the rules; `packages.txt`: the installed packages.
- `inputs.csv`: {fed} videos with their SHA-256; `outputs.csv`: {built} files with SHA-256, rule and wildcards.
- `results/`: tables, metrics, counts and cards. All else is listed in `outputs.csv` and not copied.

Licence: {facts["licence"] or "not stated"}
"""
