"""One training step: B clips, up to four captions each, and the pairs that Equations 9 to 11 need, each once."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from verified.evaluator.losses import contrastive_loss, draw_negatives, matching_loss, total_loss
from verified.evaluator.model import TEMPERATURE_RANGE, NoiseEvaluator, confidence, similarity
from verified.evaluator.processes import gather, processes, share, total
from verified.evaluator.text import select_videos
from verified.evaluator.vision import normalise

ROLES = ("caption", "positive", "static", "dynamic")


@dataclass
class Batch:
    """B items, gathered over all processes, of which this process holds the frames of its own share.

    frames: uint8 [b, T, H, W, 3]. ids, mask: [roles, B, L], roles in the order of ROLES, of which `positive` may be
    missing (then `roles` says so). same: [B, B] boolean, items whose captions are equal, the diagonal included.
    names: what to call the items in an error.
    """

    frames: Tensor
    ids: Tensor
    mask: Tensor
    roles: tuple[str, ...]
    same: Tensor
    names: list[str]


class TrainingStep(nn.Module):
    """Losses of a batch; a module so that DistributedDataParallel can wrap it.

    hard_negatives, matching_normaliser: the config's switches for Equations 9 and 10. `generator` draws the trivial
    negatives; the training loop seeds it before each step, alike in every process.
    """

    def __init__(self, model: NoiseEvaluator, hard_negatives: str, matching_normaliser: str):
        super().__init__()
        self.model = model
        self.hard_negatives, self.matching_normaliser = hard_negatives, matching_normaliser
        self.generator = torch.Generator()

    def forward(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """(objective of this process, detached loss terms of the whole batch), all scalars.

        DistributedDataParallel averages gradients, so the objective is scaled such that the average is Equation 11's
        gradient. Where no rewritten positive exists, q takes its place, and Equation 11 becomes λ_c l_c + λ_m l_m.
        """
        tokens, videos = self.model.encode_video(normalise(batch.frames))
        return self.losses(batch, tokens, videos)

    def losses(self, batch: Batch, tokens: Tensor, videos: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """`forward` for clips that are encoded already: tokens [b, T·P, width] and unit vectors [b, T, embedding]."""
        rank, world = processes()
        my_share = share(batch.ids.shape[1], rank, world)
        with torch.no_grad():
            self.model.temperature.clamp_(*TEMPERATURE_RANGE)
        roles = [r for r in batch.roles if self.hard_negatives != "none" or r in ("caption", "positive")]
        used_roles = [batch.roles.index(role) for role in roles]
        ids, mask = batch.ids[used_roles][:, my_share], batch.mask[used_roles][:, my_share]
        states, texts = self.model.encode_text(ids.flatten(0, 1), mask.flatten(0, 1))
        states = states.unflatten(0, ids.shape[:2])
        videos = gather(videos)
        texts = gather(texts.unflatten(0, ids.shape[:2]).transpose(0, 1).contiguous()).transpose(0, 1)
        sims = {role: similarity(videos, texts[number]) for number, role in enumerate(roles)}
        hard = [sims[role] for role in roles if role in ("static", "dynamic")]
        temperature = self.model.temperature
        anchors = [role for role in roles if role in ("caption", "positive")]
        contrastive = {r: contrastive_loss(sims[r], hard, temperature, self.hard_negatives) for r in anchors}

        negatives = draw_negatives(sims["caption"], temperature.item(), batch.same, self.generator)
        matching = self._matching(batch, roles, anchors, tokens, states, my_share, negatives)

        def terms(kind: str, values: dict[str, Tensor]) -> dict[str, Tensor]:
            plus = values.get("positive", values["caption"])
            return {kind: values["caption"], f"{kind}_plus": plus}

        local = {name: value / world for name, value in terms("contrastive", contrastive).items()}
        local |= terms("matching", matching)
        seen = {name: value.detach() for name, value in terms("contrastive", contrastive).items()}
        seen |= {name: total(value) for name, value in terms("matching", matching).items()}
        seen["loss"] = total_loss(seen)
        return total_loss(local) * world, seen

    def _matching(self, batch, roles, anchors, tokens, states, my_share: slice, negatives) -> dict[str, Tensor]:
        """This process's share of Equation 10 for q and for q+: the pairs whose video it owns.

        Only captions' states travel between processes, never the far larger tokens of videos.
        """
        size, device = batch.ids.shape[1], tokens.device
        text_negative, video_negative = (index.to(device) for index in negatives)
        mine = torch.arange(my_share.start, my_share.stop, device=device)
        everyone = {role: gather(states[roles.index(role)]) for role in anchors}
        masks = {role: batch.mask[batch.roles.index(role)] for role in anchors}
        memory = self.model.fusion.memory(tokens)

        # Captions for this process's videos: their own in every role, then the sampled one in each anchor role.
        reads = [states[number] for number in range(len(roles))]
        keys = [batch.mask[batch.roles.index(role)][my_share] for role in roles]
        for role in anchors:
            reads.append(everyone[role][text_negative[my_share]])
            keys.append(masks[role][text_negative[my_share]])
        logits = self.model.match(
            torch.stack(reads, dim=1).flatten(0, 1), torch.stack(keys, dim=1).flatten(0, 1), memory
        )
        margin = confidence(logits.unflatten(0, (len(mine), -1)))["margin"]

        # Captions of any process that drew one of this process's videos as their negative.
        drawn_by = torch.nonzero((video_negative[:, None] == mine[None, :]).any(dim=1))[:, 0]
        drew = {role: margin.new_zeros(0) for role in anchors}
        if len(drawn_by):
            positions = (video_negative[drawn_by] - my_share.start).repeat(len(anchors))
            extra = self.model.match(
                torch.cat([everyone[role][drawn_by] for role in anchors]),
                torch.cat([masks[role][drawn_by] for role in anchors]),
                select_videos(memory, positions),
            )
            drew = dict(zip(anchors, confidence(extra)["margin"].split(len(drawn_by))))

        losses = {}
        hard = [margin[:, roles.index(role)] for role in roles if role in ("static", "dynamic")]
        for number, role in enumerate(anchors):
            negative = torch.cat([*hard, margin[:, len(roles) + number], drew[role]])
            pairs = size * (3 + len(hard))
            positive = margin[:, roles.index(role)]
            losses[role] = matching_loss(positive, negative, size, pairs, self.matching_normaliser)
        return losses
