"""Self-contained HTML pages, their parts as markup with all texts escaped, and the colours of pages and figures.

A page is one file with its style, its script and its data, which needs no network. Data is embedded as JSON inside
inert script elements with every ``<`` escaped, and shown as text, or as markup with its texts escaped. A content
security policy allows the page's own script and style by their hashes and nothing else, so that even a mistake there
could not run text of a caption.
"""

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "pages"
COLOURS, PARTS, BASE = (FOLDER / name for name in ("colours", "parts", "base"))
"""Common files of all pages: colours, building blocks, the frame around these and functions. Files of a page are named
by their path without its suffix."""
TABLE = FOLDER / "table"
"""Extra files of tables."""
SHARED = (COLOURS, PARTS, BASE)


def inert_json(value: object) -> str:
    """JSON that is safe inside a script element: ASCII, without any ``<`` that could end it or open a comment."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def style(*stems: Path) -> str:
    """The style of a page from these parts, after the common style."""
    return _joined((*SHARED, *stems), ".css")


def script(*stems: Path) -> str:
    """The script of a page from these parts, after the common script."""
    return _joined((*SHARED, *stems), ".js")


def _joined(stems: Iterable[Path], ending: str) -> str:
    files = (stem.with_suffix(ending) for stem in stems)
    return "".join(path.read_text(encoding="utf-8") for path in files if path.is_file())


def page(stems: Sequence[Path], title: str, data: Mapping[str, object], side_files: bool = False) -> Iterator[str]:
    """The parts of a page, to be written in order: style and script of all `stems`, the body of the last.

    `data` are JSON values by the id of their script element; string values are treated as results of `inert_json`. With
    `side_files` the page may also load scripts from its folder.
    """
    looks, acts = style(*stems), script(*stems)
    sources = " 'self' file:" if side_files else ""
    policy = (
        f"default-src 'none'; img-src data:; media-src data:; style-src {_source(looks)}; "
        f"script-src {_source(acts)}{sources}; base-uri 'none'; form-action 'none'"
    )
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{html.escape(title)}</title>\n<style>{looks}</style>\n</head>\n<body>\n"
    yield stems[-1].with_suffix(".html").read_text(encoding="utf-8")
    for key, value in data.items():
        text = value if isinstance(value, str) else inert_json(value)
        yield f'<script type="application/json" id="{html.escape(key)}">{text}</script>\n'
    yield f"<script>{acts}</script>\n</body>\n</html>\n"


def still_page(title: str, body: str, looks: str = "") -> str:
    """A page of tables and texts, `body` in markup; `looks` is added to the common style of such pages. Its only script
    sorts and copies tables, and is optional. Content wider than the screen scrolls inside `wide`."""
    acts = script(TABLE)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        f"style-src 'unsafe-inline'; script-src {_source(acts)}; base-uri 'none'; form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style(TABLE)}{looks}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n<script>{acts}</script>\n</body>\n</html>\n"
    )


def write_page(path: Path, parts: Iterable[str]) -> None:
    """Write the parts of a page as UTF-8."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(parts)


def data_url(kind: str, content: bytes) -> str:
    """`content` of the media type `kind` as a data URL."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


FIGURE = re.compile(
    r"(?P<value>[-+−]?\d[\d,.]*(?: %)?|–)(?P<give> ±[\d.]+)?(?P<between> \[[^\]]*\])?(?P<marks>[¹†]*)"
    r"(?P<paper> \(paper [^)]*\))?"
)
"""A number in a table: its value, ± over trainings, interval, marks, and the paper's figure."""
NUMERIC = re.compile(r"[-+−]?\d|–$")


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    caption: str = "",
    best: Sequence[Sequence[bool]] | None = None,
    hints: Sequence[Sequence[str]] | None = None,
    kind: str = "sheet",
) -> str:
    """A table element. Numbers are large at the right, with ± small after them and the interval small below; `best`
    marks cells, `hints` are tooltips of cells. A table of the `kind` "sheet" can be sorted and copied.
    """
    texts = [[str(cell) for cell in row] for row in rows]
    columns = range(len(texts[0]) if texts else len(header))
    numeric = [bool(header and texts) and all(NUMERIC.match(row[n]) for row in texts if row[n]) for n in columns]
    out = [f'<table class="{kind}">', f"<caption>{html.escape(caption)}</caption>" if caption else ""]
    if header:
        heads = (
            f'<th scope="col"{" class=value" if number else ""}>{html.escape(text)}</th>'
            for text, number in zip(header, numeric)
        )
        out.append(f"<thead><tr>{''.join(heads)}</tr></thead>")
    out.append("<tbody>")
    for at, row in enumerate(texts):
        cells = (
            _cell(text, numeric[n], bool(best and best[at][n]), hints[at][n] if hints else "")
            for n, text in enumerate(row)
        )
        out.append(f"<tr>{''.join(cells)}</tr>")
    return "".join([*out, "</tbody></table>\n"])


def _cell(text: str, number: bool, best: bool, hint: str) -> str:
    match = FIGURE.fullmatch(text)
    kinds = " ".join(name for name, holds in (("value", number or match), ("best", best)) if holds)
    opening = (f' class="{kinds}"' if kinds else "") + (f' title="{html.escape(hint)}"' if hint else "")
    if not match:
        return f"<td{opening}>{html.escape(text)}</td>"
    parts = [html.escape(match["value"] + match["marks"])]
    if match["give"]:
        parts.append(f'<span class="give">{html.escape(match["give"])}</span>')
    below = [match[name] for name in ("between", "paper") if match[name]]
    parts += [f'<span class="between">{html.escape(text)}</span>' for text in below]
    return f"<td{opening}>{''.join(parts)}</td>"


def wide(table: str, label: str = "Table") -> str:
    """Wrap a table so that it scrolls sideways on a narrow screen, also by keyboard."""
    return f'<div class="wide" role="region" aria-label="{html.escape(label)}" tabindex="0">{table}</div>\n'


def thumb(url: str, about: str, tooltip: str) -> str:
    """A picture from a data URL with a caption; `about` is its alternative text."""
    picture = f'<img src="{url}" alt="{html.escape(about)}">'
    return f'<figure class="thumb">{picture}<figcaption>{html.escape(tooltip)}</figcaption></figure>'


def paragraphs(lines: Iterable[str]) -> str:
    """A paragraph for each line."""
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def fold(summary: str, body: str, kind: str = "") -> str:
    """A collapsed section that opens on demand; `body` is markup."""
    opening = f'<details class="{kind}">' if kind else "<details>"
    return f"{opening}<summary>{html.escape(summary)}</summary>{body}</details>\n" if body else ""


def clock(seconds: float) -> str:
    """62.5 seconds as ``1:02.5``, the format of all times on pages; infinity as ``∞``."""
    if not math.isfinite(seconds * 10):
        return "∞"
    tenths = round(seconds * 10)
    return f"{tenths // 600}:{tenths % 600 // 10:02d}.{tenths % 10}"


STATICS, DYNAMICS, FALSE, SOFT = "#1b7837", "#2166ac", "#a50026", "#5a5a5a"
"""Colours have one meaning on every page and in every figure; they are distinct for colour-blind readers, and of a
contrast of 3 or more with white and with the dark ground of pages."""
MODELS = {"HERO": "#b5578f", "XML": "#0072b2", "ReLoCLNet": "#00875f", "CONQUER": "#d05400", "SQuiDNet": "#8c6d1f"}
"""By a model's name in tables."""
TRAINED_ON = {"COG": "#737373", "FIG": "#0072b2", "FIG-lowest": "#c0392b", "FIG-highest": "#0072b2"}
"""By captions, for figures of one model."""
OTHERS = ("#6a51a3", "#3f8f29", "#a6611a", "#c51b7d", "#01665e", "#7570b3")


def colour_of(name: str) -> str:
    """The colour of a model or of training captions; an unknown name gets one derived from the name alone."""
    colour = MODELS.get(name) or TRAINED_ON.get(name)
    return colour or OTHERS[hashlib.sha256(name.encode()).digest()[0] % len(OTHERS)]
