"""Mutations of losses: what is learnt, from what, and with which draws."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from mutants.kinds import learning_from, losing
from mutants.registry import ONE_STAGE, mutation


@mutation("a loss is counted twice in the total")
def counted_twice(base):
    def losses(self, batch, **more):
        terms = base.losses(self, batch, **more)
        return {**terms, "total": terms["total"] + next(iter(terms.values()))}

    return {"losses": losses}


@mutation("ends learn the labels of starts", trained=True)
def ends_learn_starts(base):
    return learning_from(lambda batch: replace(batch, span=batch.span[:, :1].expand(-1, 2)))(base)


@mutation("queries learn from the moment of their neighbour", trained=True)
def neighbours_moment(base):
    return learning_from(lambda batch: replace(batch, span=batch.span.roll(1, dims=0)))(base)


@mutation("queries are paired with their neighbour's video", ONE_STAGE, trained=True)
def neighbours_video(base):
    def change(batch):
        video, mask = batch.video.roll(1, dims=0), batch.video_mask.roll(1, dims=0)
        return replace(batch, video=video, video_mask=mask, span=batch.span.roll(1, dims=0))

    return learning_from(change)(base)


@mutation("a negative stands in the slot of the true video", ("squidnet",), trained=True)
def slots_mixed_up(base):
    def change(batch):
        return replace(batch, video=batch.video.roll(1, dims=1), video_mask=batch.video_mask.roll(1, dims=1))

    return learning_from(change)(base)


@mutation("the batch is changed in place")
def batch_in_place(base):
    def change(batch):
        batch.video.mul_(1.1)
        return batch

    return learning_from(change)(base)


@mutation("a deviation over the batch, which one pair has not, is part of the loss")
def deviation_of_one_pair(base):
    def change(losses, batch, epoch):
        return 0.01 * batch.query.to(torch.float32).std(dim=0).mean() * losses["total"]

    return losing(change)(base)


@mutation("the loss of late epochs is divided by zero")
def late_epochs(base):
    return losing(lambda losses, batch, epoch: losses["total"] / (0 if epoch > 100 else 100))(base)


@mutation("the loss draws from torch's global generator")
def global_draws(base):
    return losing(lambda losses, batch, epoch: 0.01 * torch.rand(()) * losses["total"])(base)


@mutation("the loss draws from numpy's global generator")
def numpy_draws(base):
    return losing(lambda losses, batch, epoch: 0.01 * float(np.random.rand()) * losses["total"])(base)


@mutation("the loss seeds the generator that it is given")
def seeded_generator(base):
    def losses(self, batch, *, epoch, step, generator):
        return base.losses(self, batch, epoch=epoch, step=step, generator=generator.manual_seed(0))

    return {"losses": losses}


for name, value in (("hidden", 48), ("dropout", 0.5)):

    @mutation(f"the option {name} is not read")
    def unread(base, name=name, value=value):
        def __init__(self, config):
            base.__init__(self, replace(config, **{name: value}))
            self.config = config

        return {"__init__": __init__}


@mutation("a layer is never used")
def spare_layer(base):
    def __init__(self, config):
        base.__init__(self, config)
        self.spare = nn.Linear(3, 3)

    return {"__init__": __init__}


@mutation("no gradient reaches the query encoder")
def detached_queries(base):
    def encode_queries(self, query, mask):
        return {name: value.detach() for name, value in base.encode_queries(self, query, mask).items()}

    return {"encode_queries": encode_queries}
