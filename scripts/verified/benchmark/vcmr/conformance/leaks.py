"""Search must not profit from knowing which video is the true one."""

import torch

from verified.benchmark.lists import NO_VIDEO
from verified.benchmark.vcmr import search as engine
from verified.benchmark.vcmr.conformance.trial import Trial, close, require


def check_no_leak(trial: Trial) -> None:
    """VR and VCMR lists are the same whichever video is the true one; SVMR lists hold the true one alone."""
    model, corpus = trial.model(), trial.corpus
    # State from training must not help a model here.
    trial.losses(model, corpus.training_batch())
    shifted = corpus.moments((corpus.true_video + 3) % corpus.count)
    lists = []
    for moments in (corpus.moments(corpus.true_video), shifted):
        lists_by_task = engine.search(model, corpus, corpus.queries, moments, corpus.searching, corpus.ranked).tasks()
        shown = lists_by_task["SVMR"].video
        require((shown[:, 0] == moments.video).all(), "SVMR: a list does not look into the true video")
        rest = (shown == moments.video[:, None]) | (shown == NO_VIDEO)
        require(rest.all(), "SVMR: a list holds another video than the true one")
        lists.append(lists_by_task)
    for task in ("VR", "VCMR"):
        first, second = (torch.from_numpy(lists_by_task[task].score) for lists_by_task in lists)
        require(
            torch.isfinite(first).all() and torch.isfinite(second).all(),
            f"{task}: lists hold scores that are not finite",
        )
        same = first.shape == second.shape and close(first.log1p(), second.log1p())
        require(same, f"{task}: lists change with the true video, which the model must not know")
