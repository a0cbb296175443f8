"""Cassettes: a ledger exported to Parquet, from which the tables can be built again without model or network.

What was written by hand (`verified.lmm.hand_written`) counts as one as well.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from verified.errors import InputError
from verified.io.files import atomic_path, require_version
from verified.lmm import hand_written
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_parts import line_of
from verified.lmm.ledger_row import COLUMNS, INTEGERS, REALS, VERSION, Row, faults_of

BATCH = 5000
MOST_BYTES = 2**28
"""Of a batch of calls in memory: 50 kB a call, some ten times what prompts and answers have."""
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
    """Bring the calls of a cassette into a ledger, once per file; returns how many rows the cassette brought.

    Calls that the ledger holds as ``ok`` stay as they are. Raises InputError for a file that is no cassette. One that
    was written by hand holds answers and no calls: 0.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("no such cassette", file=path, remedy="make one with `verified ledger export`")
    if hand_written.is_hand_written(path):
        return 0
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return ledger.load_once(digest, _calls(path))


def _calls(path: Path) -> Iterator[dict]:
    """The rows of a cassette, each as a run writes it. Raises InputError with the number of the first that is not, and
    after the last one where they are not those that were exported."""
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


def models_of(path: str | os.PathLike[str]) -> dict[str, set[str]]:
    """Models of a cassette with their revisions. Raises InputError for a file that is no cassette."""
    if hand_written.is_hand_written(path):
        return {hand_written.MODEL: {hand_written.revision_of(path)}}
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
