"""Common rules of all page servers: headers of each answer, host names allowed on a loopback address, connections."""

import ipaddress
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from uvicorn.protocols.http.auto import AutoHTTPProtocol

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
MOST = 128
"""Connections at once, beyond which a request is answered 503; a browser has up to six for each page."""
MOST_EACH = 48
"""The same from one other machine, so that slow or silent clients of one address leave room for all others."""
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


class _Bounded(AutoHTTPProtocol):
    """A connection that is refused where its address has too many open ones; this machine's, as a proxy's, are not."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        address, others = _address(self), map(_address, vars(self)["connections"])
        if not is_loopback(address) and sum(other == address for other in others) > MOST_EACH:
            transport.write(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            transport.close()


def _address(connection: Any) -> str:
    return connection.client[0] if connection.client else ""


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
    config = uvicorn.Config(
        app, ws="none", http=_Bounded, limit_concurrency=MOST, log_level="warning", access_log=False
    )
    return _Telling(config, ready)
