"""A provider on this machine with OpenAI's Files and Batches, which answers well or badly."""

import contextlib
import json
import random
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from loopback import completion, form_fields, sensible, served_by


def answered(key: str, body: dict) -> dict:
    """The result of a call that went well."""
    response = {"status_code": 200, "request_id": "r", "body": json.loads(completion(sensible(body)).body)}
    return {"id": "r", "custom_id": key, "response": response, "error": None}


def expired(key: str) -> dict:
    """The result of a call that ran out of time."""
    return {"id": "r", "custom_id": key, "response": None, "error": {"code": "batch_expired", "message": "too late"}}


def failed(key: str, status: int, code: str = "", message: str = "no") -> dict:
    """The result of a call that was refused."""
    body = {"error": {"message": message, "code": code}}
    return {"id": "r", "custom_id": key, "response": {"status_code": status, "body": body}, "error": None}


class Provider:
    """`url` to configure; `sent` files by name, as (file name, calls); `batches`; `asked` custom_ids so far, in order.

    `script(number, calls)` gives the lines of the answers to the batch of that number: rows, or bytes. `looks` a batch
    is in progress before it is over. `before(method, path)` may return (status, body) in place of an answer; `after`
    is called when one was made but not yet sent.
    """

    def __init__(self, script: Callable[[int, dict[str, dict]], list], looks: int = 1):
        self.script, self.looks = script, looks
        self.sent: dict[str, tuple[str, list[dict]]] = {}
        self.kept: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, dict] = {}
        self.asked: list[str] = []
        self.cancelled: list[str] = []
        self.deleted: list[str] = []
        self.before: Callable[[str, str], tuple[int, dict] | None] = lambda method, path: None
        self.after: Callable[[str, str], None] = lambda method, path: None
        self.status, self.errors = "completed", []
        self.lock = threading.Lock()
        self.url = ""

    def serve(self, method: str, address: str, kind: str, body: bytes) -> tuple[int, bytes]:
        with self.lock:
            path = urlsplit(address).path.removeprefix("/v1")
            instead = self.before(method, path)
            status, said = instead or self._serve(method, path, parse_qs(urlsplit(address).query), kind, body)
            if instead is None:
                self.after(method, path)
        return status, said if isinstance(said, bytes) else json.dumps(said).encode()

    def _serve(self, method: str, path: str, query: dict, kind: str, body: bytes) -> tuple[int, dict | bytes]:
        parts = path.strip("/").split("/")
        if (method, path) == ("POST", "/files"):
            fields = form_fields(kind, body)
            assert fields["purpose"] == "batch"
            name = f"file-{len(self.sent)}"
            self.sent[name] = ("", [json.loads(line) for line in fields["file"].splitlines()])
            self.kept[name] = (body.split(b'filename="')[1].split(b'"')[0].decode(), fields["file"])
            return 200, self._file(name)
        if (method, path) == ("GET", "/files"):
            names = [name for name in reversed(self.kept) if name in self.sent]
            return 200, self._page([self._file(name) for name in names], query)
        if (method, path) == ("POST", "/batches"):
            return 200, self._begin(json.loads(body))
        if (method, path) == ("GET", "/batches"):
            return 200, self._page(list(reversed(self.batches.values())), query)
        if parts[0] == "files" and parts[1] in self.kept:
            if method == "DELETE":
                self.deleted.append(parts[1])
                return 200, {"id": parts[1], "object": "file", "deleted": True}
            return 200, self.kept[parts[1]][1]
        if parts[0] == "batches" and parts[1] in self.batches:
            return 200, self._cancel(parts[1]) if parts[2:] == ["cancel"] else self._look(parts[1])
        return 404, {"error": {"message": "no such thing", "code": "not_found"}}

    def _file(self, name: str) -> dict:
        file_name, content = self.kept[name]
        values = {"id": name, "object": "file", "filename": file_name, "bytes": len(content), "created_at": 1}
        return {**values, "purpose": "batch", "status": "processed"}

    def _page(self, rows: list[dict], query: dict) -> dict:
        begin = next((n + 1 for n, row in enumerate(rows) if [row["id"]] == query.get("after")), 0)
        page = rows[begin : begin + 2]  # short ones, so that the next is asked for
        return {"object": "list", "data": page, "has_more": begin + 2 < len(rows)}

    def _begin(self, wanted: dict) -> dict:
        assert wanted["completion_window"] == "24h"
        name, calls = f"batch-{len(self.batches)}", self.sent[wanted["input_file_id"]][1]
        assert {call["url"] for call in calls} == {wanted["endpoint"]} and {call["method"] for call in calls} == {
            "POST"
        }
        assert len({call["custom_id"] for call in calls}) == len(calls)
        self.asked += [call["custom_id"] for call in calls]
        values = {"id": name, "object": "batch", "endpoint": wanted["endpoint"], "completion_window": "24h"}
        self.batches[name] = {
            **values,
            "created_at": 1,
            "input_file_id": wanted["input_file_id"],
            "status": "validating",
            "looks": 0,
        }
        return self.batches[name]

    def _look(self, name: str) -> dict:
        batch = self.batches[name]
        batch["looks"] += 1
        if batch["status"] == "cancelling":
            return self._end(batch, "cancelled")
        if batch["status"] in ("validating", "in_progress"):
            batch["status"] = "in_progress"
            if batch["looks"] > self.looks:
                self._end(batch, self.status)
        return batch

    def _end(self, batch: dict, status: str) -> dict:
        number = int(batch["id"].removeprefix("batch-"))
        batch["status"] = status
        if status == "failed":
            batch["errors"] = {"object": "list", "data": self.errors}
            return batch
        calls = {call["custom_id"]: call["body"] for call in self.sent[batch["input_file_id"]][1]}
        rows = self.script(number, calls)
        lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
        wrong = [isinstance(row, dict) and 'status_code": 200' not in json.dumps(row) for row in rows]
        for kind, chosen in (("output", False), ("error", True)):
            if of_kind := [line for line, bad in zip(lines, wrong) if bad == chosen]:
                name = f"{kind}-{number}"
                self.kept[name] = (name, b"\n".join(of_kind) + b"\n")
                batch[f"{kind}_file_id"] = name
        return batch

    def _cancel(self, name: str) -> dict:
        self.cancelled.append(name)
        if self.batches[name]["status"] in ("validating", "in_progress"):
            self.batches[name]["status"] = "cancelling"
        return self.batches[name]


def good(number: int, calls: dict[str, dict]) -> list:
    """Every call is answered, in another order."""
    keys = sorted(calls)
    random.Random(number).shuffle(keys)
    return [answered(key, calls[key]) for key in keys]


@contextlib.contextmanager
def provider(script: Callable[[int, dict[str, dict]], list] = good, looks: int = 1) -> Iterator[Provider]:
    """Serve on a free port of the loopback interface for the time of the block."""
    served = Provider(script, looks)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            status, content = served.serve(self.command, self.path, self.headers.get("Content-Type", ""), body)
            with contextlib.suppress(OSError):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        do_GET = do_POST = do_DELETE = answer

        def log_message(self, *_):
            pass

    with served_by(Handler) as served.url:
        yield served
