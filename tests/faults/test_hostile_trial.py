"""Damage, stale copies, hostile texts and kills, tried through the program's own commands alone.

One nano run, and one run on hostile names and captions, are built once. A table says how many of each kind held.
"""

import base64
import codecs
import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from loopback import completion, endpoint, sensible
from media import scenes, write_video
from running import NANO, command, digests, snakemake

pytestmark = [pytest.mark.night, pytest.mark.timeout(3600)]

SEED = int(os.environ.get("VERIFIED_TRIAL_SEED", "58"))
ROOT, PROGRAM = os.geteuid() == 0, str(Path(sys.executable).with_name("verified"))
XML, STATICS = "results/nano/retrieval/xml", "results/nano/captions/statics/shard-00.jsonl"
ROWS: list[tuple[str, int, int]] = []


@pytest.fixture(scope="module", autouse=True)
def table(request):
    """The table of what was tried, printed when all is done."""
    yield
    lines = [f"{name} | {held} of {tried}" for name, held, tried in ROWS]
    with request.config.pluginmanager.get_plugin("capturemanager").global_and_fixture_disabled():
        print(f"\nseed {SEED}\ntrial | held of tried", *lines, sep="\n")


def judge(name: str, cases: dict[str, object]) -> None:
    """Add a row to the table; every case must hold."""
    ROWS.append((name, sum(map(bool, cases.values())), len(cases)))
    assert not [case for case, held in cases.items() if not held]


def said_by(folder: Path, *arguments, program: str = PROGRAM, **more) -> tuple[str, int]:
    """What a command says on both streams, and its status."""
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "timeout": 900} | more
    done = subprocess.run([program, *map(str, arguments)], cwd=folder, **more)
    return done.stdout, done.returncode


def copy_of(run: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    return shutil.copytree(run, to, symlinks=True)


# Damage: which file, read by which job, is drawn from the records that the run itself left.


def records(run: Path) -> dict[str, dict]:
    found = sorted((run / "results").rglob(".*.seal"))
    return {path.relative_to(run).as_posix(): json.loads(path.read_text().splitlines()[0]) for path in found}


def rewrite(path: Path, data: bytes) -> None:
    """Other content and the same times, so that nothing but the content tells."""
    times = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def exchange(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    rewrite(one, second)
    rewrite(other, first)


def foreign(run: Path, record: str, of: dict) -> None:
    """All files of a job, with their record, from the job of another model or shard of the same rule."""
    theirs = next(name for name in of if name != record and of[name]["rule"] == of[record]["rule"])
    for own, other in zip(sorted(of[record]["files"]), sorted(of[theirs]["files"]), strict=True):
        shutil.copy2(run / "results" / other, run / "results" / own)
    shutil.copy2(run / theirs, run / record)


DAMAGE = {
    "truncated file": lambda run, file, *_: rewrite(file, file.read_bytes()[: file.stat().st_size * 2 // 3]),
    "flipped byte": lambda run, file, *_: rewrite(file, flip(file.read_bytes(), file.stat().st_size // 2)),
    "zero-filled file": lambda run, file, *_: rewrite(file, bytes(file.stat().st_size)),
    "two files swapped": lambda run, file, record, of, twin: exchange(file, run / "results" / twin),
    "missing record": lambda run, file, record, *_: (run / record).unlink(),
    "empty record": lambda run, file, record, *_: rewrite(run / record, b""),
    "file with its record from elsewhere": lambda run, file, record, of, twin: foreign(run, record, of),
}


def drawn(draw: random.Random, of: dict) -> list[SimpleNamespace]:
    """Twelve files for each kind of damage, each with a job that reads it."""
    whole = {file: (record, about.get("sha256")) for record in of for file, about in of[record]["files"].items()}
    rules = [record["rule"] for record in of.values()]
    read = [(file, reader) for reader in of for file in of[reader]["made_of"]]
    cases = []
    for kind in DAMAGE:
        possible = [
            (file, reader)
            for file, reader in read
            if "elsewhere" not in kind or rules.count(of[whole[file][0]]["rule"]) > 1
        ]
        for file, reader in draw.sample(possible, 12):
            twins = [name for name in whole if Path(name).suffix and whole[name][1] != whole[file][1]]
            twin = draw.choice([name for name in twins if name not in of[reader]["made_of"]])
            target = "results/" + min(of[reader]["files"])
            cases.append(SimpleNamespace(kind=kind, file=file, record=whole[file][0], twin=twin, target=target))
    return cases


def test_damage(nano, tmp_path):
    """Each damaged file is named by `verify`, and by the next job that reads it, which makes nothing of it."""
    of = records(nano)
    outcomes: dict[str, dict] = {}
    for one in drawn(random.Random(SEED), of):
        run = copy_of(nano, tmp_path / "run")
        path = run / "results" / one.file
        DAMAGE[one.kind](run, min(path.glob("*.mp4")) if path.is_dir() else path, one.record, of, one.twin)
        named = said_by(run, "verify")[0]
        said = snakemake(run, "--cores", "2", "--force", one.target).stdout
        errors = "\n".join(line for line in said.splitlines() if " error: " in line)
        stopped = any(f"results/{file}" in errors for file in of[one.record]["files"])
        case = f"{one.file}, read for {one.target}"
        outcomes.setdefault(f"{one.kind}, found by verify", {})[case] = one.file in named
        refused = stopped and not (run / one.target).exists()
        outcomes.setdefault(f"{one.kind}, refused by the job that reads it", {})[case] = refused
    ROWS.extend((name, sum(cases.values()), len(cases)) for name, cases in outcomes.items())
    assert not [(name, case) for name, cases in outcomes.items() for case, held in cases.items() if not held]


def test_stale_copy(nano, tmp_path):
    """Files of an earlier training that are put back with their record and times, after another one."""
    run, other = copy_of(nano, tmp_path / "run"), tmp_path / "other.yaml"
    other.write_text(NANO.read_text().replace("    xml:\n", "    xml:\n      learning_rate: 0.01\n"))
    folder = f"{XML}/fig/seed-2018/fig"
    assert snakemake(run, "--cores", "2", f"{folder}/metrics.json", config=other).returncode == 0
    for file in (nano / folder).iterdir():
        shutil.copy2(file, run / folder / file.name)
    found, status = said_by(run, "verify")
    tables = snakemake(run, "--cores", "2", "--force", "results/nano/tables", config=other).stdout
    compared, _ = said_by(run, "compare", "results/nano/annotations/fig/test.jsonl", f"{XML}/fig", f"{XML}/cog")
    names = ("metrics.json", "submission.json.gz", "per_query.npz")
    cases = {f"verify: {name}": status == 1 and f"{folder}/{name}: damaged" in found for name in names}
    cases["tables"] = f"error: {folder}/" in tables
    cases["compare"] = f"error: {folder}/submission.json.gz: damaged" in compared
    judge("stale copy with its own record", cases)


def cassettes(path: Path, config: Path) -> Path:
    """The nano configuration with all answers from a cassette."""
    roles = [f"  {role}: {{engine: cassette, cassette: {path}}}\n" for role in ("llm", "image_lmm", "video_lmm")]
    config.write_text(NANO.read_text() + "generation:\n" + "".join(roles))
    return config


def edited(nano: Path, path: Path, task: str, edit) -> Path:
    """A cassette of the run in which one answer is another."""
    assert said_by(nano, "ledger", "export", "--output", path)[1] == 0
    rows = pq.read_table(path)
    texts, at = rows["text"].to_pylist(), rows["task"].to_pylist().index(task)
    texts[at] = edit(texts[at])
    place = rows.schema.get_field_index("text")
    field = rows.schema.field(place)
    pq.write_table(rows.set_column(place, field, pa.array(texts, field.type)), path, compression="zstd")
    return path


def test_answers(nano, tmp_path):
    """A byte of a recorded answer, and an answer of a cassette, are changed."""
    run, draw = copy_of(nano, tmp_path / "run"), random.Random(SEED)
    parts = {path: path.read_bytes().split(b"\n") for path in sorted((run / "results/ledger").iterdir())}
    lines = [(path, n) for path, all_of in parts.items() for n, line in enumerate(all_of) if b'"text":"' in line]
    for path, n in draw.sample(lines, 12):
        parts[path][n] = flip(parts[path][n], parts[path][n].index(b'"text":"') + 9)
    for path, all_of in parts.items():
        path.write_bytes(b"\n".join(all_of))
    found = int(re.search(r"(\d+) faults", said_by(run, "ledger", "verify")[0])[1])
    judge("altered answers found by ledger verify", {f"{n} of 12": n <= found for n in range(1, 13)})
    shards = [f"results/nano/captions/{kind}/shard-0{n}.jsonl" for kind in ("statics", "dynamics") for n in (0, 1)]
    snakemake(run, "--cores", "2", "--force", *shards)
    same = {name: (run / name).is_file() and (run / name).read_bytes() == (nano / name).read_bytes() for name in shards}
    judge("altered answers not used by a job", same)
    cases = {}
    for task in ("statics_candidates", "keyframe_description", "dynamics_candidates"):
        config = cassettes(edited(nano, tmp_path / f"{task}.parquet", task, "{} ".format), tmp_path / f"{task}.yaml")
        said = snakemake(tmp_path / task, "--cores", "2", STATICS, config=config)
        cases[task] = said.returncode and f"{task}.parquet: " in said.stdout and "Traceback" not in said.stdout
    judge("cassette with an edited answer refused", cases)


MEASURED = """import resource, subprocess, sys
try:
    done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    print(done.stdout[-2000:], done.returncode, sep="\\n")
except subprocess.TimeoutExpired:
    print("no end\\n-1")
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"""


def orderly(folder: Path, *call, status: int = 1) -> dict[str, bool]:
    """A call ends within two minutes, of a busy machine, in a sentence, and takes less than 1,500 MB."""
    said, _ = said_by(folder, "-c", MEASURED, *call, program=sys.executable)
    *lines, ended, megabytes = said.splitlines()
    worded = bool("".join(lines)) and "Traceback" not in said
    return {f"{call[1:]}: {said[-300:]}": worded and int(ended) >= status and int(megabytes) < 1500}


def test_bounds(nano, tmp_path):
    """What claims to be large costs neither memory nor time."""
    torch.save({f"layer{n}": torch.zeros(1).expand(40_000, 25_000) for n in range(3)}, tmp_path / "expanded.pth")
    (tmp_path / "scalar.yaml").write_text("name: " + "a" * 60_000_000 + "\n")
    large = edited(nano, tmp_path / "large.parquet", "answers", lambda text: "a" * 400_000_000)
    config = cassettes(large, tmp_path / "large.yaml")
    judge("expanded checkpoint", orderly(tmp_path, PROGRAM, "import", "xml", "expanded.pth"))
    scalar = [orderly(tmp_path, PROGRAM, *words, "--configfile", "scalar.yaml") for words in (["check"], ["plan"])]
    judge("YAML scalar of 60 MB", scalar[0] | scalar[1])
    job = orderly(tmp_path, *command(tmp_path / "run", "--cores", "1", STATICS, config=config))
    checked = orderly(tmp_path, PROGRAM, "check", "--offline", "--configfile", config, status=0)
    judge("answer of 400 MB in a small cassette", job | checked)


def test_paths(nano, tmp_path):
    """Paths that are no ordinary files end in a sentence; a folder that takes no writes is called so."""
    os.mkfifo(tmp_path / "pipe")
    cases = {}
    for path in ("n" * 300 + ".yaml", "/proc/self/mem", "pipe", "/dev/zero", "."):
        for words in (["check", "--offline"], ["plan"], ["verify"], ["quote"]):
            cases |= orderly(tmp_path, PROGRAM, *words, "--configfile", path)
    for words in (["lint", "pipe"], ["evaluate", "pipe", "pipe"], ["import", "xml", "pipe"]):
        cases |= orderly(tmp_path, PROGRAM, *words)
    cases["a pipe is not called missing"] = "no such file" not in said_by(tmp_path, "lint", "pipe")[0]
    judge("long name, /proc/self/mem, pipe, device, folder", cases)
    if not ROOT:
        pytest.skip("only root can mount a folder read-only")
    folder, cases = tmp_path / "read-only", {}
    folder.mkdir()
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
    finally:
        subprocess.run(["umount", folder], check=True)
    judge("read-only folder", cases)


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
KEY = "Qx7vLm2Zr9TbKd4W"
ECHOES = {
    **{"plain": KEY, "reversed": KEY[::-1], "upper": KEY.upper(), "spaced": " ".join(KEY), "hyphens": "-".join(KEY)},
    **{"rot13": codecs.encode(KEY, "rot13"), "hex": KEY.encode().hex(), "base64": base64.b64encode(KEY.encode())},
    **{"base32": base64.b32encode(KEY.encode()), "full-width": "".join(chr(ord(c) + 0xFEE0) for c in KEY)},
    **{"escaped": "".join(f"\\u{ord(c):04x}" for c in KEY), "percent": "".join(f"%{ord(c):02X}" for c in KEY)},
}
ECHOES = {name: echo.decode() if isinstance(echo, bytes) else echo for name, echo in ECHOES.items()}


def corpus_in(folder: Path, url: str, captions: list[str], title: str = "Trial") -> Path:
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
datasets: {{trial: {{title: {json.dumps(title)}, source: {source}}}}}
generation: {{llm: {role}, image_lmm: {role}, video_lmm: {role}}}
evaluator: {{epochs: 1, batch: 4}}
retrieval: {{models: []}}
""")
    return folder / "trial.yaml"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The folder of a run on hostile names and captions, with its pages, tables and exports."""
    folder, env = tmp_path_factory.mktemp("hostile"), os.environ | {"TRIAL_KEY": KEY}
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
    judge("CSV files without formulas", cases)
    coarse = " ".join(path.read_text() for path in (hostile / "results/trial/annotations/fig").glob("*.jsonl"))
    kept = [caption for caption in TEXTS[19:] if json.dumps(caption)[1:-1] in coarse]
    judge("formulas of captions read back from CSV", {caption: f"{caption} a ball" in text for caption in kept})


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
    judge("hostile strings in pages and LaTeX", cases)


def test_captions_pass_the_lint(hostile):
    """What a run has chosen as captions is nothing that its lint, as it is by default, would stop the run for."""
    files = sorted((hostile / "results/trial/annotations/fig").glob("*.jsonl"))
    judge("chosen captions that pass the lint", {path.name: said_by(hostile, "lint", path)[1] == 0 for path in files})


def test_echoed_key(tmp_path):
    """An endpoint that puts its key into answers, in twelve forms: no file and no output holds one."""

    def script(number, body):
        echo = list(ECHOES.values())[number % 12]
        return completion(sensible(body).replace("Desc:", f"{echo}\n\nDesc:"), reasoning_content=echo)

    env, target = os.environ | {"TRIAL_KEY": KEY}, "results/trial/captions/statics/shard-00.jsonl"
    with endpoint(script) as served:
        config = corpus_in(tmp_path, served.url, [f"thing {n}" for n in range(24)])
        kept = snakemake(tmp_path, "--cores", "2", target, config=config, env=env).stdout
        kept += said_by(tmp_path, "check", "--configfile", config, env=env)[0]
        assert len(served.bodies) > 24, kept[-3000:]
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".mp4"]
    kept += "".join(path.read_bytes().decode("utf-8", "replace") for path in files)
    escaped = {name: json.dumps(echo)[1:-1] for name, echo in ECHOES.items()}
    forms = {name: (echo, escaped[name], escaped[name].replace("\\", "\\\\")) for name, echo in ECHOES.items()}
    judge("echoed key masked", {name: not any(form in kept for form in forms[name]) for name in ECHOES})


def test_script_in_configuration(tmp_path):
    """A script in a text of the configuration is refused before it reaches a report."""
    config = corpus_in(tmp_path, "http://127.0.0.1:9/v1", ["thing"] * 9, "Evil <script>alert(301)</script>")
    done = snakemake(tmp_path, "--cores", "1", "-n", "results/tables", config=config)
    runs = {words: said_by(tmp_path, *words.split(), "--configfile", config) for words in ("check", "report", "plan")}
    runs["snakemake"] = (done.stdout, done.returncode)
    judge("script in a title refused", {words: status and "title" in said for words, (said, status) in runs.items()})


def test_kills(nano, tmp_path):
    """Six kills, a second run beside the first and a disk that is full for a while leave an unbroken run's bytes."""
    folder, draw, log = tmp_path / "run", random.Random(SEED), tmp_path / "log"
    folder.mkdir()
    if ROOT:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", folder], check=True)
    try:
        count, words, lack = len(records(nano)), ("--cores", "2", "results/tables"), ""
        for n, moment in enumerate(sorted(draw.sample(range(3, count - 4), 6))):
            with log.open("w") as opened:
                run = subprocess.Popen(command(folder, *words), stdout=opened, stderr=subprocess.STDOUT)
            while run.poll() is None and len(list((folder / "results").rglob(".*.seal"))) < moment:
                time.sleep(0.1)
            if n == 1:
                beside = snakemake(folder, *words)
            if n == 3 and ROOT:
                (folder / ".filler").write_bytes(bytes(shutil.disk_usage(folder).free - 200_000))
                run.wait()
                lack = log.read_text()
                (folder / ".filler").unlink()
            time.sleep(draw.random())
            run.send_signal((signal.SIGKILL, signal.SIGTERM)[n % 2])
            run.wait()
            snakemake(folder, "--unlock")
        last = snakemake(folder, *words)
        assert last.returncode == 0, last.stdout[-3000:]
        mine, unbroken = digests(folder), digests(nano)
        lines = [line for part in (folder / "results/ledger").iterdir() for line in part.read_text().splitlines()]
        keys = [found[1] for line in lines if (found := re.search(r'"key":"(\w+)"', line))]
        calls = [said_by(run, "ledger", "stats")[0].splitlines()[-1].split(",")[0] for run in (folder, nano)]
        full = {"a sentence": "No space left" in lack or "full" in lack, "bytes": mine == unbroken}
        full["no traceback"] = not re.search(r'File ".*/scripts/', lack)  # Snakemake's own may have one
    finally:
        if ROOT:
            subprocess.run(["umount", "-l", folder], check=True)
    judge("a second run refused", {beside.stdout[-500:]: beside.returncode and "lock" in beside.stdout.lower()})
    judge("files equal after six kills", {file: mine.get(file) == unbroken.get(file) for file in mine | unbroken})
    judge("calls made once over six kills", {f"{n}": keys.count(key) == 1 for n, key in enumerate(keys)})
    assert calls[0] == calls[1] == f"{len(keys)} calls"
    if ROOT:
        judge("a full disk, then resumed", full | {lack[-2000:]: all(full.values())})


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
    judge("files of strangers", cases)
