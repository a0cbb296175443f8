"""The list of published files and the check of their bytes."""

import hashlib
from pathlib import PurePosixPath

from refusals import refused

from verified.released.files import SourceFile, collections, how_to_get, read_sources, verify


def source(data: bytes, access: str = "open", **changes) -> SourceFile:
    values = {
        "collection": "set",
        "split": "test",
        "version": "1",
        "format": "fig",
        "place": "set/test.jsonl",
        "url": "https://example.org/t",
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "rows": None,
        "licence": "MIT",
        "access": access,
    }
    return SourceFile(**{**values, **changes})


def test_every_open_file_has_all_that_is_needed_to_trust_it():
    files = read_sources()
    assert len({file.place for file in files}) == len(files)
    for file in files:
        path = PurePosixPath(file.place)
        assert not path.is_absolute() and ".." not in path.parts and file.licence
        if file.access == "open":
            assert len(file.sha256) == 64 and file.bytes > 0 and (file.rows or not file.split)
            assert file.url.startswith("https://raw.githubusercontent.com/")


def test_the_collections_have_the_paper_s_sizes():
    sizes = {
        name: sum(files[0].rows for files in splits.values() if files[0].rows is not None)
        for name, splits in collections().items()
    }
    assert (sizes["charades-fig"], sizes["didemo-fig"], sizes["activitynet-fig"]) == (16128, 41091, 71656)
    assert sizes["activitynet-captions"] == 71957


def test_right_bytes_pass(tmp_path):
    (tmp_path / "test.jsonl").write_bytes(b"{}\n")
    verify(tmp_path / "test.jsonl", source(b"{}\n"))


def test_a_wrong_byte_is_refused_by_name(tmp_path):
    (tmp_path / "test.jsonl").write_bytes(b"{]\n")
    with refused("test.jsonl", "set/test.jsonl", "3 bytes", remedy=True):
        verify(tmp_path / "test.jsonl", source(b"{}\n"))


def test_a_web_page_is_named(tmp_path):
    (tmp_path / "test.jsonl").write_bytes(b"\n<!DOCTYPE html><html>Sign in</html>")
    with refused("page", "https", file="test.jsonl", remedy=True):
        verify(tmp_path / "test.jsonl", source(b"{}\n"))


def test_a_missing_form_file_says_where_to_fetch_and_how_to_check_it(tmp_path):
    wanted = source(b"{}\n", access="form")
    with refused("set/test.jsonl", "https://example.org/t", wanted.sha256, "by hand"):
        verify(tmp_path / "test.jsonl", wanted)


def test_what_is_not_known_is_said():
    text = how_to_get(source(b"", access="form", sha256="", bytes=None))
    assert "size not known" in text and "SHA-256 not known" in text
    assert "was not published" in how_to_get(source(b"", access="none"))


def test_a_list_that_leaves_the_folder_is_refused(tmp_path):
    header = "collection,split,version,format,place,url,sha256,bytes,rows,licence,access"
    (tmp_path / "sources.csv").write_text(f"{header}\nset,test,1,fig,../../etc/passwd,https://e.org,,,,MIT,open\n")
    with refused(file="sources.csv", row=2):
        read_sources(tmp_path / "sources.csv")
