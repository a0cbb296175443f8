"""Downloads against a local server that breaks in every way."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from refusals import refused

from verified.released import files as module
from verified.released.files import SourceFile, download

DATA = bytes(range(256)) * 400


class Server(ThreadingHTTPServer):
    """Serves DATA; `plan` holds one behaviour per request: ok, cut, 503, 404, no-range, wrong."""

    def __init__(self, plan: list[str]):
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan, self.ranges = plan, []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        plan = self.server.plan.pop(0)
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        if plan.isdigit():
            return self.send_error(int(plan))
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and plan != "no-range" else 0
        data = (DATA if plan != "wrong" else DATA[:-1] + b"!")[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if plan == "cut" else data)

    def log_message(self, *_):
        pass


@pytest.fixture
def fetch(tmp_path):
    servers = []

    def run(*plan: str):
        server = Server(list(plan))
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        source = SourceFile(
            "set",
            "test",
            "1",
            "fig",
            "set/test.jsonl",
            f"http://127.0.0.1:{server.server_port}/test.jsonl",
            hashlib.sha256(DATA).hexdigest(),
            len(DATA),
            1,
            "MIT",
            "open",
        )
        download(source, tmp_path / "set" / "test.jsonl", pause=0.01)
        return server

    yield run
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_cut_connection_is_resumed_where_it_stopped(fetch, tmp_path):
    server = fetch("cut", "503", "ok")
    assert server.ranges == [None, f"bytes={len(DATA) // 2}-", f"bytes={len(DATA) // 2}-"]
    assert (tmp_path / "set" / "test.jsonl").read_bytes() == DATA


def test_a_killed_run_is_resumed_by_the_next(fetch, tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "test.jsonl.part").write_bytes(DATA[:1000])
    assert fetch("ok").ranges == ["bytes=1000-"]
    assert (tmp_path / "set" / "test.jsonl").read_bytes() == DATA


def test_a_server_that_cannot_resume_starts_over(fetch, tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "test.jsonl.part").write_bytes(DATA[:1000])
    fetch("no-range")
    assert (tmp_path / "set" / "test.jsonl").read_bytes() == DATA


def test_a_wrong_byte_leaves_nothing_behind(fetch, tmp_path):
    with refused("set/test.jsonl", remedy=True):
        fetch("wrong")
    assert list((tmp_path / "set").iterdir()) == []


def test_a_missing_page_is_not_asked_for_again(fetch, tmp_path):
    with refused("404", "by hand", remedy=True):
        fetch("404")
    assert not (tmp_path / "set" / "test.jsonl").exists()


def test_attempts_end(fetch, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ATTEMPTS", 3)
    with refused("3 attempts", "503", remedy=True):
        fetch("503", "503", "503")
