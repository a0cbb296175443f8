"""The network, its losses and gradients equal the authors' modules; Equations 9 to 11, values computed in float64."""

import pytest
import torch

from verified.evaluator.model import confidence, select_videos, similarity
from verified.evaluator.training import contrastive_loss, matching_loss, negative_weights, total_loss

CLOSE = {"atol": 1e-5, "rtol": 0}


@pytest.mark.parametrize(
    ("model", "pixels", "frames", "tokens", "pooled"),
    [
        ("four_frames", "pixels", 4, "x_vis", "pooled_vision"),
        ("four_frames", "pixels", 1, "image_x_vis", "image_pooled"),
        ("six_frames", "pixels_T6", 6, "T6_native_x_vis", "T6_native_pooled"),
    ],
)
def test_vision(request, io, model, pixels, frames, tokens, pooled):
    """Six frames use a longer table of positions of their own."""
    vision = request.getfixturevalue(model).vision
    assert vision.drop_path[0] == 0 and max(vision.drop_path) == vision.drop_path[-1] > 0
    seen = vision(io[pixels][:, :frames])
    torch.testing.assert_close(seen, (io[tokens], io[pooled]), **CLOSE)


def test_stochastic_depth_scales_the_branches_that_stay(four_frames):
    torch.manual_seed(3)
    branches = four_frames.vision.train()._drop(torch.ones(50, 2, 1), 0.2)
    four_frames.vision.eval()
    assert set(branches.flatten().tolist()) == {0.0, 1.25}


def test_text(four_frames, io):
    states = four_frames.text(io["input_ids"], io["attention_mask"])
    torch.testing.assert_close(states, io["text_embeds"], **CLOSE)
    torch.testing.assert_close(four_frames.text_projection(states[:, 0]), io["text_proj"], **CLOSE)


def test_match_logits_of_pairs_with_chosen_memory(four_frames, io):
    tokens, _ = four_frames.encode_video(io["pixels"])
    states, _ = four_frames.encode_text(io["input_ids"], io["attention_mask"])
    texts, videos = torch.tensor([6, 0, 3, 3]), torch.tensor([0, 4, 2, 1])
    memory = select_videos(four_frames.fusion.memory(tokens), videos)
    logits = four_frames.match(states[texts], io["attention_mask"][texts], memory)
    torch.testing.assert_close(logits, io["match_logits"][videos, texts], **CLOSE)
    torch.testing.assert_close(confidence(logits)["z1"], io["match_logits"][videos, texts, 1], **CLOSE)


def test_contrastive_losses_and_gradients(four_frames, io):
    """The fixture's gradients belong to UMT's soft targets for repeated ids; the network under them is the same."""
    four_frames.zero_grad()
    _, videos = four_frames.encode_video(io["pixels"])
    _, texts = four_frames.encode_text(io["input_ids"][:5], io["attention_mask"][:5])
    sims = similarity(videos, texts)
    unique = contrastive_loss(sims, [], four_frames.temperature, "none")
    torch.testing.assert_close(unique, io["vtc_loss_unique"], **CLOSE)
    logits = sims / four_frames.temperature
    same = (io["idx"][:, None] == io["idx"][None, :]).float()
    target = same / same.sum(dim=1, keepdim=True)
    forward = -(target * logits.log_softmax(dim=1)).sum(dim=1).mean()
    backward = -(target * logits.T.log_softmax(dim=1)).sum(dim=1).mean()
    loss = (forward + backward) / 2
    torch.testing.assert_close(loss, io["vtc_loss_idx"], **CLOSE)
    loss.backward()
    torch.testing.assert_close(
        four_frames.video_projection.weight.grad, io["grad_vtc_idx__vision_proj.weight"], **CLOSE
    )
    torch.testing.assert_close(four_frames.temperature.grad, io["grad_vtc_idx__temp"], atol=1e-4, rtol=1e-5)


def test_weights_of_trivial_negatives(io):
    same = io["idx"][:, None] == io["idx"][None, :]
    sim = io["sim_raw"][:, :5]
    torch.testing.assert_close(negative_weights(sim, 0.07, same), io["vtm_weights_v2t_for_text_negatives"], **CLOSE)
    torch.testing.assert_close(negative_weights(sim.T, 0.07, same), io["vtm_weights_t2v_for_video_negatives"], **CLOSE)
    assert negative_weights(sim, 0.07, same).argmax(dim=1).tolist() == io["vtm_text_neg_index"].tolist()
    assert negative_weights(sim.T, 0.07, same).argmax(dim=1).tolist() == io["vtm_video_neg_index"].tolist()


Q, PLUS, STATIC, DYNAMIC = range(4)


def matching_value(logits, role, indices, normaliser):
    """l_m (role q) or l_m+ (role q+) of the fixture: one positive and four negatives an item."""
    margin = logits[..., 1] - logits[..., 0]
    item = torch.arange(5)
    texts, videos = map(torch.tensor, indices)
    negative = torch.stack(
        [margin[role, item, texts], margin[STATIC, item, item], margin[DYNAMIC, item, item], margin[role, videos, item]]
    )
    return matching_loss(margin[role, item, item], negative, batch=5, pairs=25, normaliser=normaliser)


def indices_of(expected):
    return expected["trivial_text_negative_index"], expected["trivial_video_negative_index"]


@pytest.mark.parametrize("switch", ["all", "own", "none"])
@pytest.mark.parametrize("role, name", [(Q, "lc"), (PLUS, "lc_plus")])
def test_equation_9(verified, switch, role, name):
    inputs, expected = verified
    sim = inputs["sim"]
    loss = contrastive_loss(sim[role], [sim[STATIC], sim[DYNAMIC]], expected["tau"], switch)
    assert loss.item() == pytest.approx(expected["values"][f"{name}[{switch}]"], abs=1e-5)


@pytest.mark.parametrize("normaliser, label", [("batch", "B"), ("pairs", "5B")])
@pytest.mark.parametrize("role, name", [(Q, "lm"), (PLUS, "lm_plus")])
def test_equation_10(verified, role, name, normaliser, label):
    inputs, expected = verified
    value = matching_value(inputs["match_logits"], role, indices_of(expected), normaliser)
    assert value.item() == pytest.approx(expected["values"][f"{name}[diff,{label}]"], abs=1e-5)


def test_equation_11(verified):
    inputs, expected = verified
    sim, logits = inputs["sim"], inputs["match_logits"]
    hard = [sim[STATIC], sim[DYNAMIC]]
    total = total_loss(
        {
            "contrastive": contrastive_loss(sim[Q], hard, expected["tau"], "all"),
            "contrastive_plus": contrastive_loss(sim[PLUS], hard, expected["tau"], "all"),
            "matching": matching_value(logits, Q, indices_of(expected), "batch"),
            "matching_plus": matching_value(logits, PLUS, indices_of(expected), "batch"),
        }
    )
    assert total.item() == pytest.approx(expected["values"]["total[all,diff,B] lambda_c=lambda_m=1"], abs=1e-5)
