"""Two hosts on one machine, as far as SQLite can tell: a network file system between them, and no memory in common.

Each host is a process in mount, name and process namespaces of its own. Both see the same folder; what SQLite keeps in
memory that all processes of one machine share, the -shm file of a database in WAL mode, each sees for itself, as over
NFS. Linux, root.
"""

import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
ENTER = """
set -e
mount --make-rprivate /
hostname "$1"
mount -t tmpfs none "$2"
: > "$2/shm"
mount --bind "$2/shm" "$3-shm"
shift 3
exec "$@"
"""


def why_not() -> str:
    """Why hosts cannot be made here; empty where they can."""
    if not shutil.which("unshare"):
        return "there is no unshare"
    tried = subprocess.run(["unshare", "-m", "-u", "-p", "-f", "--mount-proc", "true"], capture_output=True, text=True)
    return tried.stderr.strip()


def on_host(name: str, ledger: Path, code: str, *arguments: object) -> subprocess.Popen:
    """Start Python `code` on the host `name`, which shares the folder of `ledger` with the others."""
    private = ledger.parent.with_name(f"{ledger.parent.name}-{name}")
    private.mkdir(exist_ok=True)
    ledger.with_name(f"{ledger.name}-shm").touch()
    inside = ["sh", "-c", ENTER, "sh", name, private, ledger, sys.executable, "-c", code, *arguments]
    command = ["unshare", "-m", "-u", "-p", "-f", "--kill-child", "--mount-proc", *inside]
    return subprocess.Popen(list(map(str, command)), cwd=PROJECT, stdout=subprocess.PIPE, text=True)
