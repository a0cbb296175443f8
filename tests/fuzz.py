"""Broken documents made from good ones, from a seed: bytes changed, values exchanged for others that nobody expects."""

import contextlib
import gzip
import io
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import h5py
import numpy as np

from verified.lmm.ledger_files import line_of, value_of

VALUES = (
    None, True, -1, 0, 1.5, -0.0, 2**31, 2**63, 10**400, float("nan"), float("inf"), 1e308, "", "²", "--5", "1e3", "٣",
    " 7 ", "\ud800", "\x1b[2J\x07", "\u202eabc", "a" * 20_000, [], {}, [[]], [1, 2], [1, 2, 3, 4], {"desc_id": 1},
)  # fmt: skip
KEYS = ("desc_id", "video", "time", "version", "format", "split", "")
BYTES = (
    b"[" * 100_000, b'{"a":' * 5_000, b"9" * 5_000, b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r\n",
    b'"', b"}", b"]", b",", b"NaN", b"-Infinity", b"1e999", b'"\\ud800"', b"\\u0000", b"\x1f\x8b\x08", b"<html>",
)  # fmt: skip


def _other_rows(document: bytes, draw: random.Random) -> bytes:
    """One to three changes of a document, JSON or JSON Lines."""
    lines = document.splitlines()
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(lines))
        lines[at] = (_other_value if draw.random() < 0.65 else _other_bytes)(lines[at], draw)
    return b"\n".join(lines)


def _other_value(line: bytes, draw: random.Random) -> bytes:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _other_bytes(line, draw)
    places = list(_places(value))
    if not places:
        return line
    holder, key = draw.choice(places)
    kind = draw.random()
    if kind < 0.2:
        del holder[key]
    elif kind < 0.3 and isinstance(holder, dict):
        holder[draw.choice(KEYS)] = draw.choice(VALUES)
    else:
        holder[key] = draw.choice(VALUES)
    return json.dumps(value).encode()


def _places(value: object) -> Iterator[tuple]:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def _other_bytes(line: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(line) + 1)
    kind = draw.randrange(4)
    if kind == 0:
        return line[:at]
    if kind == 1:
        return line[:at] + draw.choice(BYTES) + line[at:]
    if kind == 2:
        return line[:at] + draw.choice(BYTES) + line[at + draw.randint(1, 8) :]
    return line[:at] + bytes([draw.randrange(256)]) + line[at + 1 :]


def damaged_file(path: Path, seed: int) -> str:
    """Damages one file in place, by its kind; returns what was done, in words."""
    draw = random.Random(seed)
    kind = path.name.removesuffix(".gz").rsplit(".", 1)[-1]
    packed = path.name.endswith(".gz") and draw.random() < 0.8
    document = path.read_bytes()
    if not document:
        path.write_bytes(draw.choice(BYTES))
        return f"{path.name}, which was empty, filled"
    if kind in ("h5", "hdf5") and draw.random() < 0.85:
        return _other_hdf5(path, draw)
    if kind == "part" and draw.random() < 0.6:
        return _other_lines(path, draw)
    if packed:
        document = gzip.decompress(document)
    if kind in ("npy", "npz"):
        document = _other_array(document, kind, draw)
    elif kind in ("json", "jsonl", "checksums"):
        document = _other_rows(document, draw)
    elif kind in ("csv", "srt", "txt", "js", "md", "py", "yaml"):
        document = _other_text(document, draw)
    else:
        document = _other_places(document, draw)
    path.write_bytes(gzip.compress(document, mtime=0) if packed else document)
    return f"{path.name} changed inside" if packed else f"{path.name} changed"


def _other_text(document: bytes, draw: random.Random) -> bytes:
    """A field, a number, a line or bytes of a text that has lines and fields."""
    lines = document.split(b"\n")
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(lines))
        numbers = list(re.finditer(rb"\d+(\.\d+)?", lines[at]))
        fields = lines[at].split(b",")
        kind = draw.randrange(5)
        if kind == 0 and numbers:
            begin, end = draw.choice(numbers).span()
            lines[at] = lines[at][:begin] + draw.choice(ARGUMENTS).encode() + lines[at][end:]
        elif kind == 1:
            fields[draw.randrange(len(fields))] = draw.choice(ARGUMENTS).encode(errors="surrogatepass")
            lines[at] = b",".join(fields)
        elif kind == 2:
            lines[at : at + 1] = [lines[at]] * draw.choice((0, 2, 3))
            lines = lines or [b""]
        elif kind == 3:
            draw.shuffle(fields)
            lines[at] = b",".join(fields)
        else:
            lines[at] = _other_bytes(lines[at], draw)
    return b"\n".join(lines)


def _other_places(document: bytes, draw: random.Random) -> bytes:
    """Bytes of a binary file: cut off, changed here and there, zeros, something put in, nothing left."""
    kind, at = draw.randrange(6), draw.randrange(len(document) + 1)
    if kind == 0:
        return document[:at]
    if kind == 1:
        changed = bytearray(document)
        for _ in range(draw.choice((1, 3, 50))):
            # Headers lie at the beginning: half of the changes go there.
            place = draw.randrange(min(len(document), 200) if draw.random() < 0.5 else len(document))
            changed[place] = draw.randrange(256)
        return bytes(changed)
    if kind == 2:
        return document[:at] + bytes(draw.choice((1, 100))) + document[at + 100 :]
    if kind == 3:
        return document[:at] + draw.choice(BYTES) + document[at:]
    return draw.choice((b"", document * 2, document[at:] + document[:at], bytes(len(document))))


def _other_array(document: bytes, kind: str, draw: random.Random) -> bytes:
    """A .npy or .npz of another type, shape or values, with another header, or with its bytes changed."""
    if draw.random() < 0.35:
        return _other_places(document, draw)
    packed = np.load(io.BytesIO(document))
    arrays = {"": packed} if kind == "npy" else {name: packed[name] for name in packed.files}
    name = draw.choice(sorted(arrays))
    if kind == "npy" and draw.random() < 0.4:
        header, version = draw.choice(NPY_HEADERS).encode(), draw.choice((1, 2, 3, 9))
        return b"\x93NUMPY" + bytes((version, 0)) + len(header).to_bytes(2, "little") + header + document[-64:]
    arrays[name] = _unlike(arrays[name], draw)
    if kind == "npz" and draw.random() < 0.2:
        del arrays[name]
    out = io.BytesIO()
    if kind == "npy":
        np.save(out, arrays[""], allow_pickle=True)
    else:
        np.savez(out, **arrays)
    return out.getvalue()


NPY_HEADERS = (
    *(
        f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}}}"
        for kind, order, shape in (
            *(("'<f4'", False, (rows, 4)) for rows in (10**9, 10**18, 2**63, -1)),  # more than any disk holds
            ("'<f4'", True, "(3, 4)"), ("'|O'", False, "(3,)"), ("'|V0'", False, "(99,)"), ("'<M8[s]'", False, "(3,)"),
            ("[('a', '<f4'), ('a', '<f4')]", False, "(3,)"), ("'<f4'", 7, "'abc'"),
        )
    ),
    "{'shape': (1,)}", "[" * 5000, "__import__('os')", "",
)  # fmt: skip
"""What a .npy may say of itself that does not fit what follows."""


def _unlike(array: np.ndarray, draw: random.Random) -> np.ndarray:
    """The array with other values, another type or another shape."""
    if array.dtype.kind not in "iufb" or not array.ndim:
        return draw.choice((np.zeros((2, 3)), np.array(["a", "b"]), np.array(7), np.array("")))
    array = array.copy()
    if array.size and array.dtype.kind == "f" and draw.random() < 0.3:
        array.reshape(-1)[draw.randrange(array.size)] = draw.choice((np.nan, np.inf, -np.inf, 6e4))
        return array
    return draw.choice(
        (
            lambda: array[:0], lambda: array[..., :0], lambda: array.T, lambda: array[None], lambda: array.reshape(-1),
            lambda: np.float32(3.0), lambda: array.astype("S3"), lambda: array.astype(str), lambda: array > 0,
            lambda: array.astype(complex), lambda: array.astype(">i8" if array.dtype.kind in "iuf" else "O"),
            lambda: np.array([{"a": 1}], dtype=object), lambda: np.zeros(3, [("a", "<f4"), ("b", "S4")]),
            lambda: np.zeros(4, "<M8[s]"), lambda: array.astype(np.longdouble) if array.dtype.kind in "iuf" else array,
            lambda: np.concatenate([array, array]) if array.ndim else array,
        )
    )()  # fmt: skip


def _other_hdf5(path: Path, draw: random.Random) -> str:
    """An HDF5 file whose tree, types, storage or attributes are others; returns which."""
    with h5py.File(path, "r+") as file:
        places = []
        file.visititems(lambda name, node: places.append((name, node)))
        sets = [name for name, node in places if isinstance(node, h5py.Dataset)]
        groups = [name for name, node in places if isinstance(node, h5py.Group)] + ["/"]
        at = draw.choice(sets or ["x"])
        kind = draw.choice(sorted(HDF5))
        values = np.asarray(file[at][()]) if at in file else np.zeros((3, 4), np.float16)
        if kind in ("attribute-gone", "attribute"):
            holder = file[draw.choice([*sets, *groups])]
            for name in draw.sample(sorted(holder.attrs), min(1, len(holder.attrs))):
                del holder.attrs[name]
                if kind == "attribute":
                    holder.attrs[name] = draw.choice(ATTRIBUTES)
            return kind
        attributes = dict(file[at].attrs.items()) if at in file else {}
        if at in file and kind not in ("cycle", "odd-name", "many"):
            del file[at]
        HDF5[kind](file, at, values, draw)
        with contextlib.suppress(Exception):
            for name, value in attributes.items():
                file[at].attrs[name] = value
    return f"{kind} at {at}"


def _filtered(file: h5py.File, at: str, number: int, shape: tuple = (8, 4)) -> None:
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_chunk(shape)
    plan.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (1, 2))
    parents = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    parents.set_create_intermediate_group(True)
    made = h5py.h5d.create(file.id, at.encode(), h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple(shape), plan, parents)
    made.write_direct_chunk((0,) * len(shape), np.ones(shape, "<f4").tobytes())


def _virtual(file: h5py.File, at: str, source: str) -> None:
    layout = h5py.VirtualLayout((4, 4), "f4")
    layout[:] = h5py.VirtualSource(source, "x", (4, 4))
    file.create_virtual_dataset(at, layout)


def _chain(file: h5py.File, at: str) -> None:
    node = file.require_group(at)
    for _ in range(400):
        node = node.create_group("a")


_TEXT = h5py.string_dtype()
HDF5 = {
    "attribute": None,
    "attribute-gone": None,
    "gone": lambda file, at, *_: None,
    "external-raw": lambda file, at, *_: file.create_dataset(at, (4, 4), "u1", external=[("/etc/passwd", 0, 16)]),
    "external-missing": lambda file, at, *_: file.create_dataset(at, (4, 4), "f2", external=[("none.raw", 0, 32)]),
    "external-link": lambda file, at, *_: file.__setitem__(at, h5py.ExternalLink("/etc/passwd", "/x")),
    "link-to-itself": lambda file, at, *_: file.__setitem__(at, h5py.SoftLink("/" + at)),
    "link-to-nothing": lambda file, at, *_: file.__setitem__(at, h5py.SoftLink("/nothing")),
    "link-to-root": lambda file, at, *_: file.__setitem__(at, h5py.SoftLink("/")),
    "cycle": lambda file, at, *_: file.__setitem__("cycle", file["/"]),
    "group": lambda file, at, *_: file.create_group(at),
    "chain": lambda file, at, *_: _chain(file, at),
    "type": lambda file, at, *_: file.__setitem__(at, np.dtype("f4")),
    "texts": lambda file, at, *_: file.create_dataset(at, data=["a", "b"], dtype=_TEXT),
    "objects": lambda file, at, *_: file.create_dataset(at, (2, 2), h5py.vlen_dtype("f4")),
    "references": lambda file, at, *_: file.create_dataset(at, (2, 2), h5py.ref_dtype),
    "opaque": lambda file, at, *_: file.create_dataset(at, (2, 2), "V8"),
    "enum": lambda file, at, *_: file.create_dataset(at, (2, 2), h5py.enum_dtype({"a": 1})),
    "nested": lambda file, at, *_: file.create_dataset(at, (2,), np.dtype(("f4", (3, 3)))),
    "bytes": lambda file, at, *_: file.create_dataset(at, (3,), "S5"),
    "empty": lambda file, at, *_: file.__setitem__(at, h5py.Empty("f4")),
    "scalar": lambda file, at, *_: file.__setitem__(at, 3.0),
    "huge": lambda file, at, *_: file.create_dataset(at, (2**40, 2**20), "f4", chunks=(64, 64)),
    "huge-packed": lambda file, at, *_: file.create_dataset(
        at, (2**33, 64), "f4", chunks=(2**20, 64), compression="gzip", fillvalue=1.0
    ),
    "filter": lambda file, at, values, draw: _filtered(file, at, draw.choice((32001, 32004, 32015, 305))),
    "virtual": lambda file, at, values, draw: _virtual(file, at, draw.choice(("none.h5", "/etc/passwd", "."))),
    "many": lambda file, at, *_: [file.require_group(f"extra-{n}") for n in range(300)],
    "odd-name": lambda file, at, values, draw: file.create_group(
        draw.choice(("\u202e", "a b", "..x", "n" * 4000, "²"))
    ),
    "values": lambda file, at, values, draw: file.__setitem__(at, _storable(_unlike(values, draw))),
}  # fmt: skip
ATTRIBUTES = (
    np.nan, np.inf, -1, 0, 2**40, "", "²", "n" * 4000, np.zeros(0), np.ones(9), b"\xff", h5py.Empty("f4"), True,
    np.array(["a", "b"], dtype=_TEXT), np.void(b"abc"), 1e308,
)  # fmt: skip
ARGUMENTS = (
    "nan", "inf", "-inf", "0", "-1", "-0.0", "1e999", "1e308", "9" * 400, "2**3", "", " ", "²", "٣", "1_000", "0x10",
    "--5", "a" * 5_000, "\x1b[2J", "../x", "/etc/passwd", "/dev/null", ".", "None", "[]", "{}", "true", "\u202e", "0.1",
    "1", "7", "3,4", "a:b", "=1+1",
)  # fmt: skip


def _storable(array: np.ndarray) -> object:
    return array.astype(bytes) if np.asarray(array).dtype.kind in "OUM" else array


def _other_lines(path: Path, draw: random.Random) -> str:
    """A part of a ledger whose lines are whole and hold something else: another value, type, version or order."""
    lines = path.read_bytes().splitlines(keepends=True)
    at = draw.randrange(len(lines))
    value, odd = value_of(lines[at]), draw.choice((None, "", "a" * 20_000, -1, 2**62, "\x1b[2J", "{", [], "\u202e"))
    if isinstance(value, dict) and draw.random() < 0.8:
        value[draw.choice(list(value))] = odd
    else:
        value = odd
    lines[at] = line_of(value)
    if draw.random() < 0.2:
        draw.shuffle(lines)
    path.write_bytes(b"".join(lines))
    return f"{path.name}: line {at}"


HEADERS = ("Range", "Range", "If-Range", "Accept", "Cookie", "Authorization", "Content-Type", "If-None-Match")
HEADER_VALUES = (
    "bytes=0-3", "bytes=-1", "bytes=5-2", "bytes=0-0,2-3,", "bytes=a-b", "bytes=" + "0-1," * 900,
    "bytes=99999999999999-", "verified_token=x", "Bearer \x7f", "*/*", '"x"', "", "=", "a" * 5000,
)  # fmt: skip


def requests(cases: int, seed: int) -> Iterator[tuple[str, str, dict[str, str], bytes]]:
    """(method, path with query, headers, body) of HTTP requests that a stranger may send."""
    draw = random.Random(seed)
    places = [f"/{place}" for place in ("", "api/search", "api/like", "api/about", "media", "span", "thumbnail")]
    places += ["/search.js", "/none", "/../x", "//"]
    names = ("q", "video", "top", "start", "end", "number", "token", "x", "")
    ids = ("v0000", "v0001", "..", "%00", "%ff", "")
    for _ in range(cases):
        values = [*ARGUMENTS, *ids, "%F0%9F%98%80", "%ED%A0%80", "a+b", "%", "%zz", "&", "=", "0", "1", "2.5", "4"]
        fields = [f"{draw.choice(names)}={quote(draw.choice(values), safe='%&=+')}" for _ in range(draw.randrange(5))]
        headers = {draw.choice(HEADERS): draw.choice(HEADER_VALUES) for _ in range(draw.randrange(3))}
        method = draw.choice(("GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"))
        body = draw.choice((b"", b"", b"{}", b"\x00" * 100, b"q=1", BYTES[0]))
        yield method, draw.choice(places) + ("?" + "&".join(fields) if fields else ""), headers, body
