"""Serve a review on a small web server: several people, each with a personal link, one set of decisions.

It serves the pages that `verified review` built, a few moments at a time (see `handout`), and stores each decision
before it confirms it. A link contains its person's token, which every request needs; there is no cookie for another
page to abuse. On a loopback address it answers only requests to its name. Texts of people and of the corpus are
inserted into pages as text.
"""

import asyncio
import contextlib
import html
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from verified.errors import InputError
from verified.io.files import checked
from verified.io.pages import still_page, table, wide
from verified.io.serving import HEADERS, PATIENCE, trusted_hosts
from verified.people.pages import page_parts
from verified.people.review.decisions import VERSION
from verified_lab.pages import REVIEW
from verified_lab.review.handout import Handout

CLIP = re.compile(rb'"data:video/mp4;base64,[A-Za-z0-9+/]+={0,2}"')
SHOWN = {"desc_id": int, "moment": str, "video": str, "start": float | int, "end": float | int, "candidates": list}
"""Keys required of each moment of a page here; the page itself requires more."""
BUILT_AGAIN = "build them again: verified review"
DATA = re.compile(rb'<script type="application/json" id="([^"]+)">(.*?)</script>', re.DOTALL)
MOST_BYTES = 2**20
"""Limit of one request; a page sends a few decisions at a time."""
PAGE_HEADERS = {
    **HEADERS,
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""Headers of every answer; pages also have their own content security policy, by the hashes of their scripts, which
cannot restrict framing.
"""


class BuiltPages:
    """The data of the pages of a folder: `review` (common to all), `items` in their order, and clips, read on demand.

    Raises InputError for a folder without review pages, and for pages of another version.
    """

    def __init__(self, folder: Path):
        self.items: list[dict] = []
        self._places: dict[str, tuple[Path, int, int]] = {}
        self.review: dict = {}
        for path in sorted(folder.glob("page-*.html")):
            items: list[dict] = []
            for found in DATA.finditer(checked(path).read_bytes()):
                name = found[1].decode("utf-8", "replace")
                if name == "review":
                    self.review, items = _shared_and_items(found[2], path)
                elif CLIP.fullmatch(found[2]):
                    self._places[name] = path, found.start(2), found.end(2)
            if without := [item["desc_id"] for item in items if f"clip-{item['desc_id']}" not in self._places]:
                raise InputError(f"damaged: moment {without[0]} has no clip", file=path, remedy=BUILT_AGAIN)
            self.items += items
        if not self.items:
            raise InputError("no review pages", file=folder, remedy="build them: verified review --configfile …")

    def clip(self, name: str) -> str:
        """A clip as embedded in its page. Raises InputError if the page has changed."""
        path, start, end = self._places[name]
        with contextlib.suppress(OSError), path.open("rb") as file:
            file.seek(start)
            if CLIP.fullmatch(clip := file.read(end - start)):
                return clip.decode("ascii")
        raise InputError("was built again, or is gone", file=path, remedy="end this server and start it again")


def _shared_and_items(content: bytes, path: Path) -> tuple[dict, list[dict]]:
    """The common data of a page, and its moments. Raises InputError for a page without them."""
    try:
        review = json.loads(content)
    except (ValueError, RecursionError):
        review = None
    if isinstance(review, dict) and review.get("version") != VERSION:
        raise InputError("a page of another version", file=path, remedy=BUILT_AGAIN)
    items = review.pop("items", None) if isinstance(review, dict) else None
    if (
        not isinstance(review, dict)
        or not all(isinstance(review.get(name), str) for name in ("dataset", "title"))
        or not isinstance(items, list)
        or not all(isinstance(item, dict) for item in items)
        or not all(isinstance(item.get(name), kind) for item in items for name, kind in SHOWN.items())
    ):
        raise InputError("damaged: it does not say which moments it shows", file=path, remedy=BUILT_AGAIN)
    return review, items


def application(pages: BuiltPages, handout: Handout, host: str = "127.0.0.1") -> Starlette:
    """The web application to review the moments of `pages` on the address `host`."""

    def route(path: str, respond: Callable[[Request, str], Awaitable[Response]], method: str = "GET") -> Route:
        async def endpoint(request: Request) -> Response:
            name = handout.person(request.path_params["token"])
            answer = await respond(request, name) if name else PlainTextResponse("no such link", status_code=404)
            answer.headers.update(PAGE_HEADERS)
            return answer

        return Route(path, endpoint, methods=[method])

    async def show(request: Request, name: str) -> Response:
        try:
            return page_for(name)
        except InputError as error:
            return PlainTextResponse(str(error), status_code=503)
        except OSError as error:
            return PlainTextResponse(f"the server cannot write: {error.strerror}", status_code=507)

    def page_for(name: str) -> Response:
        items = handout.hand_out(name)
        if not items:
            return HTMLResponse(
                _progress_page(pages.review["title"], handout.progress(), "There is no moment for you now.")
            )
        decisions = [row for row in handout.decisions if row["reviewer"] == name]
        review = {
            **pages.review,
            "items": items,
            "page": 1,
            "pages": 1,
            "served": {"reviewer": name, "decisions": decisions},
        }
        clips = {clip: pages.clip(clip) for item in items for clip in [f"clip-{item['desc_id']}"]}
        parts = page_parts(REVIEW, f"Review of {review['title']}", {"review": review, **clips}, served=True)
        return HTMLResponse("".join(parts))

    async def keep(request: Request, name: str) -> Response:
        if request.headers.get("content-type", "").split(";")[0] != "application/json":
            return PlainTextResponse("JSON is expected", status_code=415)
        body = bytearray()
        try:
            async with asyncio.timeout(PATIENCE):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > MOST_BYTES:
                        return PlainTextResponse("too much at once", status_code=413)
        except TimeoutError:
            return PlainTextResponse("it takes too long to arrive", status_code=408, headers={"Connection": "close"})
        try:
            return JSONResponse({"kept": handout.keep(name, json.loads(body))})
        except InputError as error:
            return JSONResponse({"problem": error.problem, "remedy": error.remedy or ""}, status_code=400)
        except (ValueError, RecursionError):
            return JSONResponse({"problem": "no JSON", "remedy": ""}, status_code=400)
        except OSError as error:
            return JSONResponse({"problem": f"cannot be kept: {error.strerror}", "remedy": ""}, status_code=507)

    async def progress(request: Request, name: str) -> Response:
        return HTMLResponse(_progress_page(pages.review["title"], handout.progress()))

    routes = [
        route("/{token}/", show),
        route("/{token}/decisions", keep, "POST"),
        route("/{token}/progress", progress),
    ]
    return Starlette(routes=routes, middleware=trusted_hosts(host))


def progress_lines(found: Mapping) -> list[str]:
    """Progress of a review, as lines for a terminal."""
    lines = [f"{found['decided']} of {found['moments']} moments are decided on"]
    if found["conflicts"]:
        lines.append(f"  {found['conflicts']} in conflict: one more of --people sees the decisions and settles it")
    lines += [f"  {one['name']}: {one['decided']} decided, {one['handed_out']} handed out" for one in found["people"]]
    for one, two, count, kappa in found["kappas"]:
        alpha = "cannot be told, all decisions are alike" if kappa is None else f"{kappa:.2f}"
        lines.append(f"  {one} and {two}: {count} moments, Cohen's kappa {alpha}")
    return [*lines, *([f"  Krippendorff's alpha {found['alpha']:.2f}"] if found["alpha"] is not None else [])]


def _progress_page(title: str, found: Mapping, message: str = "") -> str:
    lines = [message, *progress_lines(found)] if message else progress_lines(found)
    heading = f"<h1>Review of {html.escape(title)}</h1>\n"
    rows = wide(table((), ([line.strip()] for line in lines), kind="plain"), "How far all are")
    return still_page(f"Review of {title}", f"{heading}{rows}<p><a href='./'>Go on</a></p>")
