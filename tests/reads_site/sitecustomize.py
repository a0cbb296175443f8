"""Notes the files that each job of a workflow reads; Python imports it at start, in the runs of `running.snakemake`.

A job's notes are two files in the folder `VERIFIED_READS`, both named after its script: `NAME.reads` has a line for
each file that the job's processes open ("r" or "w", a tab, the path), `NAME.job` has the job's own declaration.
"""

import atexit
import importlib.util
import json
import os
import sys
from importlib.abc import MetaPathFinder

OPENERS = {"av": "open", "h5py.h5f": "open", "safetensors": "safe_open", "decord": "VideoReader", "cv2": "imread"}
"""Functions of compiled libraries that open a file past Python, by module."""


class WrapOpeners(MetaPathFinder):
    """Makes each function of `OPENERS` note the file that it is called with."""

    def __init__(self):
        self.left = {**OPENERS}

    def find_spec(self, name, path=None, target=None):
        function = self.left.pop(name, None)
        spec = importlib.util.find_spec(name) if function else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_wrap(module):
            execute(module)
            opener = getattr(module, function)

            def noting(file, *arguments, **named):
                if not (arguments and arguments[0] == "w"):
                    sys.audit("open", os.fsdecode(file).removeprefix("file:"), "r", 0)
                return opener(file, *arguments, **named)

            setattr(module, function, noting)

        spec.loader.exec_module = execute_and_wrap
        return spec


def note(event: str, arguments: tuple) -> None:
    if event not in ("open", "os.mkdir", "os.rename"):
        return
    path = arguments[event == "os.rename"]  # a file that a job writes beside and renames is its own
    if not isinstance(path, (str, bytes, os.PathLike)):
        return
    writes = event != "open" or arguments[2] & os.O_CREAT
    line = f"{'w' if writes else 'r'}\t{os.path.abspath(os.fsdecode(path))}\n"
    if line not in seen and not line.endswith((".py\n", ".pyc\n")):
        seen.add(line)
        os.write(notes, line.encode())


def declare() -> None:
    """Write what the rule declared, once the script has ended."""
    job = getattr(sys.modules["__main__"], "snakemake", None)
    if job is not None:
        declared = {key: [os.path.abspath(file) for file in getattr(job, key)] for key in ("input", "output", "log")}
        with open(f"{name}.job", "w", encoding="utf-8") as file:
            json.dump({"rule": job.rule, "folder": os.getcwd(), **declared}, file)


script = next((word for word in sys.orig_argv if ".snakemake/scripts/" in word), None)
if script is not None and "VERIFIED_READS" in os.environ:
    os.environ["VERIFIED_READS_JOB"] = os.path.join(os.environ["VERIFIED_READS"], os.path.basename(script))
    atexit.register(declare)
if "VERIFIED_READS_JOB" in os.environ:
    name = os.environ["VERIFIED_READS_JOB"]
    notes = os.open(f"{name}.reads", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    seen: set[str] = set()
    sys.meta_path.insert(0, WrapOpeners())
    sys.addaudithook(note)
