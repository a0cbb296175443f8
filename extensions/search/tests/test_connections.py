"""A server that is flooded, or held by visitors who ask nothing, goes on answering and says so in a line a minute."""

import contextlib
import logging
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import pytest
from running import PROJECT
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from verified.io import serving as connections


@contextlib.contextmanager
def running(app):
    """The address of `app` while it is served as `verified serve` does, and the warnings that are logged."""
    server, told = connections.server(app), []
    handler = logging.Handler(logging.WARNING)
    handler.emit = told.append
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "asyncio")]
    for logger in loggers:
        logger.addHandler(handler)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield listening.getsockname(), told
        finally:
            server.should_exit = True
            thread.join(30)
            for logger in loggers:
                logger.removeHandler(handler)


@pytest.fixture
def app():
    return Starlette(routes=[Route("/", lambda request: PlainTextResponse("here"))])


def asked(address) -> bytes:
    with contextlib.suppress(ConnectionError), socket.create_connection(address, 10) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        parts = []
        while part := one.recv(4096):
            parts.append(part)
        return b"".join(parts)
    return b""


SERVING = """
from argparse import Namespace
from starlette.applications import Starlette
from verified.cli.serving import run_server
run_server(Starlette(), Namespace(host="127.0.0.1", port=0), lambda address: address)
"""


def test_whoever_is_told_the_address_is_answered_and_can_end_it_at_once():
    """Also where the signal was ignored before, as it is for commands that a shell starts behind `&`."""
    command = [sys.executable, "-c", f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{SERVING}"]
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "scripts")}
    for asks in (False, True):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            try:
                address = urlsplit(process.stdout.readline().strip())
                assert not asks or b"404" in asked((address.hostname, address.port))
                process.send_signal(signal.SIGINT)
                assert process.wait(30) == 0
            finally:
                process.kill()


def until(reached):
    end = time.monotonic() + 60
    while not (last := reached()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return last


def test_a_flood_is_turned_away_in_one_line_and_visitors_come_back(app, monkeypatch):
    monkeypatch.setattr(connections, "MOST", 20)
    with running(app) as (address, told), contextlib.ExitStack() as held:
        assert b"here" in asked(address)
        crowd = [held.enter_context(socket.create_connection(address, 10)) for _ in range(300)]
        until(lambda: any("connections at once" in record.getMessage() for record in told))
        assert asked(address) == b""  # closed, not left waiting
        assert len(told) == 1
        for one in crowd:
            one.close()
        assert b"here" in until(lambda: asked(address))


def test_who_asks_nothing_is_sent_away(app, monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 0.2)
    with running(app) as (address, _), contextlib.ExitStack() as held:
        silent, slow = (held.enter_context(socket.create_connection(address, 30)) for _ in range(2))
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert silent.recv(1) == b"" and slow.recv(1) == b""
        assert b"here" in asked(address)


def test_the_limit_of_open_files_is_kept(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 100))
    few = connections.capacity()
    assert 0 < 3 * few < 100 - 64 + 3
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert connections.capacity() == connections.MOST


def test_a_line_a_minute_counts_what_it_held_back(monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(connections.time, "monotonic", lambda: clock[0])
    once = connections._OnceAMinute()

    def told(text, *values):
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, text, values, None)
        return record.getMessage() if once.filter(record) else None

    assert told("no files left\nsocket: %s", 1) == "no files left\nsocket: 1"
    assert [told("no files left\nsocket: %s", n) for n in range(500)] == [None] * 500
    assert told("something else")
    clock[0] += 61
    assert "500" in told("no files left\nsocket: %s", 2)
