"""Files of another version are refused by name, with a remedy; those of tensors in tests/nn/test_training.py."""

import hashlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

from verified.io.files import require_version
from verified.lmm.cassette import STATED, export, models_of
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import VERSION, line_of
from verified.runtime.checksums import checksums_of, write_checksums
from verified.runtime.verify import check
from verified.tables.table import read_table_json, write_table_json


@pytest.mark.parametrize("found", [4, 2, 0, None, "3", True, 3.5, [3], "x" * 10_000])
def test_only_the_known_version_is_read(found):
    require_version(3, 3, "tables", "t.json", "again")
    with refused("tables", 3, file="t.json", remedy=True) as error:
        require_version(found, 3, "tables", "t.json", "again")
    assert (error.value.remedy == "again") == (found != 4) and len(str(error.value)) < 300


def a_checksum_file(folder, version):
    path = folder / "file.json"
    path.write_text("{}")
    write_checksums(path)
    text = checksums_of(path).read_text().partition("\n")[0]
    if version is not None:
        text = json.dumps({**json.loads(text), "version": version})
    checksums_of(path).write_text(f"{text}\n{hashlib.sha256(text.encode()).hexdigest()}\n")
    return path, check


def tables(folder, version):
    path = folder / "file.json"
    write_table_json(path, [])
    if version is not None:
        path.write_text(json.dumps({**json.loads(path.read_text()), "version": version}))
    return path, read_table_json


def a_ledger(folder, version):
    path = folder / "elsewhere-00000000-1-1-1.part"
    path.write_bytes(line_of({"version": VERSION if version is None else version}))
    return path, lambda path: Ledger(path.parent).close()


def a_cassette(folder, version):
    path = folder / "calls.parquet"
    with Ledger(folder / "ledger") as ledger:
        export(ledger, path)
    if version is not None:
        table = pq.read_table(path)
        stated = {STATED.decode(): str(version)}
        pq.write_table(pa.Table.from_pylist([], table.schema.with_metadata(stated)), path)
    return path, models_of


@pytest.mark.parametrize("make", [a_checksum_file, tables, a_ledger, a_cassette])
@pytest.mark.parametrize("version", [0, 99])
def test_a_reader_of_another_version_says_what_to_do(tmp_path, make, version):
    (tmp_path / "sound").mkdir()
    path, read = make(tmp_path / "sound", None)
    read(path)
    path, read = make(tmp_path, version)
    with refused(version, file=path, remedy=True):
        read(path)
