"""Training of the evaluator, both pre-training and fine-tuning: Equations 9 to 11, a step, and the loop.

The equations are functions of similarities and logits. Roles of the four captions of an item: q the original, q+ the
rewritten positive, s- and d- the static and dynamic negatives. B items a batch, gathered over all processes. A step has
B clips, up to four captions each, and the pairs that the equations need, each once.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, logsigmoid

from verified.evaluator.model import TEMPERATURE_RANGE, NoiseEvaluator, confidence, select_videos, similarity
from verified.evaluator.processes import gather, processes, share, total
from verified.evaluator.vision import normalise
from verified.io.jsonl import Row
from verified.nn import training
from verified.nn.training import TrainingProgress, TrainingState, cosine_multiplier, one_dimensional, parameter_groups
from verified.runtime.processes import prefetch
from verified.runtime.seeds import derive_seed


def contrastive_loss(anchor: Tensor, hard: list[Tensor], temperature: Tensor | float, hard_negatives: str) -> Tensor:
    """Equation 9, a scalar: symmetric InfoNCE with one-hot targets.

    anchor: [B, B], s(v_i, q_j), row i a video; with q+ in place of q this is l_c+. hard: [B, B] matrices s(v_i, s-_j)
    and s(v_i, d-_j). The video-to-text denominator holds the hard negatives of every item (``all``), of item i alone
    (``own``), or none; the text-to-video direction is anchored on q alone, because no video matches a perturbed
    caption.
    """
    extra = {"all": hard, "own": [torch.diagonal(scores)[:, None] for scores in hard], "none": []}[hard_negatives]
    target = torch.arange(len(anchor), device=anchor.device)
    video_to_text = cross_entropy(torch.cat([anchor, *extra], dim=1) / temperature, target)
    text_to_video = cross_entropy(anchor.T / temperature, target)
    return (video_to_text + text_to_video) / 2


def matching_loss(positive: Tensor, negative: Tensor, batch: int, pairs: int, normaliser: str) -> Tensor:
    """Equation 10, a scalar: −Σ log σ(c) over matching pairs −Σ log(1 − σ(c)) over the others, normalised.

    positive, negative: values c = z1 − z0 of any shape, this process's share. batch: B over all processes
    (``normaliser`` batch, as written); pairs: how many terms the sum has over all processes (``pairs``, UMT's mean).
    """
    total = -(logsigmoid(positive).sum() + logsigmoid(-negative).sum())
    return total / (batch if normaliser == "batch" else pairs)


def total_loss(terms: dict[str, Tensor]) -> Tensor:
    """Equation 11, a scalar: (λ_c / 2)(l_c + l_c+) + (λ_m / 2)(l_m + l_m+), with λ_c = λ_m = 1."""
    contrastive, matching = (terms[kind] + terms[f"{kind}_plus"] for kind in ("contrastive", "matching"))
    return contrastive / 2 + matching / 2


def negative_weights(similarity: Tensor, temperature: float, same: Tensor) -> Tensor:
    """Sampling weights [B, B] over each row of `similarity`, as UMT draws them.

    softmax(s / τ) with the entries of `same` (boolean: not a negative) at zero; a row without any negative gets equal
    weights off the diagonal.
    """
    weights = torch.softmax(similarity.float() / temperature + 1e-4, dim=1).masked_fill(same, 0.0)
    empty = weights.sum(dim=1, keepdim=True) <= 0
    off_diagonal = ~torch.eye(len(weights), dtype=torch.bool, device=weights.device)
    return torch.where(empty, off_diagonal.to(weights.dtype), weights)


def draw_negatives(similarity: Tensor, temperature: float, same: Tensor, generator: torch.Generator) -> tuple:
    """Draw for each item the index of a negative caption and of a negative video.

    similarity: [B, B], s(v_i, q_j) of the gathered batch, so that every process draws the same. Returns two int64
    vectors [B] on the CPU, where the generator lives: the same draws on every kind of device.
    """
    similarity, same = similarity.detach().float().cpu(), same.cpu()
    texts = torch.multinomial(negative_weights(similarity, temperature, same), 1, generator=generator)
    videos = torch.multinomial(negative_weights(similarity.T, temperature, same.T), 1, generator=generator)
    return texts[:, 0], videos[:, 0]


ROLES = ("caption", "positive", "static", "dynamic")


@dataclass
class Batch:
    """B items, gathered over all processes, with the frames of this process's share only.

    frames: uint8 [b, T, H, W, 3]. ids, mask: [roles, B, L], roles in the order of ROLES, of which `positive` may be
    missing, as `roles` shows. same: [B, B] boolean, items whose captions are equal, the diagonal included. names: names
    of the items in errors.
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
    negatives; the training loop seeds it before each step, equally in every process.
    """

    def __init__(self, model: NoiseEvaluator, hard_negatives: str, matching_normaliser: str):
        super().__init__()
        self.model = model
        self.hard_negatives, self.matching_normaliser = hard_negatives, matching_normaliser
        self.generator = torch.Generator()

    def forward(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """(objective of this process, detached loss terms of the whole batch), all scalars.

        DistributedDataParallel averages gradients, so the objective is scaled such that the average is Equation 11's
        gradient. Without a rewritten positive, q replaces it, and Equation 11 becomes λ_c l_c + λ_m l_m.
        """
        tokens, videos = self.model.encode_video(normalise(batch.frames))
        return self.losses(batch, tokens, videos)

    def losses(self, batch: Batch, tokens: Tensor, videos: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """`forward` for clips that are encoded already: tokens [b, T·P, width] and unit vectors [b, T, embedding]."""
        rank, world_size = processes()
        my_share = share(batch.ids.shape[1], rank, world_size)
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

        local = {name: value / world_size for name, value in terms("contrastive", contrastive).items()}
        local |= terms("matching", matching)
        losses = {name: value.detach() for name, value in terms("contrastive", contrastive).items()}
        losses |= {name: total(value) for name, value in terms("matching", matching).items()}
        losses["loss"] = total_loss(losses)
        return total_loss(local) * world_size, losses

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

        # Captions for this process's videos: the true ones in every role, then the sampled one in each anchor role.
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


WEIGHT_DECAY = 0.02


def adamw(model: nn.Module, learning_rate: float, beta2: float = 0.999) -> torch.optim.AdamW:
    """AdamW, betas (0.9, beta2), weight decay 0.02, except for biases and other one-dimensional tensors."""
    groups = parameter_groups(model.named_parameters(), WEIGHT_DECAY, one_dimensional)
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, beta2), fused=True)


@dataclass(frozen=True)
class Schedule:
    """Length and learning rate: steps in all, of which `warmup` rise to `learning_rate`; a log row every `every`
    steps."""

    steps: int
    warmup: float
    learning_rate: float
    seed: int
    every: int = 10
    precision: str = "float32"
    beta2: float = 0.999
    largest_gradient: float | None = None
    """Norm to which gradients are clipped; null: no clipping."""


def train(
    step: TrainingStep,
    batch_of: Callable[[int], Batch],
    schedule: Schedule,
    label: str,
    device: torch.device,
    state: TrainingState | None = None,
) -> list[Row]:
    """Train `step.model` in place; returns log rows with the loss terms, temperature and learning rate of a step.

    `batch_of(number)` gives the batch of step `number` (from 0), the same in every process but for its frames. `state`
    and errors: see `training.train`; an error names the items of the batch.
    """
    rank, world_size = processes()
    step.to(device).train()

    def rate(number: int) -> float:
        return schedule.learning_rate * cosine_multiplier(number, schedule.steps, schedule.warmup)

    def losses(batch: Batch, number: int) -> tuple[Tensor, dict[str, Tensor]]:
        torch.manual_seed(derive_seed(schedule.seed, label, "dropout", number, rank))
        step.generator.manual_seed(derive_seed(schedule.seed, label, "negatives", number))
        return wrapped(to_device(batch, device))

    def row(number: int, terms: list[training.Terms], reached: TrainingProgress) -> Row | None:
        if number % schedule.every and number != schedule.steps - 1:
            return None
        rounded = {name: round(value, 6) for name, value in terms[-1].items()}
        temperature = round(step.model.temperature.item(), 6)
        return {"stage": label, "step": number, **rounded, "temperature": temperature, "learning_rate": rate(number)}

    wrapped = nn.parallel.DistributedDataParallel(step) if world_size > 1 else step
    how = training.Training(
        label=label,
        module=step,
        optimiser=adamw(step, schedule.learning_rate, schedule.beta2),
        steps=schedule.steps,
        rate=rate,
        # Clips are decoded while the network computes.
        batches=lambda first: prefetch([batch_of(number)] for number in range(first, schedule.steps)),
        losses=losses,
        row=row,
        clip_norm=schedule.largest_gradient,
        device=device,
        precision=schedule.precision,
        names=lambda batch: batch.names,
        remedy="look at these moments and captions, or lower the learning rate",
    )
    return training.train(how, state).rows


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The batch with its tensors on `device`; `same` remains on the CPU, where negatives are drawn."""
    tensors = {name: value for name, value in vars(batch).items() if isinstance(value, Tensor) and name != "same"}
    return replace(batch, **{name: value.to(device) for name, value in tensors.items()})
