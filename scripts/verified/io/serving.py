"""Common rules of all page servers: headers of each answer, host names allowed on a loopback address, connections.

Without a limit, connections above the process's limit of open files cause thousands of errors a minute and an unusable
page. So a connection beyond the limit is closed at once, a connection without a whole request is closed after a while,
and each kind of error is logged once a minute with a count.
"""

import asyncio
import ipaddress
import logging
import resource
import socket
import time
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
PATIENCE = 15.0
"""Seconds for a whole request to arrive."""
MOST = 128
"""Connections at once; a browser has up to six for each page."""
OWN_FILES = 64
"""Open files of the process itself: the index, libraries, standard streams."""
MINUTE = 60.0
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def trusted_hosts(host: str) -> list[Middleware]:
    """Middleware that limits a loopback address to requests for its name; none on other addresses."""
    if not is_loopback(host):
        return []
    names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    return [Middleware(TrustedHostMiddleware, allowed_hosts=sorted(names))]


class _OnceAMinute(logging.Filter):
    """Log filter that passes one record of a kind per minute, with the count since the last one."""

    def __init__(self):
        super().__init__()
        self._passed: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind, now = str(record.msg).split("\n")[0], time.monotonic()
        last, held_back = self._passed.get(kind, (now - MINUTE, 0))
        if now - last < MINUTE:
            self._passed[kind] = last, held_back + 1
            return False
        self._passed[kind] = now, 0
        record.msg, record.args = f"{record.getMessage()}{f' ({held_back} more like it)' if held_back else ''}", None
        record.exc_info = None  # one line, as promised
        return True


def capacity() -> int:
    """Concurrent connections that the limit of open files allows: each may read a file, and as many wait to be
    accepted."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST if most == resource.RLIM_INFINITY else max(4, min(MOST, (most - OWN_FILES) // 3))


class _Limited(H11Protocol):
    """A connection that counts against `capacity()`, closed when idle."""

    turned_away = False
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if len(self.connections) >= (most := capacity()):
            self.turned_away = True
            self.logger.warning("more than %d connections at once: one was closed", most)
            transport.abort()
            return
        super().connection_made(transport)
        self._waiting = self.loop.call_later(PATIENCE, self._close_idle, None)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        if not self.turned_away:
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.turned_away:
            super().data_received(data)

    def _close_idle(self, before: object) -> None:
        """Close the connection if no request is in progress and none arrived since the request `before`."""
        if self.cycle is before and (before is None or self.cycle.response_complete):
            self.transport.close()
        else:
            self._waiting = self.loop.call_later(PATIENCE, self._close_idle, self.cycle)


class _Telling(uvicorn.Server):
    """A server that calls `ready` once it answers and handles signals. Before that, a client may be refused, and a
    signal that the shell ignored at start (commands behind `&`) may be lost."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]):
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self.ready()


def server(app: Starlette, ready: Callable[[], None] = lambda: None) -> uvicorn.Server:
    """The web server of an application, to be run on bound sockets; it calls `ready` once it answers."""
    config = uvicorn.Config(app, http=_Limited, ws="none", backlog=capacity(), log_level="warning", access_log=False)
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.filters = [one for one in logger.filters if not isinstance(one, _OnceAMinute)] + [_OnceAMinute()]
    return _Telling(config, ready)
