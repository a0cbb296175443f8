"""One of each page that is a file, small, with captions that try to be markup: for looks, keyboards, screen readers."""

import importlib
import sys
from pathlib import Path

import numpy as np
from captioning import make_tar
from given import fig
from media import counted, write_video

from verified.benchmark.comparison.page import write_comparison
from verified.benchmark.comparison.runs import Run
from verified.benchmark.submissions import Query
from verified.io.pages import still_page
from verified.keyframes.extract import encode_jpeg
from verified.people.pages import STUDY, Page, write_pages
from verified.report.captions import Thumbnails, generated_rows, write_browser
from verified.report.front import Corpus
from verified.report.summary import write_summary
from verified.tables.table import Estimate, Table
from verified.tables.write import write_simple

GALLERIES = sorted(Path(__file__).parents[1].glob("extensions/*/tests/gallery_*.py"))
sys.path += [str(file.parent) for file in GALLERIES]
ADDED = [importlib.import_module(file.stem) for file in GALLERIES]
"""The same of extensions."""
COARSE = ("a ball moves", "a person opens the fridge", "two <b>stars</b> touch", "someone washes a cup")
FINE = (
    "one large red ball with dark dots moves to the left until it touches an orange box, then the background changes",
    "a person in a striped shirt opens the white fridge slowly, takes out a bottle of milk and closes it with a foot",
    "two <b>white</b> stars travel fast towards the top",
    "someone dries a blue cup with a towel that hangs beside the window",
)
NAMES = (
    *("front", "captions", "verdicts", "table", "comparison", "study"),
    *(name for module in ADDED for name in module.NAMES),
)
MODELS = ("HERO", "XML", "ReLoCLNet", "CONQUER", "SQuiDNet")
VERDICTS = "table,dataset,method,train,test,task,metric,value,ours,difference,tolerance,verdict,note\n"


def annotations(count: int = 24) -> list[dict]:
    """Rows as `read_splits` gives them."""
    rows = []
    for n in range(count):
        start = 2.0 * (n % 4)
        said = {"cog_desc": COARSE[n % 4], "fig_desc": FINE[n % 4], "fig_desc_score": n / 7 - 1}
        said |= {"fig_desc_type": ("statics", "dynamics")[n % 2], "split": ("test", "train")[n % 2]}
        rows.append(fig(n, f"kitchen-{n // 4:02d}", start, start + 7.5, duration=31.0, **said))
    return rows


def keyframes(path: Path, idents: list[int]) -> str:
    images = {}
    for ident in idents:
        pictures = np.zeros((3, 90, 160, 3), np.uint8)
        for number, picture in enumerate(pictures):
            picture[...] = (40 + 7 * ident % 180, 90 + 40 * number, 160)
            picture[30:60, 20 + 40 * number : 50 + 40 * number] = 240
        images[ident] = [encode_jpeg(picture) for picture in pictures]
    return str(make_tar(path, [{"desc_id": ident, "video": "", "start": 1.0} for ident in idents], images))


def recall_table() -> Table:
    random = np.random.default_rng(0)
    rows = []
    for number, model in enumerate(MODELS):
        values = np.sort(random.uniform(2, 90, 6))
        cells = [Estimate(value, max(0, value - 6), min(100, value + 7), 1 if number == 4 else 3) for value in values]
        rows.append(["Kitchen <FIG>", model, *cells, None])
    metrics = [f"VCMR {iou}/{rank}" for iou in ("0.5", "0.7") for rank in ("r1", "r10", "r100")]
    return Table("kitchen-recall", "recall of moments", ("Data set", "Method", *metrics, "VR r100"), rows, ["A note."])


def cells() -> str:
    """Rows of the tidy frame for the front page."""
    out = ["table,dataset,method,train,test,task,metric,value,low,high,spread,trainings,published,difference,note"]
    for task, metric, most in (("VR", "r1", 30), ("SVMR", "0.5/r1", 80), ("VCMR", "0.5/r1", 24)):
        for number, model in enumerate(MODELS):
            for train in ("COG", "FIG") if number < 3 else ("FIG",):
                value = most * (0.4 + 0.12 * number) * (0.4 if train == "COG" else 1)
                bounds = f"{value * 0.8:.2f},{min(100, value * 1.25):.2f}"
                out.append(f"main-4,Kitchen,{model},{train},FIG,{task},{metric},{value:.2f},{bounds},1.0,3,,,")
    out.append("main-3,Kitchen,,,,user-study,S_total,,,,,,,,needs people: three grades for each of 100 captions")
    return "\n".join(out) + "\n"


CHECKS = [
    ("hard cuts within one frame of a segment boundary", 0.998, 0.99, 1.0, ">= 0.95", True, True),
    ("evaluator AUROC, faithful against corrupted statics", 0.94, 0.93, 0.95, ">= 0.9", True, False),
    ("evaluator AUROC, faithful against corrupted dynamics", 0.92, 0.91, 0.93, ">= 0.95", False, False),
    ("false captions among chosen: all", 0.029, 0.02, 0.042, "<= 0.04", True, True),
    ("XML trained on FIG minus COG, points, VR/r1", 18.4, 9.0, 27.8, "> 0", True, False),
]


def front(folder: Path) -> Path:
    tables = folder / "tables"
    write_simple(tables, recall_table(), ["Configuration kitchen, seed 1."])
    (tables / "all.csv").write_text(cells())
    (tables / "reproduction.csv").write_text(f"{VERDICTS}main-4,A,XML,,,VR,r1,1.0,,,,not attempted,not part of it\n")
    rows = annotations()
    archive = keyframes(folder / "shard-00.tar", [row["desc_id"] for row in rows])
    names = ("check", "value", "low", "high", "aim", "met", "share")
    corpora = [Corpus("Kitchen", "a folder of videos", rows, "test", [archive])]
    models = {"llm": "a-language-model", "video_lmm": "a-video-model"}
    checks = [dict(zip(names, check)) for check in CHECKS]
    files, warning = (folder / "summary.html", folder / "verdicts.html"), "Confidences are not to be trusted here."
    write_summary(tables, *files, ["kitchen-recall"], warning, corpora, models, checks)
    shown = (folder / "summary.html").read_text(encoding="utf-8")
    (folder / "front.html").write_text(still_page("Kitchen", f"<h1>Kitchen</h1>{shown}"), encoding="utf-8")
    return folder / "front.html"


def captions(folder: Path) -> Path:
    rows = annotations()
    moments = [{**row, "start": row["time"][0], "end": row["time"][1], "caption": row["cog_desc"]} for row in rows]
    made, scores = [], []
    for row in rows:
        for kind in ("statics", "dynamics"):
            texts = [FINE[(row["desc_id"] + n) % 4] for n in range(3)]
            listed = [{"caption": text, "lineage": "0" * 64} for text in texts]
            facts = {"desc_id": row["desc_id"], "type": kind, "shortfall": 0, "reason": None, "refused": []}
            made.append({**facts, "candidates": listed})
            scores += [{**facts, "candidate": n, "score": row["fig_desc_score"] - n} for n in range(3)]
    archive = keyframes(folder / "captions.tar", [row["desc_id"] for row in rows])
    about = {"title": "Captions of Kitchen", "about": "24 moments.", "foot": "Configuration kitchen.", "warning": ""}
    target = folder / "captions.html"
    write_browser(target, folder / "parts", about, generated_rows(moments, scores, made, rows), [archive])
    return target


def comparison(folder: Path) -> Path:
    queries = [Query(n, f"kitchen-{n}", 2.0 * n, 2.0 * n + 6, FINE[n % 4]) for n in range(4)]
    archive = keyframes(folder / "compared.tar", list(range(4)))
    runs = []
    for name, right in (("XML", (1.0, 0.0, 1.0, 0.2)), ("CONQUER", (0.0, 1.0, 1.0, 0.5))):
        first = [("kitchen-0", 1.0, 5.0) if value else None for value in right]
        runs.append(Run(name, [], {}, np.array([right]), np.array([query.video for query in queries]), first))
    write_comparison(folder / "comparison.html", [recall_table()], None, runs, queries, Thumbnails([archive]).of)
    return folder / "comparison.html"


def study(folder: Path) -> Path:
    clip = write_video(folder / "clip.mp4", counted(16), 8).read_bytes()
    asked = [{"question": n, "coarse": COARSE[n], "fine": FINE[n]} for n in range(3)]
    values = {"title": "Kitchen", "study": "0123", "participant": 1, "questions": asked}
    write_pages(folder, STUDY, [Page("study.html", "Study", {"study": values}, {f"clip-{n}": clip for n in range(3)})])
    return folder / "study.html"


def build(folder: Path) -> dict[str, Path]:
    made = {"front": front(folder), "captions": captions(folder)}
    return {
        **made,
        "verdicts": folder / "verdicts.html",
        "table": folder / "tables" / "kitchen-recall.html",
        "comparison": comparison(folder),
        "study": study(folder),
        **{name: path for module in ADDED for name, path in module.build(folder).items()},
    }
