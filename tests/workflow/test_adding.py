"""docs/adding.md is followed in copies of the project: its example is added, and no other file changes."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import media
import pytest
import yaml
from running import NANO, PROJECT, called, copy_project

pytestmark = pytest.mark.slow

PAGE = (PROJECT / "docs/adding.md").read_text(encoding="utf-8")
PACKAGE = "scripts/verified/"


def blocks(heading: str) -> list[str]:
    section = re.split(r"\n#+ ", PAGE.split(f"# {heading}\n")[1])[0]
    return [textwrap.dedent(block) for block in re.findall(r"```python\n(.*?)```", section, re.DOTALL)]


@pytest.fixture
def copy(tmp_path) -> Path:
    return copy_project(tmp_path / "project")


def files_of(root: Path) -> dict[str, bytes]:
    """The files of the package, its rules and its configuration, by path."""
    parts = [root / name for name in ("config", "envs", "report", "rules", "scripts")]
    files = [file for part in parts for file in part.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in [root / "Snakefile", *files]}


def changed(folder: Path) -> set[str]:
    before, after = files_of(PROJECT), files_of(folder)
    return {name for name in before | after if before.get(name) != after.get(name)}


def edit(folder: Path, file: str, pattern: str, replacement: str) -> None:
    path = folder / PACKAGE / file
    text, count = re.subn(pattern, replacement, path.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
    assert count == 1, (file, pattern)
    path.write_text(text, encoding="utf-8")


def run(folder: Path, *command: str) -> subprocess.CompletedProcess:
    environment = {"PYTHONPATH": str(folder / "scripts"), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "VERIFIED_LOG": "snakemake"}
    return called([sys.executable, *command], folder, env=environment)


def planned(folder: Path, settings: dict) -> str:
    (folder / "mine.yaml").write_text(yaml.safe_dump(settings))
    plan = run(folder, "-m", "snakemake", "--dry-run", "--configfile", "mine.yaml")
    assert plan.returncode == 0, plan.stdout[-3000:]
    return plan.stdout


def nano() -> dict:
    return yaml.safe_load(NANO.read_text(encoding="utf-8"))


ASK = """
import sys
from verified.config.generation import Generation
from verified.lmm.session import Session
from verified.lmm.tasks.perturbations import POSITIVES
generation = Generation(llm={"engine": sys.argv[1], "model": "m"}, ledger="ledger")
with Session(generation, 1, [POSITIVES]) as session:
    call = session.call(POSITIVES, {"caption": "a dog runs", "count": "3"}, 3)
    print(*session.ask(POSITIVES, [call], 1)[0].parsed.items, sep="|")
"""


def test_an_engine_is_a_file_and_a_line(copy):
    file, line = blocks("An engine")
    (copy / PACKAGE / "lmm/engines/echo.py").write_text(file)
    edit(copy, "config/engines.py", r"^(ENGINES\b.*\n)", rf"\g<1>    {line.strip()}\n")
    assert changed(copy) == {f"{PACKAGE}lmm/engines/echo.py", f"{PACKAGE}config/engines.py"}
    for _ in range(2):
        asked = run(copy, "-c", ASK, "echo")
        assert asked.returncode == 0, asked.stdout
        assert asked.stdout.splitlines()[-1].split("|") == [f"a dog runs, once more, number {n}" for n in (1, 2, 3)]
    unknown = run(copy, "-c", ASK, "ecko")
    assert unknown.returncode
    assert all(f"'{name}'" in unknown.stdout for name in ("echo", "scene-reader", "vllm")), unknown.stdout
    settings = nano()
    settings["generation"] = {**settings.get("generation", {}), "llm": {"engine": "echo", "model": "m"}}
    assert "write_perturbations" in planned(copy, settings)


SHOW = """
import json, sys
from pathlib import Path
import numpy as np
from verified.benchmark.lists import Lists
from verified.benchmark.vcmr.metrics import Truth, per_query, percentage
from verified.benchmark.vcmr.results import write_per_query
from verified.tables.collect import Collection
from verified.tables.layout import TABLES
videos = np.arange(40) % 20
truth = Truth(np.arange(40), videos, np.tile([2.0, 6.0], (40, 1, 1)))
# Of every second query the true video is in the third row, of the others in the first.
rows = [np.array([[(v + (k + 2 * (q % 2)) % 4) % 20, 2, 6, 1 - k / 9] for k in range(4)]) for q, v in enumerate(videos)]
found = {task: per_query(task, truth, Lists.pad(rows)) for task in ("VCMR", "SVMR", "VR")}
values = {f"{task}/{name}": numbers for task, of_task in found.items() for name, numbers in of_task.items()}
folder = Path("results/nano/retrieval/xml/fig/seed-1/fig")
folder.mkdir(parents=True)
write_per_query(folder / "per_query.npz", truth.desc_id, [f"v{v}" for v in videos], values)
metrics = {task: {name: percentage(numbers) for name, numbers in of_task.items()} for task, of_task in found.items()}
said = dict(dataset="nano", model="xml", trained_on="fig", tested_on="fig", seed=1, split="test", queries=40, videos=20)
(folder / "metrics.json").write_text(json.dumps({**said, "parameters": 9, "nms_threshold": 0.6, "metrics": metrics}))
collection = Collection([str(folder / "metrics.json")], [])
for table in (table for table in TABLES if table.key in ("main-4", "main-5")):
    for (row, column), cell in collection.cells(table, "nano").items():
        if column.metric == "MRR" and row.method == "XML":
            print(json.dumps([table.key, column.task, cell.value, cell.low, cell.high]))
"""


def test_a_metric_is_a_function(copy):
    metrics = copy / PACKAGE / "benchmark/vcmr/metrics.py"
    metrics.write_text(f"{metrics.read_text(encoding='utf-8')}\n\n{blocks('A metric')[0]}", encoding="utf-8")
    assert changed(copy) == {f"{PACKAGE}benchmark/vcmr/metrics.py"}
    fixture = json.loads((PROJECT / "tests/fixtures/vcmr/eval_01_basic.json").read_text(encoding="utf-8"))
    (copy / "truth.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in fixture["ground_truth"]))
    (copy / "lists.json").write_text(json.dumps(fixture["submission"]))
    official = run(copy, "-m", "verified", "evaluate", "truth.jsonl", "lists.json", "--json")
    printed = json.loads(official.stdout)
    assert {task: printed[task] for task in fixture["expected"]["metrics"]} == fixture["expected"]["metrics"]
    assert "MRR" in printed["further"]["VCMR"]
    assert run(copy, "-m", "verified", "evaluate", "truth.jsonl", "lists.json").stdout.count("MRR") == 2
    shown = run(copy, "-c", SHOW)
    assert shown.returncode == 0, shown.stdout
    cells = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [cell[:2] for cell in cells] == [["main-4", "VCMR"], ["main-4", "VR"]]
    assert all(low < value < high and abs(value - 100 * (1 + 1 / 3) / 2) < 0.01 for *_, value, low, high in cells)


TABULATE = """
import json, sys
from pathlib import Path
from verified.config import read
from verified.tables.added import added_inputs, added_tables
from verified.tables.shown import Shown, shown_values
settings = read("config/nano.yaml")
files = added_inputs(settings)(None)
(moments,) = files["added_lengths"]
Path(moments).parent.mkdir(parents=True)
rows = [dict(split="test", start=0.0, end=end) for end in (1.0, 2.0, 4.0)]
Path(moments).write_text("".join(json.dumps(row) + chr(10) for row in rows))
(table,) = added_tables(Shown(**shown_values(settings)), None, dict(added_lengths=[moments]))
print(json.dumps([table.key, *table.texts()]))
"""


def test_a_table_is_a_file(copy):
    (copy / PACKAGE / "tables/added/lengths.py").write_text(blocks("A table")[0])
    assert changed(copy) == {f"{PACKAGE}tables/added/lengths.py"}
    plan = planned(copy, nano())
    (inputs,) = re.findall(r"rule build_tables:\n +input: (.*)", plan)
    assert "results/nano/corpus/moments.jsonl" in inputs
    made = run(copy, "-c", TABULATE)
    assert made.returncode == 0, made.stdout
    assert json.loads(made.stdout) == ["lengths", ["Nano-FIG", "test", "3", "2.00"]]


SUBTITLES = """1
00:00:00,000 --> 00:00:01,500
A red ball
rolls.

2
00:00:01,500 --> 00:00:03,000
It stops.
"""


def test_a_source_is_a_file_and_a_line(copy):
    file, line = blocks("A kind of source")
    (copy / PACKAGE / "config/sources/subtitled.py").write_text(file)
    init = "config/sources/__init__.py"
    edit(copy, init, r"^(from verified.config.sources.section .*\n)", rf"\g<1>{line.strip()}\n")
    edit(copy, init, r"^(Source = Annotated\[)", r"\g<1>SubtitledSource | ")
    printed = run(copy, "-m", "verified", "dev", "config-docs")
    assert printed.returncode == 0 and "source(subtitled).videos" in printed.stdout, printed.stdout
    assert changed(copy) == {f"{PACKAGE}config/sources/subtitled.py", PACKAGE + init}
    settings = nano()
    settings["datasets"]["nano"]["source"] = {"kind": "subtitled", "videos": "videos"}
    settings["evaluator"]["batch"] = 2
    (copy / "videos").mkdir()
    for number in range(6):
        media.write_video(copy / f"videos/v{number}.mp4", media.counted(28))
        (copy / f"videos/v{number}.srt").write_text(SUBTITLES)
    plan = planned(copy, settings)
    assert all(f"rule {rule}:" in plan for rule in ("list_moments", "finetune_evaluator", "build_tables")), plan[-3000:]
    checked = run(copy, "-m", "verified", "check", "--configfile", "mine.yaml")
    assert "12 moments" in checked.stdout and "6 of 6 videos were opened, all can be read" in checked.stdout
    target = "results/nano/corpus/moments.jsonl"
    built = run(copy, "-m", "snakemake", "--cores", "1", "--configfile", "mine.yaml", "--", target)
    assert built.returncode == 0, built.stdout[-3000:]
    rows = [json.loads(row) for row in (copy / target).read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 12 and rows[0]["caption"] == "A red ball rolls."
    assert (rows[1]["start"], rows[1]["end"]) == (1.5, 3)
    assert len({row["split"] for row in rows}) > 1, "no row names a split: the seed divides the videos"


def test_an_extension_with_a_stage_and_a_prompt_task_is_a_folder(copy):
    section = PAGE.split("# An extension\n")[1].split("\n### ")[0]
    files = re.findall(r"^`(extensions/mood/[\w./]+)`:.*?\n```\w+\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    for name, text in files:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(text)
    assert len(files) == 6 and not changed(copy)
    (switched_on,) = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    (copy / "mine.yaml").write_text(yaml.safe_dump(nano() | yaml.safe_load(switched_on)))
    (target,) = re.findall(r"^snakemake --cores all (\S+)", section, re.MULTILINE)
    made = run(copy, "-m", "snakemake", "--cores", "2", target, "--configfile", "mine.yaml")
    assert made.returncode == 0, made.stdout[-3000:]
    rows = [json.loads(line) for line in (copy / target).read_text().splitlines()]
    assert rows and all(row["mood"] == "calm" for row in rows)
    assert "`mood.least_seconds`" in run(copy, "-m", "verified", "dev", "config-docs").stdout
    counted = run(copy, "-m", "verified", "quote", "--configfile", "mine.yaml").stdout
    (row,) = [line.split() for line in counted.splitlines() if "mood/word" in line]
    assert 0 < int(row[3]) <= len(rows) and row[4] == "0", counted  # moments with one caption share a call
