"""Every blind mutant runs, and differs from its original where it says that it does; honest variants answer alike.

The probes below are plain comparisons on random numbers, written for these mutants: they know the original, which a
check of a stranger's model does not.
"""

import copy
import random
from contextlib import suppress

import numpy as np
import pytest
import torch
from mutants.blind import HONEST, MUTATIONS

from verified.benchmark.vcmr.contract import Batch
from verified.benchmark.vcmr.registry import model_class

SIZES = {"video_dim": 9, "text_dim": 7, "vocabulary": 20, "cls_id": 1}
SMALL = {
    "hidden": 16,
    "heads": 2,
    "feed_forward": 24,
    "score_channels": 4,
    "cross_layers": 1,
    "temporal_layers": 1,
    "positions": 200,
    "span_share": 1.0,
}
VIDEO_CLIPS = [6, 1, 4, 6, 3, 5]
QUERY_TOKENS = [1, 5, 3, 4, 2, 5]


class Corpus:
    """Six random videos and queries, one of each with one clip or token, and a batch to train on."""

    def __init__(self, cls, seed, clips=6, tokens=5):
        draw = torch.Generator().manual_seed(seed)
        factor_clips, factor_tokens = clips // 6, tokens // 5
        self.mask = torch.arange(clips) < torch.tensor(VIDEO_CLIPS)[:, None] * factor_clips
        self.query_mask = torch.arange(tokens) < torch.tensor(QUERY_TOKENS)[:, None] * factor_tokens
        self.video = torch.randn(6, clips, SIZES["video_dim"], generator=draw) * self.mask[:, :, None]
        ids = torch.randint(2, SIZES["vocabulary"], (6, tokens), generator=draw)
        ids[:, 0] = SIZES["cls_id"]
        vectors = torch.randn(6, tokens, SIZES["text_dim"], generator=draw) * self.query_mask[:, :, None]
        self.query = ids * self.query_mask if cls.query_input == "ids" else vectors
        self.span = torch.tensor([[0, 2], [0, 0], [1, 3], [3, 5], [0, 1], [2, 3]])
        self.slots = torch.tensor([[i, (i + 1) % 6, (i + 3) % 6] for i in range(6)])
        self.listed = torch.rand(6, 6, generator=draw).sort(dim=1, descending=True).values
        self.two_stage = cls.two_stage

    def batch(self):
        at = self.slots if self.two_stage else torch.arange(6)
        return Batch(
            self.query.clone(),
            self.query_mask.clone(),
            self.video[at].clone(),
            self.mask[at].clone(),
            self.span.clone(),
        )


def build(cls, like=None, clips=6, tokens=5, seed=3, **options):
    """A model with large weights, or with those of `like`."""
    fields = cls.Config.__dataclass_fields__
    given = {name: value for name, value in {**SMALL, **options}.items() if name in fields}
    torch.manual_seed(seed)
    model = cls(cls.Config(**{**SIZES, **given, "context_clips": clips, "query_tokens": tokens}))
    if like is None:
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.data.mul_(6.0)
        return model
    with suppress(RuntimeError):  # another width, or a state that is corrupted: the mutant keeps its own
        model.load_state_dict(like.state_dict(), strict=False)
    return model


def pairs(rows):
    """Every query with every video, sorted by video."""
    every = torch.cartesian_prod(torch.arange(6), torch.arange(6))[rows]
    return every[:, 1].clone(), every[:, 0].clone()


@torch.no_grad()
def answers(model, corpus, evaluate=True):
    """All that search asks of a model, as tensors."""
    if evaluate:
        model.eval()
    queries = model.encode_queries(corpus.query.clone(), corpus.query_mask.clone())
    videos = model.encode_videos(corpus.video.clone(), corpus.mask.clone())
    scores = corpus.listed.clone() if model.two_stage else model.video_scores(queries, videos)
    spans = model.span_logits(queries, videos, *pairs(slice(None)))
    found = [spans.start.float().softmax(1), spans.end.float().softmax(1), model.video_weights(scores.clone())]
    return [*found, scores] if spans.score is None else [*found, scores, spans.score]


def learning(model, corpus, seed=5, epoch=0, step=0, generator=None):
    """Losses and gradients of one batch."""
    model.train()
    torch.manual_seed(seed)
    generator = generator or torch.Generator().manual_seed(seed)
    losses = model.losses(corpus.batch(), epoch=epoch, step=step, generator=generator)
    model.zero_grad()
    losses["total"].backward()
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()]
    return [losses[name].detach() for name in sorted(losses)] + gradients


def differ(one, other, near=1e-7):
    """Whether two lists of tensors are different by more than rounding of float32; by `near` where numbers cancel."""
    return len(one) != len(other) or any(
        a.shape != b.shape or not torch.allclose(a.double(), b.double(), rtol=1e-5, atol=near, equal_nan=True)
        for a, b in zip(one, other)
    )


class Pair:
    """An original and its mutant with the same weights."""

    def __init__(self, mutation, name):
        self.cls, self.mutant_cls = model_class(name), mutation.of(name)
        self.options = mutation.option or {}
        self.original = build(self.cls, **self.options)
        self.mutant = build(self.mutant_cls, self.original, **self.options)

    def corpus(self, seed=1, **sizes):
        return Corpus(self.cls, seed, **sizes)

    def only_mutant(self, changed):
        """Whether something is true of the mutant alone."""
        return changed(self.mutant) and not changed(self.original)


def shows_answers(pair):
    return differ(answers(pair.original, pair.corpus()), answers(pair.mutant, pair.corpus()))


def shows_training(pair):
    """Without dropout, unless it is the option: other draws alone are no defect."""
    options = {"dropout": 0.0, **pair.options}
    pair.original = build(pair.cls, **options)
    pair.mutant = build(pair.mutant_cls, pair.original, **options)
    return differ(learning(pair.original, pair.corpus()), learning(pair.mutant, pair.corpus()))


def shows_late_epoch(pair):
    late = {"epoch": 90, "step": 9000}
    options = {"hard_pool": 1}
    original = build(pair.cls, **options)
    mutant = build(pair.mutant_cls, original, **options)
    return differ(learning(original, pair.corpus(), **late), learning(mutant, pair.corpus(), **late))


def shows_garbage(pair):
    clean, dirty = pair.corpus(), pair.corpus()
    draw = torch.Generator().manual_seed(4)
    dirty.video = dirty.video + torch.randn(dirty.video.shape, generator=draw) * ~dirty.mask[:, :, None]
    if dirty.query.dim() == 3:
        dirty.query = dirty.query + torch.randn(dirty.query.shape, generator=draw) * ~dirty.query_mask[:, :, None]
    return pair.only_mutant(lambda model: differ(answers(model, clean), answers(model, dirty)))


def shows_zeros(pair):
    corpus = pair.corpus()
    corpus.video[3, 2] = 0.0
    return differ(answers(pair.original, corpus), answers(pair.mutant, corpus))


def shows_zeroed(pair):
    original = build(pair.cls)
    for parameter in original.parameters():
        parameter.data.zero_()
    mutant = build(pair.mutant_cls, original)
    return differ(answers(original, pair.corpus()), answers(mutant, pair.corpus()))


def shows_long(pair):
    sizes = {"clips": 150, "tokens": 30}
    original = build(pair.cls, **sizes)
    mutant = build(pair.mutant_cls, original, **sizes)
    corpus = pair.corpus(**sizes)
    return differ(answers(original, corpus), answers(mutant, corpus))


def shows_large(pair):
    original = build(pair.cls)
    for parameter in original.parameters():
        if parameter.dim():  # a temperature would vanish
            parameter.data.mul_(100.0)
    mutant = build(pair.mutant_cls, original)
    return differ(answers(original, pair.corpus()), answers(mutant, pair.corpus()))


def shows_single(pair):
    corpus = pair.corpus()
    corpus.batch = lambda: Batch(**{name: value[:1] for name, value in vars(Corpus.batch(corpus)).items()})
    return pair.only_mutant(lambda model: any(not torch.isfinite(part).all() for part in learning(model, corpus)))


def shows_unsteady(pair):
    return pair.only_mutant(lambda model: differ(answers(model, pair.corpus()), answers(model, pair.corpus())))


def shows_history(pair):
    def changed(model):
        fresh = copy.deepcopy(model)
        answers(model, pair.corpus(1))
        return differ(answers(model, pair.corpus(2)), answers(fresh, pair.corpus(2)))

    return pair.only_mutant(changed)


def shows_schooled(pair):
    def changed(model):
        before = answers(model, pair.corpus())
        model.train()
        model.losses(pair.corpus().batch(), epoch=0, step=0, generator=torch.Generator())
        return differ(before, answers(model, pair.corpus()))

    return pair.only_mutant(changed)


def shows_weights(pair):
    def changed(model):
        fresh = copy.deepcopy(model)
        answers(model, pair.corpus())
        for either in (model, fresh):
            with torch.no_grad():
                for parameter in either.parameters():
                    parameter.mul_(1.3)
        return differ(answers(model, pair.corpus()), answers(fresh, pair.corpus()))

    return pair.only_mutant(changed)


def shows_openings(pair):
    corpus = pair.corpus()
    corpus.video[3, 0] = corpus.video[0, 0]
    return differ(answers(pair.original, corpus), answers(pair.mutant, corpus))


def shows_blocks(pair):
    @torch.no_grad()
    def changed(model):
        model.eval()
        corpus = pair.corpus()
        queries = model.encode_queries(corpus.query, corpus.query_mask)
        whole = model.encode_videos(corpus.video, corpus.mask)
        whole = {name: tensor.clone() for name, tensor in whole.items()}
        together = model.span_logits(queries, whole, *pairs(slice(None)))
        blocks = [model.encode_videos(corpus.video[at : at + 3], corpus.mask[at : at + 3]) for at in (0, 3)]
        joined = {name: torch.cat([block[name] for block in blocks]) for name in blocks[0]}
        apart = model.span_logits(queries, joined, *pairs(slice(None)))
        return differ([together.start, together.end], [apart.start, apart.end], 1e-4)

    return pair.only_mutant(changed)


def shows_mates(pair):
    @torch.no_grad()
    def changed(model):
        model.eval()
        corpus = pair.corpus()
        together = [*model.encode_queries(corpus.query, corpus.query_mask).values()]
        together += [*model.encode_videos(corpus.video, corpus.mask).values()]
        one = slice(2, 3)
        alone = [*model.encode_queries(corpus.query[one], corpus.query_mask[one]).values()]
        alone += [*model.encode_videos(corpus.video[one], corpus.mask[one]).values()]
        return differ([tensor[one] for tensor in together], alone, 1e-4)

    return pair.only_mutant(changed)


def shows_pairs(pair):
    @torch.no_grad()
    def changed(model):
        model.eval()
        corpus = pair.corpus()
        encoded = model.encode_queries(corpus.query, corpus.query_mask), model.encode_videos(corpus.video, corpus.mask)
        once = model.span_logits(*encoded, torch.tensor([0, 1]), torch.tensor([0, 3]))
        twice = model.span_logits(*encoded, torch.tensor([0, 0, 1]), torch.tensor([0, 0, 3]))
        return differ([once.start[:1]], [twice.start[:1]], 1e-4)

    return pair.only_mutant(changed)


def shows_pairs_parts(pair):
    @torch.no_grad()
    def changed(model):
        model.eval()
        corpus = pair.corpus()
        encoded = model.encode_queries(corpus.query, corpus.query_mask), model.encode_videos(corpus.video, corpus.mask)
        whole = model.span_logits(*encoded, *pairs(slice(None)))
        query, video = pairs(slice(None))
        last = model.span_logits(*encoded, query[-1:], video[-1:])
        return differ([f[-1:] for f in whole if f is not None], [f for f in last if f is not None], 1e-4)

    return pair.only_mutant(changed)


def drawn():
    return torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()


def shows_globals(pair):
    def changed(model):
        torch.manual_seed(77)
        np.random.seed(77)
        random.seed(77)
        before = drawn()
        answers(model, pair.corpus())
        return before != drawn()

    return pair.only_mutant(changed)


def shows_globals_training(pair):
    def after(model):
        np.random.seed(77)
        random.seed(77)
        learning(model, pair.corpus(), seed=77)
        return drawn()

    return after(pair.original) != after(pair.mutant)


def shows_generator(pair):
    def after(model, seed):
        generator = torch.Generator().manual_seed(seed)
        learning(model, pair.corpus(), generator=generator)
        return generator.get_state().tolist()

    return after(pair.original, 9) != after(pair.mutant, 9)


def shows_seeds(pair):
    def same(model):
        first, second = (build(type(model), seed=seed).state_dict() for seed in (1, 2))
        return all(torch.equal(first[name], second[name]) for name in first)

    return pair.only_mutant(same)


def shows_again(pair):
    pair.original.train()
    return pair.only_mutant(
        lambda model: differ(learning(model, pair.corpus()), [learning(model, pair.corpus()) for _ in range(6)][-1])
    )


def shows_saved(pair):
    def changed(model):
        cls = type(model)
        first, second = build(cls, seed=1), build(cls, seed=2)
        second.load_state_dict(first.state_dict())
        return differ(answers(first, pair.corpus()), answers(second, pair.corpus()))

    return pair.only_mutant(changed)


def shows_instances(pair):
    def changed(model):
        first = build(type(model), seed=1)
        before = answers(first, pair.corpus())
        build(type(model), seed=2)
        return differ(before, answers(first, pair.corpus()))

    return pair.only_mutant(changed)


def shows_parameters(pair):
    names = [{name for name, _ in model.named_parameters()} for model in (pair.original, pair.mutant)]
    return names[1] < names[0]


def shows_option(pair):
    shapes = [[tuple(p.shape) for p in model.parameters()] for model in (pair.original, pair.mutant)]
    return shapes[0] != shapes[1] or differ(answers(pair.original, pair.corpus()), answers(pair.mutant, pair.corpus()))


@torch.no_grad()
def shows_inputs(pair):
    def changed(model):
        model.eval()
        corpus = pair.corpus()
        given = [corpus.query, corpus.query_mask, corpus.video, corpus.mask]
        before = [tensor.clone() for tensor in given]
        model.encode_queries(corpus.query, corpus.query_mask)
        model.encode_videos(corpus.video, corpus.mask)
        return differ(before, given)

    return pair.only_mutant(changed)


def shows_inputs_training(pair):
    def changed(model):
        batch = pair.corpus().batch()
        before = copy.deepcopy(batch)
        model.train()
        model.losses(batch, epoch=0, step=0, generator=torch.Generator())
        return differ([*vars(before).values()], [*vars(batch).values()])

    return pair.only_mutant(changed)


@torch.no_grad()
def shows_inputs_found(pair):
    def changed(model):
        model.eval()
        corpus = pair.corpus()
        queries = model.encode_queries(corpus.query, corpus.query_mask)
        videos = model.encode_videos(corpus.video, corpus.mask)
        given = [*queries.values(), *videos.values(), *pairs(slice(None))]
        before = [tensor.clone() for tensor in given]
        model.span_logits(queries, videos, *given[-2:])
        return differ(before, given)

    return pair.only_mutant(changed)


def shows_inputs_weights(pair):
    def changed(model):
        scores = pair.corpus().listed
        before = scores.clone()
        with torch.no_grad():
            model.video_weights(scores)
        return not torch.equal(before, scores)

    return pair.only_mutant(changed)


def shows_modes(pair):
    def changed(model):
        wanted = [p.requires_grad for p in model.parameters()]
        corpus = pair.corpus()
        for training in (True, False):
            model.train(training)
            model.encode_queries(corpus.query, corpus.query_mask)
            model.encode_videos(corpus.video, corpus.mask)
            if model.training != training or [p.requires_grad for p in model.parameters()] != wanted:
                return True
        return False

    return pair.only_mutant(changed)


def shows_formats(pair):
    corpus = pair.corpus()
    encoded = [model.encode_videos(corpus.video, corpus.mask) for model in (pair.original, pair.mutant)]
    return [t.dtype for t in encoded[0].values()] != [t.dtype for t in encoded[1].values()]


def shows_device(pair):
    """Tensors of the meta device cannot be moved: NotImplementedError; autocast refuses them otherwise, and later."""

    def reads(model):
        corpus = pair.corpus()
        model = copy.deepcopy(model).to("meta").eval()
        try:
            model.encode_queries(corpus.query.to("meta"), corpus.query_mask.to("meta"))
        except NotImplementedError:
            return True
        except RuntimeError:
            pass
        try:
            model.encode_videos(corpus.video.to("meta"), corpus.mask.to("meta"))
        except NotImplementedError:
            return True
        except RuntimeError:
            pass
        return False

    return pair.only_mutant(reads)


def shows_autocast(pair):
    def stops(model):
        try:
            with torch.autocast("cpu", torch.bfloat16):
                learning(model, pair.corpus())
        except RuntimeError:
            return True
        return False

    return pair.only_mutant(stops)


def shows_declared(pair):
    moments = [(0.0, 2.0, 1.0, 6), (1.0, 3.0, 0.5, 9), (3.5, 9.0, 1.0, 6), (4.0, 6.0, 1.0, 6)]

    def facts(cls, model):
        return [cls.label(*moment) for moment in moments], cls.decoded_end, model.pair_bytes(), model.config

    return facts(pair.cls, pair.original) != facts(pair.mutant_cls, pair.mutant)


PROBES = {name.removeprefix("shows_"): probe for name, probe in list(globals().items()) if name.startswith("shows_")}


def cases(mutations):
    """Each mutation with one model, the models in turn; with its other models, among the slow tests."""
    return [
        pytest.param(
            mutation, name, id=f"{name}: {mutation.name}", marks=[] if at == turn % len(mutation.models) else SLOW
        )
        for turn, mutation in enumerate(mutations)
        for at, name in enumerate(mutation.models)
    ]


SLOW = [pytest.mark.slow]


@pytest.fixture(autouse=True)
def one_thread():
    """Matrices this small cost more in threads than in sums."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize(("mutation", "name"), cases(MUTATIONS))
def test_a_mutant_runs_and_differs_where_it_says(mutation, name):
    pair = Pair(mutation, name)
    model = build(mutation.of(name), pair.original, **pair.options)
    learning(model, pair.corpus())
    answers(model, pair.corpus())
    assert PROBES[mutation.shows](pair)


@pytest.mark.parametrize(("variant", "name"), cases(HONEST))
def test_an_honest_variant_answers_as_its_original_and_learns_the_same_each_time(variant, name):
    pair = Pair(variant, name)
    original, first, second = (answers(model, pair.corpus()) for model in (pair.original, pair.mutant, pair.mutant))
    assert not differ(first, second)
    equal = first[:2] if variant.shows == "scale" else first  # scores and weights on another scale
    assert not differ(original[: len(equal)], equal, 1e-4)
    assert not differ(learning(pair.mutant, pair.corpus()), learning(pair.mutant, pair.corpus()))


def test_there_are_enough_mutants_and_each_name_is_used_once():
    names = [mutation.name for mutation in (*MUTATIONS, *HONEST)]
    assert len(set(names)) == len(names)
    assert len(MUTATIONS) >= 70 and len(HONEST) >= 10
