import pytest
import torch
from safetensors.torch import save_file
from vcmr_golden import Golden, cross_pairs

from verified.benchmark.vcmr.models.hero import Hero, HeroConfig, full_hinge

SIZES = {
    "video_dim": 20,
    "text_dim": 0,
    "vocabulary": 50,
    "context_clips": 16,
    "query_tokens": 8,
    "hidden": 24,
    "heads": 4,
    "feed_forward": 40,
    "cross_layers": 2,
    "temporal_layers": 2,
    "positions": 32,
}
LOSSES = {"span": "st_ed", "negative_video": "neg_ctx", "negative_query": "neg_q", "total": "total"}


@pytest.fixture(scope="module")
def golden():
    return Golden("hero")


@pytest.fixture(scope="module")
def model(golden):
    config = HeroConfig(**SIZES, rank_weight=8.0, hard_pool=2, span_share=1.0)
    return golden.fill(Hero(config))


def golden_batch(golden):
    return golden.batch(query="query_ids", span="targets")


def test_encodings_are_the_official_ones(golden, model):
    batch = golden_batch(golden)
    golden.equal(model.words(batch.query, batch.query_mask), "out_query_tokens", batch.query_mask)
    golden.equal(model.encode_queries(batch.query, batch.query_mask)["vector"], "out_query_vec")
    with_word = torch.arange(13) <= batch.video_mask.sum(dim=1, keepdim=True)
    golden.equal(model.cross_modal(batch.video, batch.video_mask), "out_f_encoder", with_word)
    golden.equal(model.frame_embeddings(batch.video, batch.video_mask), "out_frame_embeddings", batch.video_mask)


def test_scores_and_logits_are_the_official_ones(golden, model):
    batch = golden_batch(golden)
    queries = model.encode_queries(batch.query, batch.query_mask)
    videos = model.encode_videos(batch.video, batch.video_mask)
    golden.equal(model.video_scores(queries, videos), "out_q2v_scores")
    matched = model.span_logits(queries, videos, torch.arange(5), torch.arange(5))
    golden.equal(matched.start, "out_st_logits", batch.video_mask)
    golden.equal(matched.end, "out_ed_logits", batch.video_mask)
    crossed = model.span_logits(queries, videos, *cross_pairs(5, 5))
    everywhere = batch.video_mask.expand(5, 5, 12)
    golden.equal(crossed.start.view(5, 5, 12).transpose(0, 1), "out_st_logits_cross", everywhere)
    golden.equal(crossed.end.view(5, 5, 12).transpose(0, 1), "out_ed_logits_cross", everywhere)


@pytest.mark.parametrize("negatives, step", [("all", 1999), ("hard", 2000)])
def test_losses_are_the_official_ones(golden, model, negatives, step):
    losses = model.losses(golden_batch(golden), epoch=0, step=step, generator=torch.Generator().manual_seed(1))
    golden.equal_losses(losses, {ours: f"loss_{negatives}_{theirs}" for ours, theirs in LOSSES.items()})


def test_the_span_term_is_computed_in_one_step_of_five(golden):
    torch.manual_seed(0)
    model = Hero(HeroConfig(**SIZES)).double()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        batch = golden_batch(golden)
        steps = ["span" in model.losses(batch, epoch=0, step=i, generator=generator) for i in range(200)]
    assert 20 <= sum(steps) <= 60


def test_hard_negatives_weigh_ten_and_the_others_a_tenth():
    scores = torch.tensor([[1.0, 0.98, 0.95], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert full_hinge(scores, 0.1, None).item() == pytest.approx((0.08 + 0.05) / 6, abs=1e-6)
    assert full_hinge(scores, 0.1, 1).item() == pytest.approx((10 * 0.08 + 0.1 * 0.05) / 6, abs=1e-6)
    assert full_hinge(scores[:1, :1], 0.1, 1).item() == 0


def roberta(folder, model, vocabulary=48, hidden=24):
    """A RoBERTa of four layers in `folder`, with one token type, as the model's transformer would start from."""
    torch.manual_seed(3)
    state = {}
    for key, value in model.v_encoder["f_encoder"].state_dict().items():
        if key.startswith("img_embeddings."):
            continue
        names = [key]
        if key.startswith("encoder.layer."):
            _, _, number, rest = key.split(".", 3)
            names = [f"encoder.layer.{2 * int(number) + odd}.{rest}" for odd in (0, 1)]
        for name in names:
            state[f"roberta.{name}"] = torch.randn_like(value)
    state["roberta.embeddings.word_embeddings.weight"] = torch.randn(vocabulary, hidden)
    state["roberta.embeddings.token_type_embeddings.weight"] = torch.randn(1, hidden)
    save_file(state, folder / "model.safetensors")
    return state


def test_training_may_start_from_every_second_layer_of_roberta(tmp_path):
    model = Hero(HeroConfig(**SIZES, roberta=str(tmp_path)))
    before = model.v_encoder["f_encoder"].embeddings.word_embeddings.weight.detach().clone()
    state = roberta(tmp_path, model)
    model.initial_weights()
    cross = model.v_encoder["f_encoder"]
    for ours, theirs in ((0, 1), (1, 3)):
        expected = state[f"roberta.encoder.layer.{theirs}.output.dense.weight"]
        assert torch.equal(cross.encoder.layer[ours].output.dense.weight, expected)
    words = cross.embeddings.word_embeddings.weight
    assert torch.equal(words[:48], state["roberta.embeddings.word_embeddings.weight"])
    assert torch.equal(words[48:], before[48:])
    assert torch.equal(*cross.embeddings.token_type_embeddings.weight)
