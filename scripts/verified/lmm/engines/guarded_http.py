"""An HTTP client for endpoints with endless answers: one deadline and one size limit for a whole answer.

A client's timeout applies to one read from the socket. An endpoint that sends a byte now and then, endless headers, or
one "100 Continue" after another never exceeds it. Here the limits are enforced at the socket, below all of that.
"""

import contextlib
import os
import threading
import time
from collections.abc import Mapping
from importlib.util import find_spec
from ipaddress import ip_address, ip_network
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

import httpcore2
import openai

from verified.errors import InputError
from verified.runtime.secrets import keep_secret, redact

MOST_BYTES = 8 * 2**20
"""Most bytes of an answer with its headers; captions take a few thousand."""


class Refused(Exception):
    """An answer that is not read; the message gives the reason."""


class Limits(threading.local):
    """Remaining time and bytes of the call of this thread: `until` (of `time.monotonic`) and bytes to be read."""

    until = float("inf")
    seconds = float("inf")
    bytes_left = MOST_BYTES

    def begin(self, seconds: float) -> None:
        """Start the clock for a call of this thread."""
        self.until, self.seconds, self.bytes_left = time.monotonic() + seconds, seconds, MOST_BYTES

    def seconds_left(self, timeout: float | None) -> float:
        """Seconds for the next step, at most `timeout`. Raises ReadTimeout when the call's is over."""
        remaining = self.until - time.monotonic()
        if remaining <= 0:
            raise httpcore2.ReadTimeout("the whole answer took too long")
        return remaining if timeout is None else min(remaining, timeout)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, limits: Limits):
        self.inner, self.limits = inner, limits

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        content = self.inner.read(max_bytes, self.limits.seconds_left(timeout))
        self.limits.bytes_left -= len(content)
        if self.limits.bytes_left < 0:
            raise Refused(f"the answer has more than {MOST_BYTES} bytes")
        return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.inner.write(buffer, self.limits.seconds_left(timeout))

    def close(self) -> None:
        self.inner.close()

    def start_tls(self, ssl_context, server_hostname=None, timeout=None) -> httpcore2.NetworkStream:
        return _Stream(
            self.inner.start_tls(ssl_context, server_hostname, self.limits.seconds_left(timeout)), self.limits
        )

    def get_extra_info(self, info: str):
        return self.inner.get_extra_info(info)


class _Backend(httpcore2.SyncBackend):
    def __init__(self, limits: Limits):
        self.limits = limits

    def connect_tcp(self, host, port, timeout=None, local_address=None, socket_options=None):
        seconds = self.limits.seconds_left(timeout)
        return _Stream(super().connect_tcp(host, port, seconds, local_address, socket_options), self.limits)


class Proxy(NamedTuple):
    """A proxy, and the variable of the environment that names it."""

    address: str
    variable: str


def proxy_of(url: str) -> Proxy | None:
    """The proxy that the environment names for calls to `url`; none for this machine and the hosts of NO_PROXY.

    Raises InputError for a proxy of a kind that is not spoken.
    """
    parts = urlsplit(url)
    names = (f"{parts.scheme}_proxy", f"{parts.scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    variable = next(filter(os.environ.get, names), None)
    if variable is None or _goes_direct(parts.hostname or ""):
        return None
    address = os.environ[variable].strip()
    address = address if "://" in address else f"http://{address}"
    endpoint, keys = urlsplit(address), ("http", "https", *(("socks5", "socks5h") if find_spec("socksio") else ()))
    keep_secret(endpoint.password)
    try:
        is_valid = endpoint.scheme in keys and endpoint.hostname and (endpoint.port or True)
    except ValueError:  # a port that is no number
        is_valid = False
    if not is_valid:
        raise InputError(
            f"the environment variable {variable} names the proxy {redact(address)!r}, which cannot be used",
            remedy=f"name one of {', '.join(keys)}, unset {variable}, or put {parts.hostname} into NO_PROXY",
        )
    return Proxy(address, variable)


def _goes_direct(host: str) -> bool:
    """Whether calls to a host need no proxy."""
    exceptions = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    if host == "localhost" or "*" in map(str.strip, exceptions.split(",")) or proxy_bypass(host):
        return True
    try:
        number = ip_address(host)
    except ValueError:
        return False
    for net in (entry.strip() for entry in exceptions.split(",") if "/" in entry):
        with contextlib.suppress(ValueError):  # no net of addresses
            if number in ip_network(net, strict=False):
                return True
    return number.is_loopback


def guarded_client(limits: Limits, proxy: Proxy | None = None) -> openai.DefaultHttpxClient:
    """The official client's HTTP client, by a proxy if there is one, under `limits`.

    Redirects are not followed: the body, a user's video, would be sent to an address that the configuration does not
    name. Compressed answers are neither requested nor read, because a few bytes may expand without limit.
    """
    try:
        certificates = httpcore2.default_ssl_context()
    except OSError as error:
        raise InputError(
            f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read: {error}",
            remedy="name a file with certificates (PEM), or unset it",
        ) from None
    client = openai.DefaultHttpxClient(
        timeout=None,
        proxy=proxy and proxy.address,
        trust_env=False,
        verify=certificates,
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [lambda response: _refuse_compressed(response.headers)]},
    )
    # No public way to the sockets preserves the environment's proxies.
    for transport in (client._transport, *filter(None, client._mounts.values())):
        pool: Any = getattr(transport, "_pool")  # noqa: B009 (it is private: no type says that it is there)
        pool._network_backend = _Backend(limits)
    return client


def _refuse_compressed(headers: Mapping[str, str]) -> None:
    packed = headers.get("content-encoding", "identity")
    if packed != "identity":
        raise Refused(f"the answer is compressed ({packed[:20]}), which was not requested")
