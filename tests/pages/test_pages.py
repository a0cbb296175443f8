"""Every shell block of the pages runs as it is printed, in its order, in a copy of the checkout of its own.

A fence without a language is a shell block. Before a block, a comment may say how it is read:
`<!-- needs: GPU -->` leaves it out, by a word of `NEEDS` that the page itself says; `<!-- file: NAME -->` writes the
block, of any language, to that file.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from loopback import endpoint
from pages.material import MORE, kitchen_videos, material_of, small_demo
from running import DOCS, PROJECT, WHOLE, copy_project
from sybil.document import Document
from sybil.parsers.markdown.lexers import DirectiveInHTMLCommentLexer, RawFencedCodeBlockLexer

PAGES = [PROJECT / "README.md", *DOCS, PROJECT / "config" / "README.md", PROJECT / "profiles" / "README.md"]
NEEDS = {
    "GPU": "GPU",
    "cluster": "cluster|podman",
    "key": "key|token",
    "download": "download|pip install|installs",
    "people": "people|participants",
    "files": "file",  # published, or the reader's own, of kinds that other tests make
    "run": "demo-full|two runs",  # longer than a test makes
    "hours": "hour|minute",
}
"""What a left-out block needs, and the words of its page that say so."""
ENDPOINT = "http://127.0.0.1:8000/v1"
"""Address of the endpoint in the pages, which a scripted one replaces."""
KEY = "sk-pages-0815"
ADDRESS = re.compile(r"http://[\w.:]+/[\w./]*")


class Step(NamedTuple):
    """A block of a page."""

    line: int
    text: str
    language: str
    needs: str
    file: str


def steps(page: Path) -> list[Step]:
    """The fenced blocks of a page with the comments before them."""
    document = Document(page.read_text(encoding="utf-8"), str(page))
    fences = RawFencedCodeBlockLexer(re.compile(r"(?P<language>[^\n]*)\n"))
    regions = [*fences(document), *DirectiveInHTMLCommentLexer("needs|file")(document)]
    found, notes = [], {}
    for region in sorted(regions, key=lambda region: region.start):
        if "directive" in region.lexemes:
            notes[region.lexemes["directive"]] = region.lexemes["arguments"]
            continue
        line = document.text.count("\n", 0, region.start) + 1
        source, language = region.lexemes["source"].text, region.lexemes["language"].strip()
        found.append(Step(line, source, language, notes.pop("needs", ""), notes.pop("file", "")))
    return found


def commands(text: str) -> list[str]:
    """The commands of a block, of which one may take several lines."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def identity(page: Path) -> str:
    return page.relative_to(PROJECT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=identity)
def test_a_page_names_what_its_blocks_need(page):
    said = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for step in steps(page):
        if step.needs:
            assert step.needs in NEEDS, f"{page}:{step.line}: {step.needs} is none of {', '.join(NEEDS)}"
            assert re.search(NEEDS[step.needs], said, re.IGNORECASE), f"{page}:{step.line}: does not say {step.needs}"


def environment(folder: Path) -> dict[str, str]:
    """That of a shell beside a checkout in `folder`, whose environment is active."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    unset = ("VERIFIED_LOG", "PYTEST_XDIST_WORKER", "OMP_NUM_THREADS")
    values = {name: value for name, value in os.environ.items() if name not in unset}
    return values | {"PATH": path, "PYTHONPATH": str(folder / "scripts"), "MY_KEY": KEY, "OPENAI_API_KEY": KEY}


def serve(command: str, folder: Path) -> str:
    """Start a server, open the page that it names, and end it as Ctrl-C does; what it printed."""
    words = shlex.split(command)
    bearer = {"Authorization": f"Bearer {words[words.index('--token') + 1]}"} if "--token" in words else {}
    server = subprocess.Popen(
        ["bash", "-c", f"exec {command}"], cwd=folder, env=environment(folder) | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    printed = ""
    try:
        for line in server.stdout:
            printed += line
            if address := ADDRESS.search(line):
                asked = urllib.request.Request(address[0].replace("0.0.0.0", "127.0.0.1"), headers=bearer)
                with urllib.request.urlopen(asked) as page:
                    assert page.status == 200
                break
    finally:
        server.send_signal(signal.SIGINT)
        printed += server.communicate(timeout=60)[0]
    assert server.returncode in (0, 130), f"{command}\nstatus {server.returncode}\n{printed[-6000:]}"
    return printed


def run(command: str, folder: Path) -> str:
    """Run a command as a user's shell does; what it printed."""
    if "--serve" in command:
        return serve(command.partition(" #")[0], folder)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment(folder), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=3600,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\nstatus {done.returncode}\n{done.stdout[-8000:]}"
    return done.stdout


def follow(page: Path, folder: Path, address: str, until: str = "") -> tuple[int, list[str]]:
    """Write the files of a page and run its blocks, up to a command that begins with `until`.

    Returns the number of blocks that ran, and what each of the others needs.
    """
    ran, left_out = 0, []
    for step in steps(page):
        text = step.text.replace(ENDPOINT, address)
        if step.file:
            (folder / step.file).write_text(text + MORE.get(step.file, ""), encoding="utf-8")
        elif step.needs:
            left_out.append(step.needs)
        elif not step.language:
            ran += 1
            for command in commands(text):
                if until and command.startswith(until):
                    return ran, left_out
                printed = run(command, folder)
                assert "Traceback" not in printed, f"{page}:{step.line}: {command}\n{printed[-6000:]}"
    return ran, left_out


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """That of an endpoint that answers sensibly."""
    with endpoint() as served:
        yield served.url


def checkout(folder: Path) -> Path:
    """A copy of the checkout with its environment, whose demo is small."""
    copy_project(folder)
    for name in ("Makefile", "README.md", "docs", "requirements.txt", "requirements-cuda.txt", "pyproject.toml"):
        (folder / name).symlink_to(PROJECT / name)
    (folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    small_demo(folder)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory, address) -> Callable[[str], Path]:
    """The folder of a finished run by its name, made once by the commands of its page."""

    @cache
    def run_of(name: str) -> Path:
        folder = checkout(tmp_path_factory.mktemp(name) / "checkout")
        if name == "demo":
            run("make tables", folder)
        else:
            kitchen_videos(folder)
            follow(PROJECT / "docs" / "own-corpus.md", folder, address, until="verified show")
        for link in filter(Path.is_symlink, folder.iterdir()):
            link.unlink()
        return folder

    return run_of


AT_NIGHT = {"docs/benchmark.md", "docs/debugging.md", "docs/models.md", "docs/module.md", "config/README.md"}
"""Pages of the core whose blocks take more than a few minutes in all."""
RUN = [
    pytest.param(
        page,
        id=identity(page),
        marks=pytest.mark.night
        if identity(page) in AT_NIGHT or (page.parent / "tests" / f"page_{page.parent.name}.py").is_file()
        else pytest.mark.slow,
    )
    for page in PAGES
    if any(not step.language for step in steps(page))
]


@WHOLE
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("page", RUN)
def test_the_blocks_of_a_page_run(page, tmp_path, address, runs, record_property):
    folder = checkout(tmp_path / "checkout")
    material = material_of(page)
    for name in material.runs:
        shutil.copytree(runs(name), folder, symlinks=True, dirs_exist_ok=True)
    if material.make:
        material.make(folder)
    ran, left_out = follow(page, folder, address)
    record_property("blocks run", ran)
    record_property("left out", "; ".join(left_out))
