"""Serve a search page for an index: a small web server on one address, for one person or a lab.

It serves its page, answers, thumbnails from the index, the video files that the index names, and spans of them as MP4:
by the id of a video, never by a path, and only while the file has its indexed content. All data from the corpus or a
visitor reaches the page as JSON and is shown as text; a content security policy forbids everything else. A loopback
address answers only requests to its name, so that no page of another site can read from it; any other address requires
a token.
"""

import asyncio
import hmac
import mimetypes
import os
import tempfile
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from verified.errors import InputError
from verified.io.files import file_digest
from verified.io.pages import script, style
from verified_search.ask import Answer, Index
from verified_search.example import BYTES, MIB, Example, frames_of, kind_of
from verified_search.serving import HEADERS, is_loopback, trusted_hosts
from verified_search.store import manifest_file
from verified_search.transcode import AT_ONCE, transcode

PAGE = Path(__file__).resolve().parent / "pages" / "search"
ASSETS = {
    "/": (lambda: PAGE.with_suffix(".html").read_text(encoding="utf-8"), "text/html"),
    "/search.css": (lambda: style(PAGE), "text/css"),
    "/search.js": (lambda: script(PAGE), "text/javascript"),
}
LISTED = 2000
"""Videos offered in the filter's list; more can be typed."""
OTHER_FILE = "no such video, or its file is not the one that was indexed"
COOKIE = "verified_token"
LEAST_TOKEN = 12
"""Characters."""


def check_address(host: str, token: str) -> None:
    """Raise InputError for a publicly reachable address without a strong token."""
    if not is_loopback(host) and not token:
        raise InputError(f"{host} can be reached from other machines", remedy="give a --token, or serve on 127.0.0.1")
    if token and len(token) < LEAST_TOKEN:
        raise InputError(f"a token of {len(token)} characters", remedy=f"at least {LEAST_TOKEN}")
    if token and not (token.isascii() and token.isprintable()):
        raise InputError("a cookie cannot keep this token", remedy="letters, digits and signs of ASCII alone")


class IndexHolder:
    """The served index, reopened after each change. One thread alone uses it."""

    def __init__(self, folder: Path):
        self.folder, self.thread = folder, ThreadPoolExecutor(1, "index")
        self.reading = ThreadPoolExecutor(1, "files")  # a long movie's digest takes seconds, and must delay no search
        self._state, self._index, self._files = None, None, {}
        self._found: dict[Path, tuple[tuple[int, ...], str]] = {}

    def index(self) -> Index:
        """The current index; call it on `thread`."""
        manifest = manifest_file(self.folder)
        state = (manifest, manifest.stat().st_mtime_ns) if manifest else None
        if self._index is None or state != self._state:
            known = self._index.encoder if self._index else None
            before = self._index.manifest["identity"] if self._index else None
            opened = Index(self.folder)
            if known is not None and opened.manifest["identity"] == before:
                opened.encoder = known  # load its text encoder
            self._index, self._state = opened, state
            rows = ((video, opened.row(video).get("path")) for video in opened.positions)
            self._files = {video: Path(path).resolve() for video, path in rows if path}
        return self._index

    def file(self, video: str) -> Path | None:
        """The file of a video; None if it is missing, replaced since the index was opened, or known to be changed.

        `same_content` checks the content before it is sent.
        """
        row = self.index().row(video)
        path = self._files.get(video)
        if path is None or not path.is_file() or Path(row["path"]).resolve() != path:
            return None
        state, digest = self._found.get(path, (None, ""))
        return None if state == _state(path) and digest != row.get("sha256") else path

    def same_content(self, path: Path, digest: str) -> bool:
        """Return whether a file has this SHA-256. It is read once, and again after a change of its size or times."""
        try:
            state = _state(path)
            if self._found.get(path, ((), ""))[0] != state:
                self._found[path] = state, file_digest(path)
        except OSError:
            return False
        return self._found[path][1] == digest


def _state(path: Path) -> tuple[int, ...]:
    facts = path.stat()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def application(folder: Path, token: str = "", host: str = "127.0.0.1") -> Starlette:
    """The web application that serves the index in `folder` on the address `host`."""
    holder, slots = IndexHolder(folder), asyncio.Semaphore(AT_ONCE)
    holder.thread.submit(holder.index).result()

    def route(path: str, respond: Callable[[Request], Response]) -> Route:
        async def endpoint(request: Request) -> Response:
            return await asyncio.get_running_loop().run_in_executor(holder.thread, respond, request)

        return Route(path, endpoint)

    def answered(request: Request, ask: Callable[[Index], Answer], hinted: bool = True) -> Response:
        try:
            index = holder.index()
            answer = ask(index)
            shown = [
                {
                    **moment,
                    "thumbnails": [time for time, *_ in index.row(moment["video"])["thumbnails"]],
                    "playable": holder.file(moment["video"]) is not None,
                }
                for moment in answer.plain()["moments"]
            ]
            message = index.hint(answer, request.query_params.get("video")) if hinted else ""
            return JSONResponse({**answer.plain(), "moments": shown, "hint": message})
        except InputError as error:
            return JSONResponse({"problem": error.problem, "remedy": error.remedy or ""}, status_code=400)

    def search(request: Request) -> Response:
        values = request.query_params
        return answered(
            request, lambda index: index.ask(values.get("q", ""), _top(values), values.get("video") or None)
        )

    def like(request: Request) -> Response:
        values = request.query_params
        return answered(
            request,
            lambda index: index.like(
                values.get("video", ""), _seconds(values, "start"), _seconds(values, "end"), _top(values)
            ),
        )

    async def example(request: Request) -> Response:
        """Moments like a picture or a clip, the body of the request: a file while it is decoded, and gone then."""
        if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return PlainTextResponse("only this page sends files", status_code=403)
        loop, values = asyncio.get_running_loop(), request.query_params
        handle, made = tempfile.mkstemp(prefix="verified-example-")
        try:
            with os.fdopen(handle, "wb") as file:
                kind = await received(request, file)
            size, crop = await loop.run_in_executor(holder.thread, lambda: holder.index().view())
            async with slots:
                frames = await loop.run_in_executor(None, frames_of, Example(kind, Path(made)), size, crop)
        except InputError as error:
            return JSONResponse({"problem": error.problem, "remedy": error.remedy or ""}, status_code=400)
        finally:
            Path(made).unlink(missing_ok=True)

        def ask(index: Index) -> Answer:
            return index.like_frames(
                frames, f"your {kind}", values.get("q") or None, _top(values), values.get("video") or None
            )

        return await loop.run_in_executor(holder.thread, answered, request, ask, False)

    def about(request: Request) -> Response:
        index = holder.index()
        facts = {key: index.manifest[key] for key in ("title", "model", "videos", "clips", "clip_seconds", "ranking")}
        return JSONResponse({**facts, "ids": sorted(index.positions)[:LISTED]})

    def indexed(video: str) -> tuple[Path | None, str]:
        try:
            return holder.file(video), holder.index().row(video).get("sha256", "")
        except InputError:
            return None, ""

    async def media(request: Request) -> Response:
        loop = asyncio.get_running_loop()
        path, digest = await loop.run_in_executor(holder.thread, indexed, request.query_params.get("video", ""))
        if path is None or not await loop.run_in_executor(holder.reading, holder.same_content, path, digest):
            return PlainTextResponse(OTHER_FILE, status_code=404)
        kind = mimetypes.guess_type(path.name)[0] or ""
        return FileResponse(path, media_type=kind if kind.startswith("video/") else "application/octet-stream")

    async def span(request: Request) -> Response:
        """A span of a video as MP4, for browsers without support for the file itself; seconds count from its start."""
        loop, values = asyncio.get_running_loop(), request.query_params
        try:
            start, end = _seconds(values, "start"), _seconds(values, "end")
        except InputError as error:
            return PlainTextResponse(error.problem, status_code=400)
        path, digest = await loop.run_in_executor(holder.thread, indexed, values.get("video", ""))
        if path is None or not await loop.run_in_executor(holder.reading, holder.same_content, path, digest):
            return PlainTextResponse(OTHER_FILE, status_code=404)
        made = await transcode(path, start, end, slots, request.is_disconnected)
        if made is None:
            return PlainTextResponse("this span cannot be converted", status_code=415)
        if not await loop.run_in_executor(holder.reading, holder.same_content, path, digest):  # replaced meanwhile
            made.unlink()
            return PlainTextResponse(OTHER_FILE, status_code=404)
        return FileResponse(made, media_type="video/mp4", background=BackgroundTask(made.unlink))

    def thumbnail(request: Request) -> Response:
        try:
            index = holder.index()
            video, number = request.query_params.get("video", ""), request.query_params.get("number", "")
            places = index.row(video)["thumbnails"]
            if not number.isdecimal() or len(number) > 4 or int(number) >= len(places):
                raise InputError("no such thumbnail")
            content = index.stored.thumbnail(places[int(number)])
        except InputError:
            return PlainTextResponse("no such thumbnail", status_code=404)
        return Response(content, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=3600"})

    def asset(request: Request) -> Response:
        content, kind = ASSETS[request.url.path]
        return Response(content(), media_type=kind)

    routes = [route(path, asset) for path in ASSETS]
    routes.append(route("/favicon.ico", lambda request: Response(status_code=204)))
    routes += [route("/api/search", search), route("/api/like", like), route("/api/about", about)]
    routes.append(Route("/api/example", example, methods=["POST"]))
    routes += [Route("/media", media), Route("/span", span), route("/thumbnail", thumbnail)]
    guards = [*trusted_hosts(host), Middleware(BaseHTTPMiddleware, dispatch=_guard(token))]
    return Starlette(routes=routes, middleware=guards)


async def received(request: Request, file: BinaryIO) -> str:
    """Write the body of a request into `file`; its kind, by its first bytes.

    Raises InputError for a body that is no picture and no clip, or is too large for its kind, without reading the rest.
    """
    head, kind, size = b"", "", 0
    async for part in request.stream():
        head = (head + part[:16])[:16] if len(head) < 16 else head
        size += len(part)
        if not kind and len(head) == 16 and not (kind := kind_of(head)):
            break
        if kind and size > BYTES[kind]:
            raise InputError(f"larger than {BYTES[kind] // MIB} MiB", remedy=f"give a smaller {kind}")
        file.write(part)
    if not kind:
        raise InputError("no picture and no clip", remedy="JPEG, PNG or WebP; MP4, WebM, Matroska or AVI")
    return kind


def _guard(token: str) -> Callable[[Request, Callable[[Request], Awaitable[Response]]], Awaitable[Response]]:
    """Middleware that requires the token, if there is one, and sets the headers of every answer."""

    async def dispatch(request: Request, follow: Callable[[Request], Awaitable[Response]]) -> Response:
        response = _refuse(request, token) if token else None
        response = response or await follow(request)
        response.headers.update(HEADERS)
        return response

    return dispatch


def _refuse(request: Request, token: str) -> Response | None:
    """None if the request has the token, in a cookie or as bearer; a token in the address becomes the cookie."""
    offered = request.query_params.get("token")
    if offered is not None and _same(offered, token) and request.url.path == "/":
        parameters = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        response = RedirectResponse(
            str(request.url.replace(path="/", query="").include_query_params(**dict(parameters)))
        )
        response.set_cookie(COOKIE, token, httponly=True, samesite="strict")
        return response
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    if _same(request.cookies.get(COOKIE, ""), token) or _same(bearer, token):
        return None
    return PlainTextResponse("a token is needed: open the address with ?token=…", status_code=401)


def _same(offered: str, token: str) -> bool:
    return hmac.compare_digest(offered.encode("utf-8", "replace"), token.encode())


def _top(values) -> int:
    text = values.get("top", "10")
    if not text.isdecimal() or len(text) > 3 or not 1 <= int(text) <= 100:
        raise InputError(f"top = {text[:20]!r}", remedy="a whole number from 1 to 100")
    return int(text)


def _seconds(values, name: str) -> float:
    try:
        number = float(values.get(name, ""))
    except ValueError:
        number = float("nan")
    if not 0 <= number < 1e7:
        raise InputError(f"{name} is not a time in seconds")
    return number
