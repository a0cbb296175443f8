"""A rule's script, run in this process as Snakemake runs it."""

import os
from collections.abc import Callable

from running import PROJECT

from verified.config.params import VARIABLE


class Script(dict):
    """What Snakemake puts into a script under the name `snakemake`: values by key, by attribute and by place."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __getitem__(self, name):
        return list(self)[name] if isinstance(name, int) else super().__getitem__(name)

    def __iter__(self):
        return iter([path for value in self.values() for path in (value if isinstance(value, list) else [value])])


def script_run(path: str, rule: str, input: dict, output: dict, params: dict, wildcards: dict) -> Callable[[], None]:
    """The script at `path` below scripts/, or below the project, as a function: checksums, log and all."""
    script = PROJECT / path if path.startswith("extensions/") else PROJECT / "scripts" / path
    code = compile(script.read_text(encoding="utf-8"), str(script), "exec")
    parts = {"input": input, "output": output, "params": params, "wildcards": wildcards}
    snakemake = Script({name: Script(values) for name, values in parts.items()})
    snakemake |= {"log": [], "rule": rule, "resources": Script(gpu=0), "threads": 1}

    def run() -> None:
        os.environ.setdefault(VARIABLE, "{}")
        exec(code, {"snakemake": snakemake})

    return run
