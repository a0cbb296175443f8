"""Two hosts on one machine: each is a process in mount, name and process namespaces of its own. Linux, root."""

import shutil
import subprocess
import sys

from running import PROJECT


def why_not() -> str:
    """Why hosts cannot be made here; empty where they can."""
    if not shutil.which("unshare"):
        return "there is no unshare"
    tried = subprocess.run(["unshare", "-m", "-u", "-p", "-f", "--mount-proc", "true"], capture_output=True, text=True)
    return tried.stderr.strip()


def on_host(name: str, code: str, *arguments: object) -> subprocess.Popen:
    """Start Python `code` on the host `name`."""
    inside = ["sh", "-c", 'hostname "$0" && exec "$@"', name, sys.executable, "-c", code, *arguments]
    command = ["unshare", "-m", "-u", "-p", "-f", "--kill-child", "--mount-proc", *inside]
    return subprocess.Popen(list(map(str, command)), cwd=PROJECT, stdout=subprocess.PIPE, text=True)
