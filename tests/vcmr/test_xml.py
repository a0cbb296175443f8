import pytest
import torch
from vcmr_golden import Golden, cross_pairs

from verified.benchmark.vcmr.models.xml import XML, XMLConfig
from verified.benchmark.vcmr.scoring import draw_ranks, negatives_at

SIZES = {"video_dim": 24, "text_dim": 20, "context_clips": 16, "query_tokens": 12, "hidden": 32, "hard_pool": 3}


@pytest.fixture(scope="module")
def golden():
    return Golden("xml")


@pytest.fixture(scope="module")
def model(golden):
    return golden.fill(XML(XMLConfig(**SIZES)))


def test_features_and_scores_are_the_official_ones(golden, model):
    batch = golden.batch()
    golden.equal(model.query_tokens(batch.query, batch.query_mask), "out_encoded_query_tokens", batch.query_mask)
    queries = model.encode_queries(batch.query, batch.query_mask)
    golden.equal(queries["vector"], "out_query_vec")
    first, second = model.video_features(batch.video, batch.video_mask)
    golden.equal(first, "out_video_feat1", batch.video_mask)
    golden.equal(second, "out_video_feat2", batch.video_mask)
    golden.equal(model.video_scores(queries, model.encode_videos(batch.video, batch.video_mask)), "out_q2v_scores")


def test_logits_are_the_official_ones(golden, model):
    batch = golden.batch()
    queries = model.encode_queries(batch.query, batch.query_mask)
    videos = model.encode_videos(batch.video, batch.video_mask)
    spans = model.span_logits(queries, videos, *cross_pairs(6, 6))
    mask = batch.video_mask.expand(6, 6, 16)
    for name, logits in (("st", spans.start), ("ed", spans.end)):
        by_query = logits.view(6, 6, 16).transpose(0, 1)
        golden.equal(by_query, f"out_{name}_logits_cross", mask)
        golden.equal(by_query.diagonal().T, f"out_{name}_logits", batch.video_mask)
        assert (by_query[~mask] == -1e10).all()


@pytest.mark.parametrize(("kind", "epoch", "pool"), [("rand", 19, None), ("hard", 20, 3)])
def test_losses_and_sampled_negatives_are_the_official_ones(golden, model, kind, epoch, pool):
    batch = golden.batch()
    losses = model.losses(batch, epoch=epoch, step=0, generator=torch.Generator().manual_seed(5))
    names = {"span": "st_ed", "negative_video": "neg_ctx", "negative_query": "neg_q", "total": "overall"}
    golden.equal_losses(losses, {ours: f"loss_{kind}_loss_{theirs}" for ours, theirs in names.items()})
    draws, scores = torch.Generator().manual_seed(5), golden["out_q2v_scores"]
    for side, matrix in (("ctx", scores), ("q", scores.T)):
        ranks = draw_ranks(6, pool, draws)
        assert torch.equal(ranks, golden.arrays[f"loss_{kind}_neg_{side}_rank"])
        assert torch.equal(negatives_at(matrix, ranks), golden.arrays[f"loss_{kind}_neg_{side}_index"])
