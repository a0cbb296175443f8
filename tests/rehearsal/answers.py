"""Answers that stand in for those of trained models, as a cassette: without them no moment would get past the captions.

Models with random weights write rubbish. The demo's scene reader reads four moments of five instead, under the keys
that the run will ask for. The models answer for the fifth, but for its questions: without any, the video model would
not be asked.

python tests/rehearsal/answers.py CONFIG...
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from verified.captions.dynamics import caption_dynamics, questions_call
from verified.captions.statics import caption_statics
from verified.config import Config, read
from verified.config.folders import dataset_folder
from verified.config.generation import ROLES
from verified.demo.scene_reader import SceneReader
from verified.io.jsonl import read_jsonl
from verified.keyframes.archive import KeyframeTar
from verified.lmm.cassette import export
from verified.lmm.ledger import Ledger
from verified.lmm.session import Session
from verified.lmm.tasks import dynamics, statics
from verified.perturbations.write import TASK_OF_KIND, perturb
from verified.planning.stages import wanted_models
from verified.runtime.wildcards import shard_names
from verified.weights.records import locate_models
from verified.weights.wanted import record_file

PROJECT = Path(__file__).resolve().parents[2]
LEFT_TO_THE_MODELS = 5
"""Each fifth moment."""


class MockReader(SceneReader):
    def __init__(self, model: str, revision: str):
        super().__init__(corrupted_share=0.0)
        self.model, self.revision = model, revision


def main(*configs: str) -> None:
    """Write the cassette that the configuration names."""
    settings = read(*configs)
    build(settings, configs)
    generation = locate_models(settings.generation, model_records(settings))
    cassette = Path(generation.llm.cassette)
    roles = {name: getattr(generation, name).model_copy(update={"cassette": None}) for name in ROLES}
    engines = {name: MockReader(role.model, role.revision) for name, role in roles.items()}
    with tempfile.TemporaryDirectory() as folder:
        ledger = str(Path(folder, "ledger"))
        generation = generation.model_copy(update={**roles, "ledger": ledger})
        for name, dataset in settings.datasets.items():
            dataset_root = Path(dataset_folder(settings, name))
            for shard in shard_names(settings.shards):
                whole = read_jsonl(dataset_root / f"corpus/shards/{shard}.moments.jsonl")
                moments = [row for row in whole if _read(row)]
                videos = {row["video"]: row for row in read_jsonl(dataset_root / f"corpus/shards/{shard}.videos.jsonl")}
                with Session(generation, settings.seed, statics.TASKS, engines) as session:
                    caption_statics(moments, KeyframeTar(dataset_root / f"keyframes/{shard}.tar"), session)
                with Session(generation, settings.seed, dynamics.TASKS, engines) as session:
                    caption_dynamics(moments, videos, dataset.dynamics.model_dump(mode="json"), session)
                    others = [questions_call(row, session) for row in whole if not _read(row)]
                    list(session.ask(dynamics.QUESTIONS, others, len(others)))
                with Session(generation, settings.seed, TASK_OF_KIND.values(), engines) as session:
                    perturb(moments, session, generation.sentence_encoder)
        with Ledger(ledger) as calls:
            print(f"{export(calls, cassette)} answers in {cassette}")


def model_records(settings: Config) -> list[str]:
    return [record_file(settings, wanted) for wanted in sorted(wanted_models(settings))]


def build(settings: Config, configs: tuple[str, ...]) -> None:
    shards = shard_names(settings.shards)
    folders = [dataset_folder(settings, name) for name in settings.datasets]
    files = [
        f"{folder}/{file}"
        for folder in folders
        for shard in shards
        for file in (f"keyframes/{shard}.tar", f"corpus/shards/{shard}.videos.jsonl")
    ]
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), "--cores", "2"]
    command += ["--workflow-profile", str(PROJECT / "profiles" / "default"), "--configfile", *configs, "--"]
    subprocess.run([*command, *model_records(settings), *files], check=True)


def _read(moment: dict) -> bool:
    return moment["desc_id"] % LEFT_TO_THE_MODELS != 0


if __name__ == "__main__":
    main(*sys.argv[1:])
