"""Files that the jobs of a run read without declaring them, from the notes of reads_site/sitecustomize.py."""

import fnmatch
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import h5py

PROJECT = Path(__file__).resolve().parents[1]
SITE = Path(__file__).with_name("reads_site")
NOTES = "VERIFIED_READS"

EXCEPTIONS = {
    "*/.*.checksums": "records of outputs, against which each job holds its inputs",
    "*/results/*/run.manifest": "the list of those records",
    "*/results/*/.earlier/*": "what the shard's last job made of the same bytes with the same params",
    "*/ledger*": "answers by the digest of their request, which inputs and params decide",
}
"""Files that a job reads though neither its inputs nor its params say so, by pattern, with the reason."""


def noting(notes: str, variables: Mapping[str, str]) -> dict[str, str]:
    """These environment variables, with those by which jobs write their notes into a folder."""
    path = os.pathsep.join(filter(None, [str(SITE), variables.get("PYTHONPATH", "")]))
    return {**variables, "PYTHONPATH": path, NOTES: notes}


def undeclared(notes: Path) -> set[tuple[str, str]]:
    """Rule and path of each file that a job read and that is none of its inputs or outputs, and no exception."""
    return {
        (job["rule"], str(file))
        for job, files in _jobs(notes)
        for declared in [{*map(Path, job["input"] + job["output"] + job["log"]), *_videos(job), *_linked(job)}]
        for file in files
        if declared.isdisjoint([file, *file.parents]) and not any(fnmatch.fnmatch(str(file), one) for one in EXCEPTIONS)
    }


def _jobs(notes: Path) -> Iterator[tuple[dict, list[Path]]]:
    for declaration in sorted(notes.glob("*.job")):
        job = json.loads(declaration.read_text(encoding="utf-8"))
        lines = declaration.with_suffix(".reads").read_text(encoding="utf-8").splitlines()
        written = {path for kind, path in (line.split("\t") for line in lines) if kind == "w"}
        read = {path for kind, path in (line.split("\t") for line in lines) if kind == "r"} - written
        yield job, [Path(path) for path in sorted(read) if _is_data(Path(path), Path(job["folder"]))]


def _is_data(path: Path, folder: Path) -> bool:
    """Whether a file is of the run or of a user, and neither code nor of the machine."""
    if path.is_relative_to(PROJECT) and not path.is_relative_to(folder) and "config" not in path.parts:
        return False  # code, and data beside it: in the digest of the job's code
    if path.is_dir():
        return False
    places = (folder, Path(tempfile.gettempdir()), PROJECT)
    return not {".snakemake", "logs"} & {*path.parts} and any(path.is_relative_to(place) for place in places)


def _videos(job: dict) -> set[Path]:
    """Files of the lists of videos among the inputs, which have the SHA-256 of each."""
    lists = [Path(file) for file in job["input"] if file.endswith(".jsonl")]
    rows = (json.loads(line) for file in lists for line in file.read_text(encoding="utf-8").splitlines())
    return {Path(job["folder"], row["path"]) for row in rows if {"path", "sha256"} <= row.keys() and row["sha256"]}


def _linked(job: dict) -> set[Path]:
    """Files that features among the inputs link to: the file of links has their SHA-256."""
    linked: set[Path] = set()
    for path in (Path(file) for file in job["input"] if file.endswith(".h5")):
        with h5py.File(path) as file:
            links = [file.get(key, getlink=True) for key in file]
        linked |= {path.parent / link.filename for link in links if isinstance(link, h5py.ExternalLink)}
    return {Path(os.path.abspath(file)) for file in linked}
