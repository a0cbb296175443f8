"""The front page's summary and the list of all verdicts, as HTML, from the files of results/tables."""

import html
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from verified.io.files import write_text
from verified.io.pages import COLOURS, PARTS, TABLE, fold, still_page, table, wide
from verified.io.text_tables import read_csv
from verified.report import FRONT_PAGE
from verified.report.front import Corpus, facts, missing, moments, read_cells, recalls, soundness

NONE_JUDGED = "No figure that the paper prints is about what this run computed."
NOT_TRAINED = "no retrieval model was trained for it"
FRONT = """
.h-screen:has(.verified) { align-items: flex-start; }
.prose:has(.verified) { max-width: min(68rem, calc(100vw - 22rem)); }
.flex:has(> * > .prose .verified) { flex-wrap: wrap; }
.verified { overflow-x: auto; }
@media (max-width: 46rem) { .prose:has(.verified) { max-width: calc(100vw - 2rem); } }
"""
"""Space for the tables on Snakemake's front page, which centres its content: a long text would lose its top."""


def nested_style(*stems: Path) -> str:
    """The style of pages for a part of a page of Snakemake's: the same colours, and the parts within `.verified`."""
    colours, *parts = (stem.with_suffix(".css").read_text(encoding="utf-8") for stem in (COLOURS, PARTS, TABLE, *stems))
    return f"{colours}.verified {{\n{''.join(parts)}}}\n"


def reasons(verdicts: list[dict]) -> str:
    """Why figures were not attempted, the most frequent reason first."""
    counts = Counter(row["note"] for row in verdicts if row["verdict"] == "not attempted")
    rows = [[number, note] for note, number in counts.most_common(8)]
    return table(["Figures", "Reason"], rows, "Why figures were not attempted", kind="plain") if rows else ""


def omitted_tables(tables: Path) -> list[str]:
    """The tables that have no page, since they have no value in this run, by the reason why."""
    why: dict[str, str] = {}
    for _, row in read_csv(tables / "all.csv", ()):
        if not (tables / f"{row['table']}.html").is_file() and row["table"] != "verdicts":
            why.setdefault(row["table"], NOT_TRAINED if row["method"] else row["note"])
    names: dict[str, list[str]] = {}
    for name, reason in why.items():
        names.setdefault(reason, []).append(name)
    return [f"{', '.join(group)}: {reason}." for reason, group in names.items()]


def write_summary(
    tables: Path,
    target: Path,
    listing: Path,
    leading: Iterable[str],
    warning: str = "",
    corpora: Sequence[Corpus] = (),
    models: Mapping[str, str] = MappingProxyType({}),
    checks: Sequence[Mapping] = (),
) -> None:
    """Write the front page's part `target` and the page `listing` of all verdicts.

    The part answers in one screen (see `front`), the plain `warning` first if there is one. Below it the `leading`
    tables, the check against the demo's truth if there is one (`checks`: its rows) and the verdicts are folded.
    """
    compared = tables / "reproduction.csv"
    verdicts = [row for _, row in read_csv(compared, ())] if compared.is_file() else []
    cells = read_cells(tables / "all.csv")
    judged = any(row["verdict"] != "not attempted" for row in verdicts)
    parts = [f"<style>{nested_style(FRONT_PAGE)}{FRONT}</style>", '<div class="verified">']
    if warning:
        parts.append(f'<p class="warning">{html.escape(warning)}</p>')
    if corpora:
        parts += [facts(corpora, cells, models), soundness(checks), recalls(corpora, cells), moments(corpora)]
    none = [NONE_JUDGED] if verdicts and not judged else []
    parts.append(missing([*omitted_tables(tables), *none]))
    parts.append("<section><h2>Tables</h2>")
    for name in dict.fromkeys([*leading, "validity", "verdicts"]):
        page = tables / f"{name}.html"
        if page.is_file():
            content = page.read_text(encoding="utf-8")
            parts.append(fold(html.unescape(_between(content, "<h1>", "</h1>")) or name, _body(content)))
    write_text(target, "\n".join([*parts, "</section></div>\n"]))
    page = [
        "<h1>A verdict for every published figure</h1>",
        *(f"<p>{html.escape(line)}</p>" for line in none),
        wide(reasons(verdicts)),
    ]
    if judged:
        page.append(wide(table(list(verdicts[0]), [list(row.values()) for row in verdicts], "Every figure")))
    write_text(listing, still_page("Verdicts", "\n".join(page)))


def _between(page: str, start: str, end: str) -> str:
    return page.partition(start)[2].partition(end)[0]


def _body(page: str) -> str:
    """Content of one of our table pages below its heading."""
    content = page.partition("<main>")[2].rpartition("</main>")[0] or page
    return content.partition("</h1>")[2] or content
