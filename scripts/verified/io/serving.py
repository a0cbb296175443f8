"""Common rules of all page servers: headers of each answer, and host names allowed on a loopback address."""

import ipaddress

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
PATIENCE = 15.0
"""Seconds for a whole request to arrive."""
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
    """Middleware that limits a loopback address to requests for its own name; none on other addresses."""
    if not is_loopback(host):
        return []
    names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    return [Middleware(TrustedHostMiddleware, allowed_hosts=sorted(names))]
