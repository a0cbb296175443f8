"""A model hub on this machine: the few addresses of the Hugging Face hub that fetching a model asks for."""

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote, urlsplit

import pytest
from loopback import served_by

LARGE = 1000
"""Files from this size on are stored separately and have a SHA-256, as on the hub."""


class Hub:
    """`models`: name → commits in order, each (commit, {file: bytes}); `asked`: method, path, range of each request."""

    def __init__(self):
        self.models: dict[str, list[tuple[str, dict[str, bytes]]]] = {}
        self.stalls: dict[str, int] = {}
        """File → how often its answer stops half-way and never ends."""
        self.lies: dict[str, bytes] = {}
        """File → other bytes that are sent in its place."""
        self.asked: list[tuple[str, str, str | None]] = []
        self.url = ""
        self.ended = threading.Event()

    def publish(self, name: str, files: dict[str, bytes]) -> str:
        history = self.models.setdefault(name, [])
        commit = hashlib.sha1(f"{name} {len(history)}".encode()).hexdigest()
        history.append((commit, files))
        return commit

    def at(self, name: str, revision: str) -> tuple[str, dict[str, bytes]] | None:
        history = self.models[name]
        return history[-1] if revision == "main" else next((entry for entry in history if entry[0] == revision), None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        hub: Hub = self.hub
        path = unquote(urlsplit(self.path).path)
        hub.asked.append((self.command, path, self.headers.get("Range")))
        name = next((name for name in hub.models if path.startswith((f"/api/models/{name}", f"/{name}/"))), None)
        if name is None:
            return self._refuse(401, "RepoNotFound")
        rest = path.removeprefix("/api/models").removeprefix(f"/{name}").strip("/").split("/")
        if rest[0] == "resolve":
            return self._file(hub, hub.at(name, rest[1]), "/".join(rest[2:]))
        snapshot = hub.at(name, rest[1] if len(rest) > 1 else "main")
        if snapshot is None:
            return self._refuse(404, "RevisionNotFound")
        entries = [self._entry(*item) for item in snapshot[1].items()]
        if rest[0] == "tree":
            tree = [
                {"type": "file", "path": e["rfilename"], "size": e["size"], "oid": e["blobId"]}
                | ({"lfs": {"oid": e["lfs"]["sha256"], "size": e["size"], "pointerSize": 130}} if "lfs" in e else {})
                for e in entries
            ]
            return self._json(tree)
        return self._json({"id": name, "sha": snapshot[0], "siblings": entries})

    do_HEAD = do_GET

    @staticmethod
    def _entry(name: str, data: bytes) -> dict:
        blob = hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()
        entry = {"rfilename": name, "size": len(data), "blobId": blob}
        if len(data) >= LARGE:
            entry["lfs"] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
        return entry

    def _file(self, hub: Hub, snapshot: tuple[str, dict[str, bytes]], name: str):
        commit, files = snapshot
        data = hub.lies.get(name, files[name])
        entry = self._entry(name, files[name])
        asked = self.headers.get("Range")
        start = int(asked.removeprefix("bytes=").split("-")[0]) if asked else 0
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.send_header("X-Repo-Commit", commit)
        self.send_header("ETag", f'"{entry["lfs"]["sha256"] if "lfs" in entry else entry["blobId"]}"')
        self.end_headers()
        if self.command == "HEAD":
            return
        body = data[start:]
        if hub.stalls.get(name, 0) > 0:
            hub.stalls[name] -= 1
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            return hub.ended.wait(60)
        self.wfile.write(body)

    def _json(self, value: object):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def _refuse(self, status: int, code: str):
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Error-Message", "no")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving() -> Iterator[Hub]:
    """A hub that answers at `url` as long as the block runs; the hub's client asks it alone."""
    hub = Hub()
    with served_by(type("Handler", (_Handler,), {"hub": hub})) as url, pytest.MonkeyPatch.context() as patch:
        hub.url = url.removesuffix("/v1")
        for name, value in {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "HF_TOKEN": ""}.items():
            patch.setenv(name, value)
        patch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        from huggingface_hub import constants

        patch.setattr(constants, "ENDPOINT", hub.url)
        patch.setattr(constants, "HF_HUB_OFFLINE", False)
        template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        try:
            yield hub
        finally:
            hub.ended.set()
