"""Make the inputs of config/rehearsal.yaml: tiny models, UMT's file, videos and annotations (see the Makefile).

PYTHONPATH=tests python tests/rehearsal/prepare.py FOLDER [VIDEOS A DATA SET]
"""

import shutil
import sys
from pathlib import Path

import tiny_models
from corpora import write_corpora
from umt_file import write_umt

from verified.config import read
from verified.evaluator.settings import architecture
from verified.io.files import write_text

CONFIG = Path(__file__).resolve().parents[2] / "config" / "rehearsal.yaml"
DONE = "complete"


def write_hub(hub: Path) -> None:
    """A folder that stands in for the hub, with every model of config/layers/models.yaml."""
    tiny_models.mistral(hub / "mistralai" / "Mistral-7B-Instruct-v0.2", context=8192)
    tiny_models.llava_next(hub / "llava-hf" / "llava-v1.6-mistral-7b-hf")
    tiny_models.qwen_vl(hub / "Qwen" / "Qwen2.5-VL-7B-Instruct")
    tiny_models.resnet(hub / "microsoft" / "resnet-152")
    tiny_models.roberta(hub / "roberta-base")


def main(folder: Path, videos: int = 12) -> None:
    """Write everything anew, or nothing where it exists already."""
    mark = folder / DONE
    if mark.is_file() and mark.read_text() == str(videos):
        print(f"{folder} stands already")
        return
    shutil.rmtree(folder, ignore_errors=True)
    write_hub(folder / "hub")
    evaluator = read(CONFIG).evaluator
    size = architecture(evaluator.size, evaluator.frames, evaluator.image_size)
    write_umt(Path(evaluator.umt_file), size)
    missing = write_corpora(folder, videos)
    write_text(mark, str(videos))
    print(f"{folder}: {videos} videos a data set, of which are missing on purpose: {missing}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
