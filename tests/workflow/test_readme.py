"""README.md and the pages in docs/ match the workflow, and their commands parse as written."""

import datetime
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from placeholders import lay_out
from planted import write_highlights
from running import DOCS, PROJECT, SHIPPED, WHOLE

import verified
from verified.__main__ import main, parser
from verified.config import read

ROOT = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = sorted([*(PROJECT / name for name in ROOT), *DOCS])
TESTS = {path.name for path in [*PROJECT.glob("tests/**/test_*.py"), *PROJECT.glob("extensions/*/tests/test_*.py")]}
NAMES = [path.relative_to(PROJECT).as_posix() for path in PAGES]


def commands(page) -> list[list[str]]:
    """The command lines of a page's plain code blocks, their comments and continuation marks gone."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    blocks = [text for language, text in fences if language in ("", "sh", "bash")]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True) for line in lines if re.match(r"(make|verified|snakemake) ", line)]


@WHOLE
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`((?:config|profiles|examples|docs|scripts|tests)/[\w./-]+)`", text):
        if not re.search(r"[A-Z]{3}|\.lock\.json$", path):  # placeholders, and what a command writes
            assert (PROJECT / path).exists(), path
    roots = [PROJECT, PROJECT / "scripts", Path(verified.__file__).parent, *PROJECT.glob("extensions/*")]
    for path in re.findall(r"`([\w./-]+/[\w-]+\.(?:py|smk|js))`", text):
        if not re.search(r"[A-Z]{3}|mood", path):  # placeholders, and the extension that docs/adding.md adds
            assert any((root / path).is_file() for root in roots), path
    for path in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / path).is_file(), path
    assert set(re.findall(r"`(test_\w+\.py)`", text)) <= TESTS


def test_the_log_of_runs_stands_in_its_page():
    runs = runpy.run_path(str(PROJECT / ".ci" / "runs.py"))
    text = runs["PAGE"].read_text(encoding="utf-8")
    assert runs["page"](text, runs["read"](runs["KEPT"])) == text


def test_a_run_is_logged_with_the_counts_of_its_report(tmp_path):
    runs = runpy.run_path(str(PROJECT / ".ci" / "runs.py"))
    values = {"blocks run": "7", "left out": "GPU; key; GPU"}
    cases = "".join(f"<property name='{name}' value='{value}'/>" for name, value in values.items())
    suite = f"<testsuite tests='11' failures='1' errors='2' skipped='3'>{cases}</testsuite>"
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites>{suite}</testsuites>", encoding="utf-8")
    assert runs["counts"](report, 1) == (5, 3, 3)
    assert "7 ran, 3 left out ({'GPU': 2, 'key': 1})" in runs["blocks"](report)
    assert runs["counts"](tmp_path / "none.xml", 2) == (0, 1, 0)
    columns = runs["COLUMNS"][1:]
    rows = [{"target": name, **dict.fromkeys(columns, value)} for name, value in (("b", "1"), ("a", "2"), ("b", "3"))]
    lines = runs["table"](rows).splitlines()[2:]
    assert [line.split(" | ")[:2] for line in lines] == [["| a", "2"], ["| b", "3"]]


@WHOLE
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_of_a_page_are_taken(page, capsys):
    targets = set(re.findall(r"^([\w-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for program, *words in commands(page):
        line = f"{program} {' '.join(words)}"
        words = [re.sub(r"[\[\]]|\|.*", "", word) for word in words]  # options may be left out, one of several taken
        if program == "make":
            assert {word for word in words if "=" not in word} <= targets, line
        elif program == "verified":
            try:
                parser().parse_args(words)
            except SystemExit:
                pytest.fail(f"{line}\n{capsys.readouterr().err}")


def documented() -> list[str]:
    """Every command line of Snakemake that the project shows or runs: pages, the heads of files, the Makefile."""
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    recipes = re.findall(r"^\t\$\(BIN\)/(snakemake .*)$", makefile, re.MULTILINE)
    lines = [line.replace("$(ARGS)", "").replace("$(CRATE)", "config/config.yaml") for line in recipes]
    pages = [*PAGES, PROJECT / "config" / "README.md", PROJECT / "profiles" / "README.md"]
    lines += [shlex.join(words) for page in pages for words in commands(page)]
    heads = [*pages, *SHIPPED.values(), *PROJECT.glob("config/layers/*.yaml"), *PROJECT.glob("profiles/**/*.yaml")]
    lines += [line for file in heads for line in re.findall(r"`(snakemake [^`]+)`", file.read_text(encoding="utf-8"))]
    lines = [re.sub(r"--configfile\W+(\.\.\.|…|FILE)", "--configfile config/nano.yaml", line) for line in lines]
    lines = [" ".join(line.replace("NAME", "nano").split()) for line in lines if line.startswith("snakemake ")]
    return sorted({line for line in lines if not re.search("--(lint|unlock)", line)})


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory) -> Path:
    """A folder with the files and configurations of pages: of one's own corpus, of films, which are not there, of the
    benchmark, with a model that is there, and of given features."""
    folder = tmp_path_factory.mktemp("kitchen")
    (folder / "moments.csv").write_text(re.search(r"```csv\n(.*?)```", text("docs/own-corpus.md"), re.DOTALL)[1])
    for video in ("kitchen/breakfast.mp4", "street.mp4"):
        (folder / "videos" / video).parent.mkdir(parents=True, exist_ok=True)
        (folder / "videos" / video).touch()
    for page in PROJECT.glob("extensions/*/README.md"):
        for films in re.findall(r"```yaml\n(name: mine\n.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            (folder / "mine.yaml").write_text(films)
    mine = re.search(r"```yaml\n(name: my-run\n.*?)```", text("docs/benchmark.md"), re.DOTALL)[1]
    (folder / "my-run.yaml").write_text(mine.replace("mean_pooling.py", "reloclnet"))
    given = re.search(r"```yaml\n(name: given\n.*?)```", text("docs/given.md"), re.DOTALL)[1]
    (folder / "given.yaml").write_text(given)
    write_highlights(folder / "mine")
    (folder / "films").mkdir()
    row = "movie,track,described,transcript,subtitles\nheat,heat.wav,heat-described.wav,,heat.srt\n"
    (folder / "films" / "manifest.csv").write_text(row)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["init", "kitchen", "--url", "http://127.0.0.1:1/v1", "--model", "m"]) in (0, None)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("line", documented())
def test_commands_of_snakemake_plan(line, kitchen):
    """Each is planned as it stands, with placeholders for what is not here, and without the files of conda, which is
    not everywhere: options keep their number."""
    words = [re.sub("^conda$", "env-modules", word) for word in shlex.split(line)[1:]]
    words = [str(PROJECT / word) if re.match("(config|profiles|extensions)/", word) else word for word in words]
    if any(word.endswith("proposed.csv") for word in words):
        settings = (kitchen / "kitchen.yaml").read_text().replace("      moments: moments.csv\n", "")
        (kitchen / "proposed.yaml").write_text(settings)
        words = [word.replace("kitchen.yaml", "proposed.yaml") for word in words]
    configs = [kitchen / word for word in words if word.endswith(".yaml")]
    lay_out(read(*(configs or [PROJECT / "config" / "config.yaml"])), kitchen)
    command = [sys.executable, "-m", "snakemake", *words, "--dry-run", "--snakefile", str(PROJECT / "Snakefile")]
    command += ["--workflow-profile", str(PROJECT / "profiles" / "default")]
    done = subprocess.run(command, cwd=kitchen, capture_output=True, text=True, env=os.environ)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "dry-run" in said, said[-2000:]
    assert re.search(r"resources: (?=.*\bmem_mb=\d).*\bruntime=\d", said), said[-2000:]


def test_the_menu_of_the_site_shows_every_page():
    menu = yaml.safe_load((PROJECT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    shown = [page for entry in menu for page in ([entry] if isinstance(entry, str) else next(iter(entry.values())))]
    written = {page.name for page in DOCS if page.name != "README.md"}  # .ci/site.py adds the pages of extensions
    assert sorted(shown) == sorted(written | {"api.md", "keys.md"}), "api.md and keys.md are made with the site"


@WHOLE
def test_every_picture_is_on_a_page_that_names_its_source():
    sources = ("make pictures", "make real", "config/released.yaml")
    for picture in (PROJECT / "docs").glob("*.png"):
        shown = [page for page in PAGES if f"{picture.name})" in page.read_text(encoding="utf-8")]
        assert shown, f"{picture.name} is on no page"
        for page in shown:
            assert any(source in page.read_text(encoding="utf-8") for source in sources), page


def test_the_readme_is_short_and_has_the_versions_of_python():
    readme = text("README.md")
    assert len(readme.split()) <= 1100
    first, last = re.search(r"Python (3\.\d+) to 3\.(\d+)", readme).groups()
    allowed = tomllib.loads(text("pyproject.toml"))["project"]["requires-python"]
    assert allowed == f">={first},<3.{int(last) + 1}"


def text(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


def test_version_and_date_are_the_same_everywhere():
    citation = yaml.safe_load(text("CITATION.cff"))
    version = tomllib.loads(text("pyproject.toml"))["project"]["version"]
    assert citation["version"] == version == verified.__version__
    assert isinstance(citation["date-released"], datetime.date)
    releases = re.findall(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d{2}-\d{2})[^)]*\)$", text("CHANGELOG.md"), re.MULTILINE)
    assert dict(releases)[version] == citation["date-released"].isoformat()
