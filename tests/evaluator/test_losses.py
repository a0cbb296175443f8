"""Equations 9 to 11 under every switch, against values worked out in float64."""

import pytest
import torch

from verified.evaluator.model import similarity
from verified.evaluator.training import contrastive_loss, matching_loss, total_loss

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


def test_the_inputs_themselves_come_from_our_network(verified, four_frames, io):
    """Similarities and logits that the worked values start from, recomputed by our model from pixels and ids."""
    inputs, _ = verified
    with torch.no_grad():
        tokens, videos = four_frames.encode_video(io["pixels"])
        memory = four_frames.fusion.memory(tokens)
        for role in range(4):
            ids, mask = inputs["input_ids"][role], inputs["attention_mask"][role]
            states, texts = four_frames.encode_text(ids, mask)
            logits = four_frames.match(states.repeat(5, 1, 1), mask.repeat(5, 1), memory).reshape(5, 5, 2)
            torch.testing.assert_close(similarity(videos, texts).double(), inputs["sim"][role], atol=1e-5, rtol=0)
            torch.testing.assert_close(logits.double(), inputs["match_logits"][role], atol=1e-5, rtol=0)


def test_losses_at_initialisation():
    """All logits equal: l_m = 5 ln 2 and l_c = (ln 3B + ln B) / 2."""
    batch = 16
    flat, zeros = torch.zeros(batch, batch), torch.zeros(batch)
    loss = contrastive_loss(flat, [flat, flat], 0.07, "all")
    assert loss.item() == pytest.approx((torch.tensor(3.0 * batch).log() + torch.tensor(float(batch)).log()).item() / 2)
    match = matching_loss(zeros, torch.zeros(4, batch), batch, 5 * batch, "batch")
    assert match.item() == pytest.approx(5 * torch.tensor(2.0).log().item())
