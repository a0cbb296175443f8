"""What a release says of itself is the same everywhere, and what its workflow calls exists."""

import datetime
import re
import tomllib

import yaml
from running import PROJECT

import verified


def text(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


def releases() -> list[tuple[str, str]]:
    """(version, date) of the headings of the history, the latest first."""
    return re.findall(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d{2}-\d{2})[^)]*\)$", text("CHANGELOG.md"), re.MULTILINE)


def test_version_and_date_are_the_same_everywhere():
    citation = yaml.safe_load(text("CITATION.cff"))
    version = tomllib.loads(text("pyproject.toml"))["project"]["version"]
    assert citation["version"] == version == verified.__version__
    assert isinstance(citation["date-released"], datetime.date)
    assert dict(releases())[version] == citation["date-released"].isoformat()


def test_a_change_is_a_line_of_at_most_25_words():
    lines = re.split(r"\n(?=- )", text("CHANGELOG.md").split("\n## ")[1])[1:]
    assert [line for line in lines if len(line.split()) > 26 or "\n" in line.strip()] == []


def test_the_workflow_of_a_release_calls_what_there_is():
    jobs = yaml.safe_load(text(".github/workflows/release.yml"))["jobs"]
    steps = [step["run"] for job in jobs.values() for step in job.get("steps", ()) if "run" in step]
    called = {target for step in steps for target in re.findall(r"^make ([\w-]+)", step, re.MULTILINE)}
    assert called == {"artefacts"} <= set(re.findall(r"^([\w-]+):", text("Makefile"), re.MULTILINE))
    version = tomllib.loads(text("pyproject.toml"))["project"]["version"]
    (check,) = [step for step in steps if "GITHUB_REF_NAME#v" in step]
    line = re.search(r'"(version = .*)" pyproject', check)[1].replace("\\", "").replace("${GITHUB_REF_NAME#v}", version)
    assert line in text("pyproject.toml").splitlines()
