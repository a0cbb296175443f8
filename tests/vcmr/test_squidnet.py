import pytest
import torch
from vcmr_golden import Golden, pairs_of_slots

from verified.benchmark.vcmr.models import squidnet
from verified.benchmark.vcmr.models.squidnet import Squidnet, SquidnetConfig


@pytest.fixture(scope="module")
def golden():
    return Golden("squidnet_video")


@pytest.fixture(scope="module")
def model(golden):
    config = SquidnetConfig(
        video_dim=20,
        text_dim=18,
        context_clips=12,
        query_tokens=8,
        hidden=24,
        heads=4,
        feed_forward=40,
        score_channels=8,
    )
    return golden.fill(Squidnet(config))


@pytest.fixture(scope="module")
def encoded(golden, model):
    batch = golden.batch()
    with torch.no_grad():
        videos = model.encode_videos(batch.video.flatten(0, 1), batch.video_mask.flatten(0, 1))
        return model.encode_queries(batch.query, batch.query_mask), videos


def test_features_are_the_official_ones(golden, model, encoded):
    queries, videos = encoded
    golden.equal(queries["tokens"], "out_query_tokens")
    golden.equal(videos["tokens"], "out_video_tokens")
    each, _ = pairs_of_slots(golden.batch())
    joint = model.joint(videos["tokens"], videos["mask"], queries["tokens"][each], queries["mask"][each])
    golden.equal(joint, "out_final_feat")


@pytest.mark.parametrize("clips_at_once", [1, 30, 10_000])
def test_logits_and_scores_are_the_official_ones_in_chunks_of_any_size(
    golden, model, encoded, clips_at_once, monkeypatch
):
    monkeypatch.setattr(squidnet, "CLIPS_AT_ONCE", clips_at_once)
    batch = golden.batch()
    spans = model.span_logits(*encoded, *pairs_of_slots(batch))
    golden.equal(spans.start.view(3, 4, 12), "out_begin_logits", batch.video_mask)
    golden.equal(spans.end.view(3, 4, 12), "out_end_logits", batch.video_mask)
    golden.equal(spans.score.view(3, 4), "out_video_score")


def test_losses_are_the_official_ones(golden, model):
    losses = model.losses(golden.batch(), epoch=0, step=0, generator=torch.Generator())
    names = {"moment": "loss_moment_debiasing_loss", "video": "loss_video_prediction_loss", "total": "loss_loss_total"}
    golden.equal_losses(losses, names)


def test_the_similarity_is_the_network_over_the_concatenation(model, encoded):
    queries, videos = encoded
    video, query = videos["tokens"][:3], queries["tokens"]
    shape = (3, 12, 8, 24)
    v, q = video[:, :, None].expand(shape), query[:, None].expand(shape)
    literal = model.VQMMA["sim_weight"](torch.cat([v, q, v * q], dim=3)).squeeze(3)
    assert torch.allclose(model.similarity(video, query), literal, atol=1e-12)
