"""Every figure that paper and supplement give for a setting, beside the value of the paper's configuration."""

from dataclasses import asdict
from functools import reduce

import pytest
from running import PROJECT

from verified.benchmark.vcmr.metrics import RANKS, THRESHOLDS
from verified.benchmark.vcmr.registry import model_class
from verified.config import read
from verified.evaluator.model import TEMPERATURE
from verified.evaluator.settings import architecture

PAPER = read(PROJECT / "config" / "paper.yaml")

NAMES = ("didemo-fig", "charades-fig", "activitynet-fig")
OF_DATA_SET = {  # key: place, values of DiDeMo, Charades, ActivityNet
    "keyframes.segments": ("3.4, L", 1, 1, 5),
    "dynamics.fps": ("3.4, 8fps", 8, 8, None),
    "dynamics.frames": ("3.4, 64 frames", None, None, 64),
    "dynamics.max_frames": ("3.4, 64 frames", 64, 64, 64),
    "spans.clip_seconds": ("B.1, clip length", 1, 1, 1),
    "spans.max_pred_clips": ("B.1, maximum prediction length", 30, 12, 180),
    "spans.min_pred_clips": ("B.1, minimum prediction length", 5, 2, 1),
    "spans.max_context_clips": ("B.1, maximum context length", 30, 48, 240),
    "spans.nms_threshold": ("B.1, nms threshold", 0.6, 0.6, 0.5),
    "spans.train_split": ("3.4, previous splits", "train", "train", "train"),
    "spans.test_split": ("3.4, previous splits; B.1", "test", "test", "val_2"),
}
OF_RUN = {  # key: place, value
    "generation.llm.model": ("3.4, LLM", "mistralai/Mistral-7B-Instruct-v0.2"),
    "generation.image_lmm.model": ("3.4, image LMM", "llava-hf/llava-v1.6-mistral-7b-hf"),
    "evaluator.size": ("3.4, ViT-L/16", "L/16"),
    "evaluator.frames": ("3.4, frames of a moment", 20),
    "evaluator.learning_rate": ("3.4", 1e-5),
    "evaluator.batch": ("3.4, B", 16),
    "evaluator.epochs": ("3.4", 10),
    "evaluator.gpus": ("3.4, 4 A100-80G", 4),
    "features.fps": ("B.1, sampled video frames", 4),
    "features.video_backbone": ("B.1", "microsoft/resnet-152"),
    "features.text_encoder": ("B.1", "roberta-base"),
    "retrieval.models": ("4.2", ("hero", "xml", "reloclnet", "conquer", "squidnet")),
    "generation.questions": ("3.4, N_qa", 5),
    "generation.candidates": ("3.4, N_s and N_d", 3),
    "generation.perturbations": ("3.4, N_pos and N_neg", 3),
    "generation.sentence_encoder": ("3.4, SentenceBERT", "all-MiniLM-L6-v2"),
    "evaluator.hard_negatives": ("Equation 9, all of the batch", "all"),
    "evaluator.matching_normaliser": ("Equation 10, B", "batch"),
    "annotations.choose_by": ("3.4, the highest score", "confidence"),
    "statistics.distance": ("A.1, epsilon of DBSCAN", 0.01),
    "statistics.min_samples": ("A.1, minimum instance value", 2),
    "statistics.figure_min_samples": ("A.1, Figure 5", 16),
    "study.captions": ("A.2, of each type", 50),
    "study.questions": ("D, of a participant", 30),
    "study.raters": ("A.2, participants a question", 3),
    "retrieval.searched_videos": ("4.2, top K; the official 100", 100),
}

RECIPES = {  # B.1: "… adhere to the official codebases": rate, batch, epochs, patience, width, drop_last
    "xml": (1e-4, 128, 100, 10, 256, False),
    "reloclnet": (1e-4, 128, 100, 10, 384, False),
    "conquer": (1e-4, 64, 50, 3, 768, True),
    "squidnet": (1e-4, 16, 20, 3, 768, True),
    "hero": (7e-5, 128, 50, 5000, 768, False),
}


def value(settings: object, key: str) -> object:
    return reduce(getattr, key.split("."), settings)


@pytest.mark.parametrize(("key", "row"), OF_DATA_SET.items())
def test_of_each_data_set(key, row):
    place, *values = row
    assert [value(PAPER.datasets[name], key) for name in NAMES] == values, place


@pytest.mark.parametrize(("key", "row"), OF_RUN.items())
def test_of_the_run(key, row):
    place, expected = row
    assert value(PAPER, key) == expected, place


@pytest.mark.parametrize("name", RECIPES)
def test_of_the_official_code(name):
    cls = model_class(name)
    recipe = cls.recipe
    width = asdict(cls.Config(video_dim=2048, text_dim=768, context_clips=9))["hidden"]
    found = (recipe.learning_rate, recipe.batch, recipe.epochs, recipe.patience, width, recipe.drop_last)
    assert found == RECIPES[name]


def test_of_measures_and_evaluator():
    assert THRESHOLDS == (0.5, 0.7) and RANKS == (1, 5, 10, 100), "4.2, Metrics"
    assert TEMPERATURE == 0.07, "3.4, tau"
    size = architecture(PAPER.evaluator.size, PAPER.evaluator.frames, PAPER.evaluator.image_size)
    assert (size.vision_width, size.text_width, size.frames) == (1024, 1024, 20), "3.4, ViT-L/16"
