"""What pyproject.toml cannot say: a wheel carries the workflow's files as well, in `verified/workflow`.

There they lie as in a checkout (see `verified.runtime.project`). An editable installation uses the checkout itself.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
WORKFLOW = (
    "Snakefile",
    "rules/*",
    "scripts/*/*.py",
    "envs/*",
    "report/*",
    "config/**/*",
    "extensions/*/*",
    "extensions/*/[!t]*/**/*",
    "profiles/**/*",
)


class BuildWithWorkflow(build_py):
    """setuptools' step that gathers a package, with the workflow's files."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "verified", "workflow")
        shutil.rmtree(target, ignore_errors=True)
        for file in (file for pattern in WORKFLOW for file in sorted(HERE.glob(pattern))):
            if file.is_file() and file.parent != HERE / "scripts" / "verified":
                copy = target / file.relative_to(HERE)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)


setup(cmdclass={"build_py": BuildWithWorkflow})
