"""What every server of pages here keeps to: headers of each answer, and names that a loopback address answers to."""

import ipaddress

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
PATIENCE = 15.0
"""Seconds in which a request has to arrive whole."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def trusted_hosts(host: str) -> list[Middleware]:
    """What makes a loopback address answer requests to its own name only; nothing on other addresses."""
    if not is_loopback(host):
        return []
    names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    return [Middleware(TrustedHostMiddleware, allowed_hosts=sorted(names))]
