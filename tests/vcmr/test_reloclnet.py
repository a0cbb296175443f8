import pytest
import torch
from vcmr_golden import Golden, cross_pairs

from verified.benchmark.vcmr.models.reloclnet import ReLoCLNet, ReLoCLNetConfig, frame_contrast, video_contrast
from verified.benchmark.vcmr.scoring import max_over_clips

NEAR_PADS = 2e-4  # rows of pads go through a fully masked softmax at −10000, where float32 rounds to 1e-3
LOSSES = {
    "span": "st_ed",
    "frame": "fcl",
    "video": "vcl",
    "negative_video": "neg_ctx",
    "negative_query": "neg_q",
    "total": "overall",
}


@pytest.fixture(scope="module")
def golden():
    return Golden("reloclnet")


@pytest.fixture(scope="module")
def model(golden):
    config = ReLoCLNetConfig(
        video_dim=24, text_dim=20, context_clips=128, query_tokens=12, hidden=32, heads=8, hard_pool=3
    )
    return golden.fill(ReLoCLNet(config))


def test_encodings_are_the_official_ones(golden, model):
    batch = golden.batch()
    first, middle, final = model.video_features(batch.video, batch.video_mask)
    golden.equal(first, "out_video_feat1", batch.video_mask)
    golden.equal(middle, "out_video_mid", batch.video_mask)
    golden.equal(final, "out_video_final", batch.video_mask)
    golden.equal(model.encode_queries(batch.query, batch.query_mask)["vector"], "out_query_vec")


def test_scores_and_logits_are_the_official_ones(golden, model):
    batch = golden.batch()
    queries = model.encode_queries(batch.query, batch.query_mask)
    videos = model.encode_videos(batch.video, batch.video_mask)
    golden.equal(model.video_scores(queries, videos), "out_q2v_scores")
    matched = model.span_logits(queries, videos, torch.arange(6), torch.arange(6))
    golden.equal(matched.start, "out_st_logits", batch.video_mask, NEAR_PADS)
    golden.equal(matched.end, "out_ed_logits", batch.video_mask, NEAR_PADS)
    crossed = model.span_logits(queries, videos, *cross_pairs(6, 6))
    everywhere = batch.video_mask.expand(6, 6, 16)
    golden.equal(crossed.start.view(6, 6, 16).transpose(0, 1), "out_st_logits_cross", everywhere, NEAR_PADS)
    golden.equal(crossed.end.view(6, 6, 16).transpose(0, 1), "out_ed_logits_cross", everywhere, NEAR_PADS)


@pytest.mark.parametrize("negatives, epoch", [("rand", 0), ("hard", 20)])
def test_losses_are_the_official_ones(golden, model, negatives, epoch):
    losses = model.losses(golden.batch(), epoch=epoch, step=0, generator=torch.Generator().manual_seed(5))
    golden.equal_losses(losses, {ours: f"loss_{negatives}_loss_{theirs}" for ours, theirs in LOSSES.items()})


def test_contrastive_losses_are_the_official_ones(golden, model):
    batch = golden.batch()
    query = model.encode_queries(batch.query, batch.query_mask)["vector"]
    _, middle, _ = model.video_features(batch.video, batch.video_mask)
    scores = max_over_clips(query, middle, batch.video_mask)
    golden.equal(scores, "out_mid_q2v_unnorm")
    golden.equal(video_contrast(scores), "out_loss_vcl_unweighted")
    products = torch.einsum("nd,nld->nl", query, middle)
    golden.equal(frame_contrast(products, batch.span, batch.video_mask), "out_loss_fcl_unweighted")


def test_the_clips_of_a_moment_are_those_of_the_official_labels(golden):
    span, clips = golden["st_ed_indices"], torch.arange(16)
    inside = (clips >= span[:, :1]) & (clips <= span[:, 1:])
    assert torch.equal(inside.long(), golden["match_labels"])


def test_frame_contrast_prefers_products_that_are_high_inside_the_moment():
    span, mask = torch.tensor([[1, 2]]), torch.ones(1, 5, dtype=torch.bool)
    inside = torch.tensor([[0.0, 3.0, 3.0, 0.0, 0.0]])
    assert frame_contrast(inside, span, mask) < frame_contrast(3.0 - inside, span, mask)
    covers_all = frame_contrast(inside, torch.tensor([[0, 4]]), mask)
    assert torch.isfinite(covers_all)  # a moment that leaves no clip outside
