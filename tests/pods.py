"""A Kubernetes of one machine, as far as Snakemake's executor asks: a pod is a shell in an empty folder of its own.

What a real one adds, images, volumes, the queue, limits, is left out; the objects that the executor posts are kept, for
tests to look at. Programs of the image are those of this environment, and nothing is installed in a pod.
"""

import base64
import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

PIP = '#!/bin/sh\necho "pip $*"\n'


class Cluster:
    """Jobs (as posted, by name), the folder of each one's pod, and secrets by name."""

    def __init__(self, folder: Path):
        self.folder, self.jobs, self.pods = folder, {}, {}
        self.secrets: dict[str, dict[str, str]] = {}
        self.programs = folder / "bin"
        self.programs.mkdir()
        for name, script in (("python", f'#!/bin/sh\nexec {sys.executable} "$@"\n'), ("pip", PIP)):
            (self.programs / name).write_text(script)
            (self.programs / name).chmod(0o755)

    def start(self, job: dict) -> None:
        """Start the pod of a job that was posted."""
        name = job["metadata"]["name"]
        (container,) = job["spec"]["template"]["spec"]["containers"]
        place = self.folder / name
        place.mkdir()
        environment = {"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(place), "OMP_NUM_THREADS": "1"}
        for variable in container["env"]:
            key = variable["valueFrom"]["secretKeyRef"]
            environment[variable["name"]] = self.secrets[key["name"]][key["key"]]
        with (self.folder / f"{name}.log").open("w") as log:
            self.pods[name] = subprocess.Popen(
                [*container["command"], *container["args"]], cwd=place, env=environment, stdout=log, stderr=log
            )
        self.jobs[name] = job

    def status(self, name: str) -> dict:
        code = self.pods[name].poll()
        return {"active": 1} if code is None else {"failed": 1} if code else {"succeeded": 1}

    def logs(self) -> str:
        """What the pods that failed have said."""
        failed = [name for name, pod in self.pods.items() if pod.poll()]
        return "\n".join((self.folder / f"{name}.log").read_text(errors="replace")[-3000:] for name in failed)


class Handler(BaseHTTPRequestHandler):
    """The calls of the API that the executor makes."""

    protocol_version = "HTTP/1.1"

    @property
    def cluster(self) -> Cluster:
        return self.server.cluster  # pyright: ignore[reportAttributeAccessIssue]

    def log_message(self, *_):
        pass

    def answer(self, body: dict, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self) -> dict:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")

    def do_POST(self):
        posted = self.body()
        if self.path.endswith("/secrets"):
            data = {key: base64.b64decode(value).decode() for key, value in posted["data"].items()}
            self.cluster.secrets[posted["metadata"]["name"]] = data
        else:
            assert self.path == "/apis/batch/v1/namespaces/lab/jobs", self.path
            self.cluster.start(posted)
        self.answer(posted, 201)

    def do_GET(self):
        if "/pods" in self.path:
            self.answer({"apiVersion": "v1", "kind": "PodList", "items": []})
        else:
            name = self.path.removesuffix("/status").rpartition("/")[2]
            self.answer({"metadata": {"name": name}, "status": self.cluster.status(name)})

    def do_DELETE(self):
        self.body()
        name = self.path.partition("?")[0].rpartition("/")[2]
        self.cluster.secrets.pop(name, None)
        self.answer({"kind": "Status", "status": "Success"})


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster whose pods have their folders in `folder`, and a file `folder`/kubeconfig that names it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.cluster = running = Cluster(folder)  # pyright: ignore[reportAttributeAccessIssue]
    named = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
        "users": [{"name": "lab", "user": {}}],
    }
    (folder / "kubeconfig").write_text(yaml.safe_dump(named))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield running
    finally:
        server.shutdown()
        for pod in running.pods.values():
            if pod.poll() is None:
                pod.terminate()
                pod.wait(30)
