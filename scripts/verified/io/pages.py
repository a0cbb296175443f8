"""Self-contained HTML pages: one file with its style, its script and its data, which needs no network.

Data never becomes markup: it is embedded as JSON inside inert script elements with every ``<`` escaped, and the scripts
show it as text. A content security policy allows the page's own script and style by their hashes and nothing else, so
that not even a mistake there could run what a caption says.
"""

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

BASE, TABLE = (Path(__file__).resolve().parent / "pages" / name for name in ("base", "table"))
"""Styles of all pages, and of pages of tables. Files of a page are named by their path without its ending."""


def page_digest(*stems: Path) -> str:
    """SHA-256 (first 16 hex digits) over the files of a page, for rules: they are not Python modules."""
    digest = hashlib.sha256()
    for path in sorted(path for stem in (BASE, *stems) for path in stem.parent.glob(f"{stem.name}.*")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def inert_json(value: object) -> str:
    """JSON that is safe inside a script element: ASCII, and no ``<`` that could end it or open a comment."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def page(
    stems: Sequence[Path], title: str, data: Mapping[str, object], side_files: bool = False, served: bool = False
) -> Iterator[str]:
    """The parts of a page, to be written one after the other: style and script of all `stems`, the body of the last.

    `data` are JSON values by the id of their script element; values that are strings already are taken for the result
    of `inert_json`. With `side_files` the page may also load scripts that lie beside it, and `served` it may speak to
    the server that it comes from.
    """
    style = "".join(stem.with_suffix(".css").read_text(encoding="utf-8") for stem in (BASE, *stems))
    script = "".join(stem.with_suffix(".js").read_text(encoding="utf-8") for stem in stems)
    beside = " 'self' file:" if side_files else ""
    speaks = " connect-src 'self';" if served else ""
    policy = (
        f"default-src 'none';{speaks} img-src data:; media-src data:; style-src {_source(style)}; "
        f"script-src {_source(script)}{beside}; base-uri 'none'; form-action 'none'"
    )
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
    yield stems[-1].with_suffix(".html").read_text(encoding="utf-8")
    for key, value in data.items():
        text = value if isinstance(value, str) else inert_json(value)
        yield f'<script type="application/json" id="{html.escape(key)}">{text}</script>\n'
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def still_page(title: str, body: str, style: str = "", reload: float | None = None) -> str:
    """A page of tables and texts without any script, in the colours of the other pages; `body` is markup, `style` is
    added to that of all such pages. What is wider than the screen scrolls by itself inside `wide`. With `reload` the
    page loads itself again after so many seconds.
    """
    shared = "".join(stem.with_suffix(".css").read_text(encoding="utf-8") for stem in (BASE, TABLE))
    again = "" if reload is None else f'<meta http-equiv="refresh" content="{max(1, round(reload))}">\n'
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{again}'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{shared}{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def wide(table: str) -> str:
    """Markup of a table that scrolls to the side by itself where the screen is too narrow; reached by keyboard too."""
    return f'<div class="wide" tabindex="0">{table}</div>\n'


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
