"""The front page's summary and the list of all verdicts, as HTML, from the files of results/tables."""

import csv
import html
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from verified.benchmark.published import VERDICTS
from verified.io.files import write_text
from verified.io.pages import still_page, wide

STYLE = """
.verified table { border-collapse: collapse; margin: .5rem 0 1rem; font-size: .9rem; }
.verified th, .verified td { border-bottom: 1px solid #d0d0d0; padding: .15rem .6rem .15rem 0; text-align: left;
  vertical-align: top; }
.verified td.number { text-align: right; font-variant-numeric: tabular-nums; }
.verified caption, .verified h2 { text-align: left; font-size: 1rem; font-weight: 600; margin: 0; padding: .3rem 0; }
.verified th:first-child, .verified td:first-child { white-space: nowrap; }
.verified .warning { border-left: 4px solid #b45309; background: #fff4e0; padding: .3rem .7rem; color: #1a1a1a; }
.verified p { margin: .4rem 0; }
@media (prefers-color-scheme: dark) { .verified th, .verified td { border-color: #4a4a4a; } }
"""
NONE_JUDGED = '<p class="said">None of the {:,} figures that the paper prints is about what this run computed.</p>'
NOT_TRAINED = "no retrieval model was trained for it"
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
    """A table element; every text is escaped, numbers are right-aligned."""
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
    """How many published figures of each table and data set were reproduced, and how many were not."""
    counts = Counter((row["table"], row["dataset"], row["verdict"]) for row in verdicts)
    tables = sorted({row["table"] for row in verdicts})
    datasets = list(dict.fromkeys(row["dataset"] for row in verdicts))

    def told(names: list[str], selected: list[str]) -> str:
        numbers = {
            verdict: sum(counts[name, dataset, verdict] for name in names for dataset in selected)
            for verdict in VERDICTS
        }
        return ", ".join(f"{number} {verdict}" for verdict, number in numbers.items() if number) or "none published"

    rows = [[name, *(told([name], [dataset]) for dataset in datasets), told([name], datasets)] for name in tables]
    total = ["all", *(told(tables, [dataset]) for dataset in datasets), told(tables, datasets)]
    caption = f"Verdicts on the paper's {len(verdicts)} published figures, by table and data set"
    return table(caption, ["Table", *datasets, "all"], [*rows, total])


def reasons(verdicts: list[dict]) -> str:
    """Why figures were not attempted, the most frequent reason first."""
    counts = Counter(row["note"] for row in verdicts if row["verdict"] == "not attempted")
    rows = [[number, note] for note, number in counts.most_common(8)]
    return table("Why figures were not attempted", ["Figures", "Reason"], rows) if rows else ""


def omitted_tables(tables: Path) -> str:
    """A line on the tables that have no page, since they have no value in this run, and why; "" if all have one."""
    rows, _ = read_rows(tables / "all.csv")
    why: dict[str, str] = {}
    for row in rows:
        if not (tables / f"{row['table']}.html").is_file() and row["table"] != "verdicts":
            why.setdefault(row["table"], NOT_TRAINED if row["method"] else row["note"])
    names: dict[str, list[str]] = {}
    for table, reason in why.items():
        names.setdefault(reason, []).append(table)
    told = "; ".join(f"{', '.join(group)} ({reason})" for reason, group in names.items())
    return f"<p>Left out, having no value in this run: {html.escape(told)}.</p>" if told else ""


def write_summary(tables: Path, target: Path, listing: Path, leading: Iterable[str], warning: str = "") -> None:
    """Write the front page's part `target` and the page `listing` of all verdicts.

    The part holds the plain `warning` if there is one, the `leading` tables, the check against the demo's truth where
    there is one, verdicts (none for a corpus that is not the paper's), and which tables are left out.
    """
    verdicts, notes = read_rows(tables / "reproduction.csv")
    parts = [f"<style>{STYLE}{FRONT}</style>", '<div class="verified">']
    if warning:
        parts.append(f'<p class="warning">{html.escape(warning)}</p>')
    pages = [tables / f"{name}.html" for name in leading]
    parts += [_body(page.read_text(encoding="utf-8")) for page in pages if page.is_file()]
    judged = any(row["verdict"] != "not attempted" for row in verdicts)
    if (tables / "validity.csv").is_file():
        checks, _ = read_rows(tables / "validity.csv")
        rows = [list(row.values()) for row in checks]
        parts.append(wide(table("The demo's stages against its truth", list(checks[0]) if checks else [], rows)))
    none = NONE_JUDGED.format(len(verdicts))
    judgement = [wide(verdict_table(verdicts)), wide(reasons(verdicts))] if judged else [none]
    write_text(target, "\n".join([*parts, *judgement, omitted_tables(tables), "</div>\n"]))
    page = [
        "<h1>A verdict for every published figure</h1>",
        *(f"<p>{html.escape(note)}</p>" for note in notes),
        *(judgement if judged else [none, wide(reasons(verdicts))]),
    ]
    if judged:
        page.append(wide(table("Every figure", list(verdicts[0]), [list(row.values()) for row in verdicts])))
    write_text(listing, still_page("Verdicts", "\n".join(page)))


def _body(page: str) -> str:
    """The body of one of our own table pages."""
    return page.partition("<body>")[2].rpartition("</body>")[0] or page
