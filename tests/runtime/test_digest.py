"""Digests follow imports: a script's modules are in its digest, and no module that cannot change its output."""

import pytest

from verified.runtime import digest, imports

FILES = {
    "__init__.py": "",
    "stage/__init__.py": "",
    "stage/top.py": "from verified.io.rows import read\n",
    "stage/late.py": "def work():\n    with open('x'):\n        import verified.stage.deep as deep\n",
    "stage/deep.py": "from . import words\nfrom ..io import rows\n",
    "stage/words.py": "LIST = FOLDER / 'words.txt'\n",
    "stage/words.txt": "one\n",
    "stage/other.txt": "never named\n",
    "stage/shipped.py": "VECTORS = FOLDER / 'weights' / 'vectors.npy'\n",
    "stage/weights/vectors.npy": "1 2\n",
    "stage/weights/of/classes.json": "[]\n",
    "stage/chosen.py": "from verified.config.values import SIDE, Section\n",
    "stage/unused.py": "",
    "stage/folder/leaf.py": "",
    "cli/stage.py": "import verified.stage.unused\n",
    "stage/launch.py": "COMMAND = ['python', '-m', 'verified.stage.words']\n",
    "stage/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from verified.stage import unused\n",
    "io/rows.py": "from verified.runtime.progress import Progress\nfrom verified.config import load\n",
    "runtime/progress.py": "",
    "config/values.py": "PIXELS = 16\nOTHER = 1\nSIDE = 2 * PIXELS\n\n\nclass Section:\n    '''A docstring.'''\n",
}
CACHED = (
    *(digest.script_digest, digest.modules_digest, digest._content),
    *(imports.source, imports.constant, imports.find, imports._beside, imports._root),
)


def forget():
    for function in CACHED:
        function.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    for name, text in FILES.items():
        file = tmp_path / "verified" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(digest, "PACKAGE", tmp_path / "verified")
    monkeypatch.setattr(imports, "PACKAGE", tmp_path / "verified")
    monkeypatch.setitem(imports.PACKAGES, "verified", tmp_path / "verified")
    forget()
    yield tmp_path / "verified"
    forget()


def files_of(package, source):
    script = package.parent / "script.py"
    script.write_bytes(source)
    sources = digest.modules_behind(script).values()
    files = {file for found in sources for file in (found.file, *imports.source(found).data)}
    return {file.relative_to(package).as_posix() for file in files if file.name != "__init__.py"}


def test_the_package_around_a_folder_without_code_counts(package):
    (package.parent / "script.py").write_text("import verified.stage.folder.leaf\n")
    assert {"verified.stage", "verified.stage.folder.leaf"} == {*digest.modules_behind(package.parent / "script.py")}


@pytest.mark.parametrize(
    ("source", "files"),
    [
        (b"from verified.stage.top import read", {"stage/top.py", "io/rows.py"}),
        (b"def f():\n    from verified.stage import unused", {"stage/unused.py"}),
        (
            b"with job():\n    from verified.stage import late",
            {"stage/late.py", "stage/deep.py", "stage/words.py", "stage/words.txt", "io/rows.py"},
        ),
        (b"from verified.stage.launch import COMMAND", {"stage/launch.py", "stage/words.py", "stage/words.txt"}),
        (b"from verified.stage.typed import name", {"stage/typed.py"}),
        (
            b"from verified.stage.shipped import VECTORS",
            {"stage/shipped.py", "stage/weights/vectors.npy", "stage/weights/of/classes.json"},
        ),
        (b"from verified.cli.stage import run\nimport verified.config", set()),
    ],
)
def test_what_a_script_uses_is_found(package, source, files):
    assert files_of(package, source) == files


def test_any_edit_of_what_is_used_changes_the_digest(package):
    seen = {digest.modules_digest("verified.stage.late")}
    for name in ("io/rows.py", "stage/words.txt", "stage/__init__.py"):
        (package / name).write_text("# edited\n")
        forget()
        assert digest.modules_digest("verified.stage.late") not in seen
        seen.add(digest.modules_digest("verified.stage.late"))


def test_of_the_configuration_the_constants_count_that_are_used(package):
    values, before = package / "config/values.py", digest.modules_digest("verified.stage.chosen")
    text = values.read_text()
    for old, new, counts in (
        ("SIDE = 2", "SIDE = 3", True),
        ("PIXELS = 16", "PIXELS = 8", True),
        ("OTHER = 1", "OTHER = 2", False),
        ("A docstring", "Another", False),
    ):
        values.write_text(text.replace(old, new))
        forget()
        assert (digest.modules_digest("verified.stage.chosen") != before) == counts, old


def test_another_reader_of_frames_counts_where_frames_are_read():
    for script, counts in (("keyframes/extract.py", True), ("statistics/measure_language.py", False)):
        plain, other = (digest.code_param(reader, script, None) for reader in ("pyav", "decord"))
        assert (plain != other) == counts, script


def test_a_package_of_others_counts_by_its_source_and_a_release_by_its_version(package, monkeypatch):
    layers = package.parent / "theirs" / "nn" / "layers.py"
    layers.parent.mkdir(parents=True)
    layers.write_text("from ..act import activate\n")
    (layers.parents[1] / "act.py").write_text("activate = 'relu'\n")
    (layers.parents[1] / "unused.py").write_text("")
    (package / "stage" / "mine.py").write_text("import numpy.linalg\nfrom theirs.nn import layers\n")
    monkeypatch.syspath_prepend(str(package.parent))

    def told():
        forget()
        return digest.modules_digest("verified.stage.mine")

    before = told()
    (layers.parents[1] / "unused.py").write_text("edited = True\n")
    assert told() == before
    (layers.parents[1] / "act.py").write_text("activate = 'gelu'\n")
    edited = told()
    monkeypatch.setattr(digest.metadata, "version", lambda name: f"of another release of {name}")
    assert len({before, edited, told()}) == 3
