"""Cassettes: recorded or hand-written answers, from which the tables can be built without model or network.

A recorded one is a ledger exported to Parquet. One written by hand is a YAML file that maps each coarse caption to its
answers, by the name of the task (docs/tutorial.md shows one). Moments with equal captions get equal answers. Its only
model is `hand-written`, whose revision is a digest of the file: after an edit all calls are repeated, which costs
nothing.
"""

import hashlib
import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from verified.errors import InputError
from verified.io.files import atomic_path, file_digest, require_version
from verified.io.yaml_file import read_yaml
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import COLUMNS, INTEGERS, REALS, VERSION, Row, faults_of, line_of

HAND_WRITTEN = "hand-written"
FORM_REMEDY = "docs/tutorial.md shows such a file"

Answers = dict[str, dict[str, Any]]
"""By coarse caption and task: a list of texts, or a mapping of texts and such lists."""


def is_hand_written(path: str | os.PathLike[str]) -> bool:
    """Whether a cassette is one of these, by its name."""
    return Path(path).suffix == ".yaml"


def revision_of(path: str | os.PathLike[str]) -> str:
    """Revision of a cassette file, its digest. Raises InputError if it cannot be read."""
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
            raise InputError(f"{caption!r} has no answers by task", file=path, remedy=FORM_REMEDY)
        for task, written in tasks.items():
            if fault := _fault(written):
                raise InputError(f"{task} of {caption!r}: {fault}", file=path, remedy=FORM_REMEDY)
    return answers


def _fault(written: Any) -> str:
    """The problem with an answer; empty without one."""
    if not isinstance(written, dict | list) or not written:
        return "neither a list of texts nor a mapping"
    values = list(written.values()) if isinstance(written, dict) else [written]
    texts = [text for value in values for text in (value if isinstance(value, list) else [value])]
    unfit = [text for text in texts if not isinstance(text, str) or not text.strip()]
    return f"{unfit[0]!r} is no text (put it in quotes)" if unfit else ""


BATCH = 5000
MOST_BYTES = 2**28
"""Memory of a batch of calls: 50 kB a call, some ten times the usual size of prompts and answers."""
STATED, DIGEST = b"verified.ledger.version", b"verified.ledger.rows_sha256"
AGAIN = "export the cassette again from its ledger"


def export(ledger: Ledger, path: str | os.PathLike) -> int:
    """Write all sound calls of a ledger to a Parquet file, in the order of their keys; returns how many.

    The file's metadata hold a digest of its rows, for `load`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {name: pa.int64() for name in INTEGERS} | {name: pa.float64() for name in REALS}
    schema = pa.schema(
        [(name, types.get(name, pa.string())) for name in COLUMNS],
        metadata={STATED: str(VERSION)},
    )
    count, digest = 0, hashlib.sha256()
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        batch: list[dict] = []
        for row in ledger.rows():
            batch.append(row)
            digest.update(_line(row))
            if len(batch) == BATCH:
                writer.write_table(pa.Table.from_pylist(batch, schema))
                count, batch = count + len(batch), []
        writer.write_table(pa.Table.from_pylist(batch, schema))
        writer.add_key_value_metadata({DIGEST.decode(): digest.hexdigest()})
    return count + len(batch)


def load(ledger: Ledger, path: str | os.PathLike) -> int:
    """Load the calls of a cassette into a ledger, once per file; returns the number of rows of the cassette.

    Calls that are ``ok`` in the ledger are unchanged. Raises InputError for any other file. A hand-written one has
    answers and no calls: 0.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("no such cassette", file=path, remedy="make one with `verified ledger export`")
    if is_hand_written(path):
        return 0
    return ledger.load_once(file_digest(path), _calls(path))


def _calls(path: Path) -> Iterator[dict]:
    """The rows of a cassette, each as a run writes it. Raises InputError with the number of the first invalid row, and
    at the end if the rows differ from the exported ones.
    """
    import pyarrow.parquet as pq

    digest = hashlib.sha256()
    for number, row in enumerate(_rows(path, COLUMNS), start=1):
        for fault in faults_of(row):
            raise InputError(fault, file=path, row=number, remedy=AGAIN)
        digest.update(_line(row))
        yield row
    if (pq.read_metadata(path).metadata or {}).get(DIGEST) != digest.hexdigest().encode():
        raise InputError("its rows are not those that were exported", file=path, remedy=AGAIN)


def _line(row: Row) -> bytes:
    return line_of({name: float(row[name]) if name in REALS else row[name] for name in COLUMNS})


def check_rows(path: str | os.PathLike[str]) -> None:
    """Read all answers of a cassette. Raises InputError as the first job that loads it would."""
    if is_hand_written(path):
        read_answers(path)
    else:
        deque(_calls(Path(path)), maxlen=0)


def models_of(path: str | os.PathLike[str]) -> dict[str, set[str]]:
    """Models of a cassette with their revisions. Raises InputError for any other file."""
    if is_hand_written(path):
        return {HAND_WRITTEN: {revision_of(path)}}
    models: dict[str, set[str]] = {}
    for number, row in enumerate(_rows(Path(path), ("model", "revision")), start=1):
        if not isinstance(row["model"], str) or not isinstance(row["revision"], str):
            raise InputError("a call names no model or no revision", file=path, row=number)
        models.setdefault(row["model"], set()).add(row["revision"])
    return models


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            stated = (file.schema_arrow.metadata or {}).get(STATED)
            version = int(stated) if stated and stated.isdigit() and len(stated) < 9 else stated
            require_version(version, VERSION, "cassette", path, AGAIN)
            if absent := [name for name in COLUMNS if names.count(name) != 1]:
                raise InputError(f"not a cassette: it lacks the column {absent[0]}, or has it twice", file=path)
            groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
            if any(group.total_byte_size > MOST_BYTES for group in groups):
                problem = f"{BATCH} calls or fewer take more than {MOST_BYTES:,} bytes"
                raise InputError(problem, file=path, remedy=AGAIN)
            for batch in file.iter_batches(BATCH, columns=list(columns)):
                yield from batch.to_pylist()
    except FileNotFoundError:
        raise InputError("no such cassette", file=path, remedy="make one with `verified ledger export`") from None
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(f"not a cassette: {str(error)[:300]}", file=path) from None
