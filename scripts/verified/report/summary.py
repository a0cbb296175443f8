"""The front page's summary and the list of all verdicts, as HTML, from the files of results/tables."""

import csv
import html
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from verified.common.files import write_text

VERDICTS = ("reproduced", "differs", "partial", "not attempted")
STYLE = """
.verified table { border-collapse: collapse; margin: .5rem 0 1rem; font-size: .9rem; }
.verified th, .verified td { border-bottom: 1px solid #d0d0d0; padding: .15rem .6rem .15rem 0; text-align: left;
  vertical-align: top; }
.verified td.number { text-align: right; font-variant-numeric: tabular-nums; }
.verified caption { text-align: left; font-weight: 600; padding: .3rem 0; }
.verified th:first-child, .verified td:first-child { white-space: nowrap; }
.verified .warning { border-left: 4px solid #b45309; background: #fff4e0; padding: .3rem .7rem; color: #1a1a1a; }
.verified p { margin: .4rem 0; }
"""
NONE_JUDGED = "<p>None of the {:,} figures that the paper prints is about what this run computed.</p>"
FRONT = """
.h-screen:has(.verified) { align-items: flex-start; }
.prose:has(.verified) { max-width: min(68rem, calc(100vw - 22rem)); }
.flex:has(> * > .prose .verified) { flex-wrap: wrap; }
.verified { overflow-x: auto; }
@media (max-width: 46rem) { .prose:has(.verified) { max-width: calc(100vw - 2rem); } }
"""
"""Room for the tables on Snakemake's front page, which centres what it shows: a long text would lose its top."""


def read_rows(path: str | os.PathLike) -> tuple[list[dict], list[str]]:
    """Rows of one of the CSV tables, and the comment lines above them without their mark."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.readlines()
    notes = [line.removeprefix("# ").rstrip("\n") for line in lines if line.startswith("# ")]
    return list(csv.DictReader(line for line in lines if not line.startswith("# "))), notes


def table(caption: str, header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table element; every text is escaped, numbers stand right."""
    out = [f"<table><caption>{html.escape(caption)}</caption><thead><tr>"]
    out += [f'<th scope="col">{html.escape(text)}</th>' for text in header]
    out.append("</tr></thead><tbody>")
    for row in rows:
        out.append("<tr>")
        for cell in row:
            kind = ' class="number"' if isinstance(cell, int) else ""
            out.append(f"<td{kind}>{html.escape(str(cell))}</td>")
        out.append("</tr>")
    out.append("</tbody></table>\n")
    return "".join(out)


def verdict_table(verdicts: list[dict]) -> str:
    """How many printed figures of each table and data set were reproduced, and how many were not."""
    counts = Counter((row["table"], row["dataset"], row["verdict"]) for row in verdicts)
    tables = sorted({row["table"] for row in verdicts})
    datasets = list(dict.fromkeys(row["dataset"] for row in verdicts))

    def told(names: list[str], chosen: list[str]) -> str:
        numbers = {verdict: sum(counts[name, dataset, verdict] for name in names for dataset in chosen)
                   for verdict in VERDICTS}  # fmt: skip
        return ", ".join(f"{number} {verdict}" for verdict, number in numbers.items() if number) or "none printed"

    rows = [[name, *(told([name], [dataset]) for dataset in datasets), told([name], datasets)] for name in tables]
    total = ["all", *(told(tables, [dataset]) for dataset in datasets), told(tables, datasets)]
    caption = f"Verdicts on the paper's {len(verdicts)} printed figures, by table and data set"
    return table(caption, ["Table", *datasets, "all"], [*rows, total])


def reasons(verdicts: list[dict]) -> str:
    """Why figures were not attempted, the most frequent reason first."""
    counts = Counter(row["note"] for row in verdicts if row["verdict"] == "not attempted")
    rows = [[number, note] for note, number in counts.most_common(8)]
    return table("Why figures were not attempted", ["Figures", "Reason"], rows) if rows else ""


def write_summary(tables: Path, target: Path, listing: Path, main: str, warning: str = "") -> None:
    """Write the front page's part `target` and the page `listing` of all verdicts.

    The part holds the plain `warning` if there is one, table `main`, the check against the demo's truth where there is
    one, and verdicts, of which a corpus that the paper knows nothing of has none.
    """
    verdicts, notes = read_rows(tables / "reproduction.csv")
    parts = [f"<style>{STYLE}{FRONT}</style>", '<div class="verified">']
    if warning:
        parts.append(f'<p class="warning">{html.escape(warning)}</p>')
    parts.append(_body((tables / f"{main}.html").read_text(encoding="utf-8")))
    judged = any(row["verdict"] != "not attempted" for row in verdicts)
    if (tables / "validity.csv").is_file():
        checks, _ = read_rows(tables / "validity.csv")
        rows = [list(row.values()) for row in checks]
        parts.append(table("The demo's stages against its truth", list(checks[0]) if checks else [], rows))
    parts += [verdict_table(verdicts), reasons(verdicts)] if judged else [NONE_JUDGED.format(len(verdicts))]
    parts.append("</div>\n")
    write_text(target, "\n".join(parts))
    rows = [list(row.values()) for row in verdicts]
    judged_by_table = verdict_table(verdicts) if judged else NONE_JUDGED.format(len(verdicts))
    page = [
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Verdicts</title><style>{STYLE}'
        "body { font: 15px/1.4 system-ui, sans-serif; margin: 1rem; }</style></head>",
        '<body class="verified"><h1>A verdict for every printed figure</h1>',
        *(f"<p>{html.escape(note)}</p>" for note in notes),
        judged_by_table,
        table("Every figure", list(verdicts[0]), rows),
        "</body></html>\n",
    ]
    write_text(listing, "\n".join(page))


def _body(page: str) -> str:
    """What stands in the body of one of our own table pages."""
    return page.partition("<body>")[2].rpartition("</body>")[0] or page
