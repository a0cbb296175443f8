"""Odd paths, hostile texts and files of strangers, tried through the program's own commands alone.

One run on hostile names and captions is built once.
"""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import endpoint
from media import scenes, write_video
from running import snakemake

pytestmark = [pytest.mark.night, pytest.mark.timeout(3600)]

ROOT, PROGRAM = os.geteuid() == 0, str(Path(sys.executable).with_name("verified"))
XML = "results/nano/retrieval/xml"


def misses(cases: dict[str, object]) -> list[str]:
    """The cases that do not hold."""
    return [case for case, held in cases.items() if not held]


def said_by(folder: Path, *arguments, program: str = PROGRAM, **more) -> tuple[str, int]:
    """What a command says on both streams, and its status."""
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "timeout": 900} | more
    done = subprocess.run([program, *map(str, arguments)], cwd=folder, **more)
    return done.stdout, done.returncode


MEASURED = """import resource, subprocess, sys
try:
    done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    print(done.stdout[-2000:], done.returncode, sep="\\n")
except subprocess.TimeoutExpired:
    print("no end\\n-1")
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"""


def orderly(folder: Path, *call) -> dict[str, bool]:
    """A call ends within two minutes, of a busy machine, in a sentence, and takes less than 1,500 MB."""
    said, _ = said_by(folder, "-c", MEASURED, *call, program=sys.executable)
    *lines, ended, megabytes = said.splitlines()
    worded = bool("".join(lines)) and "Traceback" not in said
    return {f"{call[1:]}: {said[-300:]}": worded and int(ended) > 0 and int(megabytes) < 1500}


def test_paths(nano, tmp_path):
    """Paths that are no ordinary files end in a sentence; a folder that takes no writes is called so."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.yaml").write_text("name: " + "a" * 60_000_000 + "\n")
    cases = {}
    for path in ("n" * 300 + ".yaml", "/proc/self/mem", "pipe", "/dev/zero", ".", "large.yaml"):
        for words in (["check", "--offline"], ["plan"], ["verify"], ["quote"]):
            cases |= orderly(tmp_path, PROGRAM, *words, "--configfile", path)
    for words in (["lint", "pipe"], ["evaluate", "pipe", "pipe"], ["import", "xml", "pipe"]):
        cases |= orderly(tmp_path, PROGRAM, *words)
    cases["a pipe is not called missing"] = "no such file" not in said_by(tmp_path, "lint", "pipe")[0]
    assert not misses(cases)
    if not ROOT:
        pytest.skip("only root can mount a folder read-only")
    folder, cases = tmp_path / "run" / "results", {}
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", folder], check=True)
    try:
        for words in (
            ["compare", "results/nano/annotations/fig/test.jsonl", f"{XML}/fig", f"{XML}/cog"],
            ["ledger", "export"],
            ["init", "mine", "--no-moments", "--model", "m"],
        ):
            said, status = said_by(nano, *words, "--output", folder / ("a.parquet" if words[0] == "ledger" else "a"))
            worded = "read-only" in said.lower() and not re.search("make room|Traceback", said)
            cases[f"{words}: {said[-300:]}"] = status > 0 and worded
        started = snakemake(tmp_path / "run", "--cores", "1", "results/tables")
        cases[started.stdout[-300:]] = (
            bool(started.returncode) and "choose a folder" in started.stdout and "Traceback" not in started.stdout
        )
    finally:
        subprocess.run(["umount", folder], check=True)
    assert not misses(cases)


HOSTILE = r"""<script>alert(1)</script> ¦ <img src=x onerror=alert(1)> ¦ </script><svg/onload=alert(1)> ¦ <!-- comment
¦ " onmouseover="alert(1) ¦ ' onfocus='alert(1)' autofocus=' ¦ javascript:alert(1) ¦ </title></style><i>out</i>
¦ ]]><b>bold</b> ¦ ${alert(1)} {{7*7}} `alert(1)` ¦ &lt;script&gt;alert(1)&lt;/script&gt; ¦ a"""
HOSTILE += (
    "\u202egpj.exe ¦ a\u2066b\u2069 \u200f c"
    + r""" ¦ \input{/etc/passwd} ¦ 100% of $x_1$ & #2 ~ ^ {} \
¦ \end{tabular}\write18{id} ¦ ../../../etc/passwd ¦ ..\..\boot.ini ¦ ; rm -rf ~ | id && $(id)
¦ =cmd|'/C calc'!A0 ¦ =HYPERLINK("http://x","y") ¦ +1+1 ¦ -1-1 ¦ @SUM(1)"""
)
TEXTS = [text.strip() for text in HOSTILE.split("¦")]
BIDI, ELEMENT = re.compile("[\u202a-\u202e\u2066-\u2069]"), re.compile("<[a-z/!]")
NUMBER = re.compile(r"[-+]?[\d.,e+-]+ ?%?|[-–+]+|[-+][\d.]+ \[.*")


def corpus_in(folder: Path, url: str, captions: list[str]) -> Path:
    """A configuration of a corpus with a video for each three captions, named by them where a file can be."""
    (folder / "videos").mkdir(parents=True)
    rows, role = [], f'{{engine: openai, model: loop-1, base_url: "{url}", api_key_variable: TRIAL_KEY}}'
    for n, caption in enumerate(captions):
        if n % 3 == 0:
            video = f"v{n} " + re.sub(r"[/\\]|\.\.|[\u2000-\u206f]", "_", caption) + ".mp4"
            write_video(folder / "videos" / video, scenes([24, 24, 24], seed=n), 8)
        times = {"start": n % 3 * 3, "end": n % 3 * 3 + 3, "split": ("train", "val", "test")[n // 3 % 3]}
        rows.append({"video": video, "caption": f"{caption} a ball", **times})
    (folder / "moments.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = "{kind: folder, videos: videos, moments: moments.jsonl}"
    (folder / "trial.yaml").write_text(f"""name: trial
shards: 1
datasets: {{trial: {{title: Trial, source: {source}}}}}
generation: {{llm: {role}, image_lmm: {role}, video_lmm: {role}}}
evaluator: {{epochs: 1, batch: 4}}
retrieval: {{models: []}}
""")
    return folder / "trial.yaml"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The folder of a run on hostile names and captions, with its pages, tables and exports."""
    folder, env = tmp_path_factory.mktemp("hostile"), os.environ | {"TRIAL_KEY": "sk-trial"}
    with endpoint() as served:
        config = corpus_in(folder, served.url, TEXTS)
        tables = snakemake(folder, "--cores", "2", "results/trial/tables", config=config, env=env)
        assert tables.returncode == 0, tables.stdout[-3000:]
        for words in (["export", "--form", "csv", "charades-sta"], ["report"]):
            said, status = said_by(folder, *words, "--configfile", config, env=env)
            assert status == 0, said[-3000:]
    return folder


def test_formulas(hostile):
    """No cell of a CSV is a formula, and each caption can be read back."""
    cases, text = {}, ""
    for path in sorted((hostile / "results/trial").rglob("*.csv")):
        with path.open(newline="", encoding="utf-8") as opened:
            cells = [cell for row in csv.reader(opened) for cell in row]
        live = [cell for cell in cells if re.match(r"\s*[=+\-@\t\r]", cell) and not NUMBER.fullmatch(cell)]
        cases[f"{path.relative_to(hostile)}: {live[:3]}"] = not live
        text += "\n".join(cells) if "export" in path.parts else ""
    assert not misses(cases)
    coarse = " ".join(path.read_text() for path in (hostile / "results/trial/annotations/fig").glob("*.jsonl"))
    annotated = [caption for caption in TEXTS[19:] if json.dumps(caption)[1:-1] in coarse]
    assert not misses({caption: f"{caption} a ball" in text for caption in annotated})


def test_pages(hostile):
    """Pages and LaTeX tables: none of the strings stands in them as it would act."""
    built = sorted((hostile / "results/trial").rglob("*.*"))
    pages = {path.name: path.read_text(encoding="utf-8") for path in built if path.suffix == ".html"}
    tables = {path.name: path.read_text(encoding="utf-8") for path in built if path.suffix == ".tex"}
    assert len(pages) > 9 and len(tables) > 9
    cases = {}
    for text in TEXTS:
        acts, among = re.escape(text), tables
        if ELEMENT.search(text) or "alert" in text or BIDI.search(text):
            among = pages
        if BIDI.search(text):
            acts = BIDI.pattern
        elif not ELEMENT.search(text) and "alert" in text:
            acts = r"""(href|src)=["']?""" + acts if text.startswith("java") else "<[^<>]*" + acts
        cases[text] = not [name for name, page in among.items() if re.search(acts, page)]
    assert not misses(cases)


def test_captions_pass_the_lint(hostile):
    """What a run has chosen as captions is nothing that its lint, as it is by default, would stop the run for."""
    files = sorted((hostile / "results/trial/annotations/fig").glob("*.jsonl"))
    assert not misses({path.name: said_by(hostile, "lint", path)[1] == 0 for path in files})


HEAD, ROW = "video,start,end,caption", "a.mp4,0,2,a ball rolls\n"
CSV, LINE = f"{HEAD}\n{ROW}", '{"video": "a.mp4", "start": 0, "end": 2, "caption": "a ball rolls"}\n'
BAD_ROWS = """a.mp4,0|a.mp4,0,2,a ball,rolls|a.mp4,nan,2,a|a.mp4,0,inf,a|a.mp4,-1,2,a|a.mp4,2,1,a|a.mp4,1,1,a
a.mp4,0:00,0:02,a|a.mp4,"0,5","1,5",a|a.mp4,0,2,|a.mp4,0,2,\u00a0\u2003|b.mp4,0,2,a|/etc/passwd,0,2,a|../a.mp4,0,2,a
a.mp4,0,2,"a ball|,0,2,a|a.mp4,,2,a|a.mp4,0,2 s,a""".replace("\n", "|").split("|")
BAD_KEYS = {",desc_id": ("1", f"1|{2**70}|seven|1.5|-1"), ",split": ("test", "../x|a b")}
BAD_VALUES = (("0", "NaN"), ("2", "true"), ("2", "9" * 5000), ('"a ball rolls"', "null"), ('"a ball rolls"', '["a"]'))
STRANGE = [  # ending, content, what the answer must hold; "" where the file is taken
    *(("csv", content, "") for content in ("\ufeff" + CSV, CSV.replace("\n", "\r\n"), CSV.replace("\n", "\n\n"))),
    *(
        ("csv", f"{CSV}{row}\n", "row 3")
        for row in (*BAD_ROWS, "a.mp4,0," + "9" * 5000 + ",a", "a.mp4,0,2," + "a b" * 33_334)
    ),
    *(
        ("csv", f"{HEAD}{key}\n{ROW[:-1]},{good}\na.mp4,0,2,a,{bad}\n", "row 3")
        for key, (good, several) in BAD_KEYS.items()
        for bad in several.split("|")
    ),
    *(("jsonl", LINE + LINE.replace(old, new), "row 2") for old, new in BAD_VALUES),
    *(
        ("jsonl", LINE + bad + "\n", "row 2")
        for bad in (LINE[:30], LINE.replace("{", '{"end": 3, '), "[" * 50_000, "[]", "7")
    ),
    ("jsonl", LINE + LINE.replace("ball", "b\\ud800"), ""),
    *(("csv", content, "lacks") for content in ("", "\n \n\n", ROW, LINE, f"video,start,caption\n{ROW}")),
    *((ending, CSV, "ends in") for ending in ("xlsx", "txt", "parquet")),
    ("csv", CSV.encode("utf-16"), "UTF-8"),
    ("csv", f"{HEAD}\na.mp4,0,2,caf\xe9\n".encode("latin-1"), "row 2"),
    ("csv", CSV.replace(",", "\t"), "tabs"),
    ("csv", CSV.replace(",", ";"), "semicolons"),
    ("csv", f"{HEAD}\n", "no moments"),
    ("csv", f"{HEAD},start\na.mp4,0,2,a,1\n", "twice"),
    ("csv", CSV + "a.mp4,0,2,a\0b\n", "NUL"),
    ("jsonl", CSV, "row 1"),
]


def test_strange_files(tmp_path):
    """All in one configuration: each file is taken, or told of by its name, or its key, and row."""
    (tmp_path / "videos").mkdir()
    write_video(tmp_path / "videos" / "a.mp4", scenes([24]), 8)
    lines = ["name: strange", "retrieval: {models: []}", "datasets:"]
    for n, (ending, content, _) in enumerate(STRANGE):
        path = tmp_path / f"strange{n:02}.{ending}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        source = f"{{kind: folder, videos: videos, moments: {path.name}}}"
        lines.append(f"  strange{n:02}: {{title: S{n:02}, source: {source}}}")
    (tmp_path / "strange.yaml").write_text("\n".join(lines) + "\n")
    answer, _ = said_by(tmp_path, "check", "--offline", "--configfile", "strange.yaml")
    cases = {}
    for n, (_, content, needed) in enumerate(STRANGE):
        said = [line for line in answer.splitlines() if f"datasets.strange{n:02}.source" in line]
        worded = [line for line in said if (needed in line and line[:2] != "ok" if needed else line[:2] == "ok")]
        cases[f"{content[-99:]!r}: {said}"] = bool(worded) and "Traceback" not in answer
    assert not misses(cases)
