import pytest
import torch
from vcmr_golden import Golden, pairs_of_slots

from verified.benchmark.vcmr.contract import Batch
from verified.benchmark.vcmr.models import conquer
from verified.benchmark.vcmr.models.conquer import Conquer, ConquerConfig

SIZES = {
    "video_dim": 20,
    "text_dim": 18,
    "context_clips": 12,
    "query_tokens": 8,
    "hidden": 24,
    "heads": 4,
    "feed_forward": 40,
    "score_channels": 8,
}


@pytest.fixture(scope="module")
def golden():
    return Golden("conquer_video_general")


@pytest.fixture(scope="module")
def model(golden):
    return golden.fill(Conquer(ConquerConfig(**SIZES)))


def encoded(model, batch: Batch):
    videos = model.encode_videos(batch.video.flatten(0, 1), batch.video_mask.flatten(0, 1))
    return model.encode_queries(batch.query, batch.query_mask), videos


def test_features_are_the_official_ones(golden, model):
    batch = golden.batch()
    queries, videos = encoded(model, batch)
    golden.equal(queries["tokens"], "out_query_tokens")
    golden.equal(videos["tokens"], "out_video_tokens_visual")
    each, _ = pairs_of_slots(batch)
    qal = model.query_aware(videos["tokens"], videos["mask"], queries["tokens"][each], queries["mask"][each])
    golden.equal(qal, "out_QAL")
    golden.equal(model.contextual_QAL_feature_learning(qal, videos["mask"]), "out_contextual_QAL")


@pytest.mark.parametrize("clips_at_once", [1, 30, 10_000])
def test_logits_are_the_official_ones_in_chunks_of_any_size(golden, model, clips_at_once, monkeypatch):
    monkeypatch.setattr(conquer, "CLIPS_AT_ONCE", clips_at_once)
    batch = golden.batch()
    spans = model.span_logits(*encoded(model, batch), *pairs_of_slots(batch))
    golden.equal(spans.start.view(3, 4, 12), "out_begin_logits", batch.video_mask)
    golden.equal(spans.end.view(3, 4, 12), "out_end_logits", batch.video_mask)
    assert (spans.start[~batch.video_mask.flatten(0, 1)] == -1e4).all()


def test_losses_are_the_official_ones(golden, model):
    batch = golden.batch()
    shared = model.losses(batch, epoch=0, step=0, generator=torch.Generator())
    golden.equal_losses(shared, {"moment": "loss_moment_ce_loss", "total": "loss_loss_overall"})
    alone = Batch(batch.query, batch.query_mask, batch.video[:, :1], batch.video_mask[:, :1], batch.span)
    losses = model.losses(alone, epoch=0, step=0, generator=torch.Generator())
    assert losses["total"].item() == pytest.approx(golden.arrays["loss_noshared_moment_ce_loss"].item(), abs=1e-6)


def test_the_split_similarity_is_the_linear_map_of_the_concatenation(golden, model):
    batch = golden.batch()
    queries, videos = encoded(model, batch)
    each, _ = pairs_of_slots(batch)
    video, query = videos["tokens"], queries["tokens"][each]
    shape = (len(video), video.shape[1], query.shape[1], video.shape[2])
    v, q = video[:, :, None].expand(shape), query[:, None].expand(shape)
    layer = model.query_aware_feature_learning_layer["similarity_weight"]
    similarity = layer(torch.cat([v, q, v * q], dim=3)).squeeze(3)
    seen = videos["mask"][:, :, None] & queries["mask"][each][:, None, :]
    attended = torch.softmax(similarity.masked_fill(~seen, -1e10), dim=2) @ query
    qal = model.query_aware(video, videos["mask"], query, queries["mask"][each])
    assert torch.allclose(qal[:, :, 24:48], attended, atol=1e-12)


def test_the_exclusive_head_rescores_the_list():
    torch.manual_seed(0)
    model = Conquer(ConquerConfig(**SIZES, video_head=True)).eval()
    golden = Golden("conquer_video_general")
    batch = golden.batch()
    batch.query, batch.video = batch.query.float(), batch.video.float()
    losses = model.losses(batch, epoch=0, step=0, generator=torch.Generator())
    assert set(losses) == {"moment", "video", "total"}
    assert model.rescores
    spans = model.span_logits(*encoded(model, batch), *pairs_of_slots(batch))
    expected = 0.05 * torch.nn.functional.cross_entropy(spans.score.view(3, 4), torch.zeros(3, dtype=torch.int64))
    assert losses["video"].item() == pytest.approx(expected.item(), abs=1e-6)
    assert torch.allclose(model.video_weights(spans.score.view(3, 4)).sum(dim=1), torch.ones(3))
