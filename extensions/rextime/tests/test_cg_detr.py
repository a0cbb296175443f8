"""CG-DETR's own parts, against numbers worked out by hand from the official code's formulae."""

from math import log, sqrt

import pytest
import torch

from verified_rextime.detr import WindowDecoder, generalised_iou, inverse_sigmoid
from verified_rextime.models.cg_detr import (
    CGDETR,
    AdaptiveCrossLayer,
    CGDETRConfig,
    binary_loss,
    detection_losses,
    draw_clips,
    ends_of,
    likeness,
    over_items,
    ranking_loss,
)

CONFIG = CGDETRConfig(video_dim=4, text_dim=4, context_clips=8, **CGDETR.small)
MOMENT = torch.tensor([[0.25, 0.75]])


SPANS = torch.tensor([[[0.5, 0.1], [0.25, 0.5]]])
"""[0.45, 0.55] and [0, 0.5]: distances of the moment 0.4 and 0.25, GIoU 1/5 and 1/3."""


def test_the_window_that_costs_least_is_taken_for_the_moment():
    distance, giou, label = detection_losses(torch.zeros(1, 2, 2), SPANS, MOMENT, CONFIG)
    assert distance.item() == pytest.approx(0.25 / 2)
    assert giou.item() == pytest.approx(1 - 1 / 3)
    assert label.item() == pytest.approx((1 + 0.1) * log(2) / 2)


def test_a_sure_window_is_taken_although_it_fits_less():
    """Its probability of nearly 1 against one of nearly 0 is worth 4, more than 1.5 in distance and 2/15 in GIoU."""
    logits = torch.tensor([[[20.0, 0.0], [0.0, 20.0]]])
    distance, giou, label = detection_losses(logits, SPANS, MOMENT, CONFIG)
    assert (distance.item(), giou.item()) == pytest.approx((0.4 / 2, 1 - 1 / 5))
    assert label.item() == pytest.approx(0, abs=1e-6)
    assert ends_of(SPANS[0, 1]).tolist() == [0.0, 0.5]


def scores_of_three_clips() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """Scores whose softmax at temperature 1/2 is (1, 2, 3) / 6, the moment being the second clip."""
    scores = torch.tensor([[0.0, log(2) / 2, log(3) / 2]])
    inside = torch.tensor([[False, True, False]])
    return scores, inside, torch.ones_like(inside), (torch.tensor([[1, 1]]), torch.tensor([[0, 2]]))


def test_clips_inside_rank_before_those_outside():
    scores, inside, mask, drawn = scores_of_three_clips()
    found = ranking_loss(scores, None, inside, mask, torch.tensor([False]), drawn, 0.2)
    hinge = 2 * (0 + (0.2 + log(3) / 2 - log(2) / 2)) / 2
    assert found.item() == pytest.approx(hinge + log(3) / 12)


def test_clips_under_another_query_count_where_its_video_is_another():
    scores, inside, mask, drawn = scores_of_three_clips()
    wrong = torch.full_like(scores, log(6) / 2)
    hinge = 0.2 + log(3) / 2 - log(2) / 2
    for real, expected in ((True, log((6 + 18) / 2)), (False, log(3))):
        found = ranking_loss(scores, wrong, inside, mask, torch.tensor([real]), drawn, 0.2)
        assert found.item() == pytest.approx(hinge + expected / 12)
    losses = torch.tensor([[1.0, 2.0, 9.0], [5.0, 5.0, 5.0], [3.0, 3.0, 3.0]])
    mask = torch.tensor([[True, True, False], [True] * 3, [True] * 3])
    assert over_items(losses, mask, torch.tensor([True, False, True])).item() == pytest.approx((3 + 9) / 2)


def test_shares_of_attention_are_a_classification_of_clips():
    inside, mask = torch.tensor([[True, False, False]]), torch.tensor([[True, True, False]])
    found = binary_loss(torch.tensor([[0.5, 0.25, 0.9]]), inside, mask)
    assert found.item() == pytest.approx((log(2) + log(4 / 3)) / 2)


def test_dummies_are_pushed_apart_each_by_its_own_gradient():
    tokens = torch.tensor([[[2.0, 0.0], [0.0, 1.0], [3.0, 3.0]]], requires_grad=True)
    found = likeness(tokens)
    assert found.item() == pytest.approx(4 / sqrt(2) / 9)
    found.backward()
    # d cos / d length is 0; the turn of the first towards the third is 1 / √2, over its length of 2, a ninth of it
    assert tokens.grad[0, 0].tolist() == pytest.approx([0.0, 1 / sqrt(2) / 2 / 9])


def test_two_clips_are_drawn_inside_and_two_outside():
    inside = torch.tensor([[False, True, True, True, False], [False, True, False, False, False], [True] * 5])
    mask = torch.tensor([[True] * 5, [True, True, True, True, False], [True] * 5])
    seen = set()
    for seed in range(20):
        within, beyond = draw_clips(inside, mask, torch.Generator().manual_seed(seed))
        assert inside.gather(1, within).all() and (mask & ~inside).gather(1, beyond)[:2].all()
        assert within[1].tolist() == [1, 1] and beyond[2].tolist() == within[2].tolist()
        assert len(set(within[0].tolist())) == len(set(beyond[1].tolist())) == 2
        seen.add((*within[0].tolist(), *beyond[1].tolist()))
    assert len(seen) > 6
    only = torch.tensor([[True]])
    assert [of.tolist() for of in draw_clips(only, only, torch.Generator())] == [[[0, 0]], [[0, 0]]]


def test_dummies_draw_off_attention_and_give_nothing():
    torch.manual_seed(0)
    layer = AdaptiveCrossLayer(4, 2, 8, 0.0).eval()
    clips, tokens = torch.randn(1, 2, 4), torch.randn(1, 5, 4)
    mask = torch.tensor([[True, True, True, True, False]])
    zeros, away = torch.zeros(1, 2, 4), -tokens  # tokens and positions cancel: each gets an equal share
    x, shares = layer(clips, zeros, tokens, away, mask, dummies=3)
    assert shares[0, 0].tolist() == pytest.approx([0.25] * 4 + [0.0])
    broadcast = layer.self_attn.out_proj(0.25 * tokens[:, 3:4]).expand(-1, 2, -1)
    assert torch.allclose(x, layer.change(clips, broadcast), atol=1e-6)
    nothing = torch.zeros(1, 2, 4)
    assert torch.allclose(layer.without_tokens(clips), layer.change(clips, layer.self_attn.out_proj(nothing)))


def test_a_decoder_that_says_nothing_new_keeps_its_windows():
    torch.manual_seed(0)
    decoder = WindowDecoder(3, 8, 2, 16, 0.0).eval()
    for parameter in decoder.bbox_embed.parameters():
        torch.nn.init.zeros_(parameter)
    windows, clips = torch.tensor([[0.0, -1.0], [2.0, 0.5]]), torch.randn(2, 5, 8)
    contents, given = decoder(clips, torch.ones(2, 5, dtype=torch.bool), torch.randn(2, 5, 8), windows)
    assert contents.shape == (3, 2, 2, 8) and given.shape == (3, 2, 2, 2)
    assert torch.allclose(given, windows.sigmoid().expand(3, 2, -1, -1), atol=1e-6)
    assert torch.allclose(inverse_sigmoid(windows.sigmoid()), windows, atol=1e-5)
    decoder.bbox_embed.layers[-1].bias.data[:] = torch.tensor([1.0, 0.0])
    moved = decoder(clips, torch.ones(2, 5, dtype=torch.bool), torch.randn(2, 5, 8), windows)[1]
    expected = [(windows + torch.tensor([float(layer), 0.0])).sigmoid() for layer in range(3)]
    assert torch.allclose(moved[:, 0], torch.stack(expected), atol=1e-3)


def test_the_saliency_token_is_the_mean_clip_and_the_likeliest_prompt():
    model = CGDETR(CGDETRConfig(video_dim=4, text_dim=4, context_clips=8, **CGDETR.small, chosen_prompts=2))
    hidden = model.config.hidden
    with torch.no_grad():
        model.global_rep_token.copy_(torch.eye(4, hidden))
    clips = torch.zeros(1, 3, hidden)
    clips[0, 0, 1], clips[0, 1, 1], clips[0, 2, 2] = 1.0, -1.0, 50.0
    mask = torch.tensor([[True, True, False]])
    found = model.saliency_token(clips, mask, torch.tensor([[3.0, 1.0, 7.0]]))[0]
    # the mean is 0; of clip 0, whose weight is 3/4, prompt 1 has e / (e + 3), of clip 1 the others 1 / (1/e + 3)
    e = 2.718281828
    likely = [0.75 / (e + 3) + 0.25 / (1 / e + 3), 0.75 * e / (e + 3) + 0.25 / e / (1 / e + 3)]
    assert found[:4].tolist() == pytest.approx([*likely, 0.0, 0.0], abs=1e-5)


def test_parameters_have_the_names_and_sizes_of_the_authors_at_their_widths():
    with torch.device("meta"):
        model = CGDETR(CGDETRConfig(video_dim=2816, text_dim=512, context_clips=75))
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    named = {
        "input_vid_proj.0.net.1.weight": (256, 2818),
        "query_embed.weight": (10, 2),
        "dummy_rep_token": (45, 256),
        "global_rep_token": (10, 256),
        "global_rep_pos": (1, 256),
        "moment_rep_pos": (256,),
        "sent_rep_token": (256,),
        "txtproj_encoder.layers.1.activation.weight": (1,),
        "scls_encoder.layers.0.self_attn.in_proj_weight": (768, 256),
        "transformer.mcls_encoder.layers.0.norm2.bias": (256,),
        "transformer.t2v_encoder.layers.1.self_attn.out_proj.weight": (256, 256),
        "transformer.encoder.layers.2.linear1.weight": (1024, 256),
        "transformer.decoder.layers.0.ca_qpos_proj.weight": (256, 256),
        "transformer.decoder.layers.2.cross_attn.out_proj.bias": (256,),
        "transformer.decoder.layers.2.ca_qpos_sine_proj.weight": (256, 256),
        "transformer.decoder.query_scale.layers.1.weight": (256, 256),
        "transformer.decoder.bbox_embed.layers.2.weight": (2, 256),
        "transformer.decoder.ref_anchor_head.layers.1.weight": (1, 256),
        "span_embed.layers.2.bias": (2,),
        "class_embed.weight": (2, 256),
        "saliency_proj2.bias": (256,),
    }
    assert shapes.items() >= named.items()
    assert "transformer.decoder.layers.1.ca_qpos_proj.weight" not in shapes
    official = {name: torch.empty(shape) for name, shape in shapes.items()}
    official |= {"txt_proj_linear.net.1.bias": torch.empty(256), "txt_position_embed.LayerNorm.bias": torch.empty(256)}
    assert CGDETR.from_official(official).keys() == shapes.keys()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0.2, 0.6), (0.2, 0.6), 1.0),
        ((0.0, 2.0), (1.0, 3.0), 1 / 3),  # they touch: the hull is the union
        ((0.0, 1.0), (2.0, 3.0), -1 / 3),  # a third of the hull is between them
        ((0.0, 1.0), (4.0, 4.0), -3 / 4),
    ],
)
def test_generalised_iou_says_how_far_apart_spans_are_too(first, second, expected):
    assert generalised_iou(torch.tensor(first), torch.tensor(second)).item() == pytest.approx(expected)
