"""UniVTG's own parts, against numbers worked out by hand from the paper's formulae and the official code's."""

from math import cos, log, pi, sin

import pytest
import torch

from verified.benchmark.vcmr.conformance.trial import SyntheticCorpus
from verified_rextime.detr import PositionedLayer, sine_positions
from verified_rextime.models.univtg import (
    UniVTG,
    UniVTGConfig,
    boundary_losses,
    foreground_loss,
    inside_moment,
    inter_loss,
    intra_loss,
)

MOMENT = torch.tensor([[1, 2]])  # of four clips: from a quarter to three quarters of the video


def test_the_foreground_loss_weighs_clips_outside_by_a_tenth():
    inside, mask = inside_moment(MOMENT, 5), torch.tensor([[True] * 4 + [False]])
    assert inside.tolist() == [[False, True, True, False, False]]
    found = foreground_loss(torch.zeros(1, 5), inside, mask, 0.1)
    assert found.item() == pytest.approx((2 * 1 + 2 * 0.1) * log(2) / 4)
    sure = foreground_loss(torch.tensor([[0.0, log(3), 0.0, 0.0, 9.0]]), inside, mask, 0.1)
    assert sure.item() == pytest.approx((log(4 / 3) + log(2) + 2 * 0.1 * log(2)) / 4)


def test_the_boundary_losses_are_means_over_the_clips_of_the_moment():
    """Windows of one half to either side of the centres 3/8 and 5/8: each has an end 3/8 and one 1/8 too far out."""
    windows = torch.tensor([[[9.0, 9.0], [-0.125, 0.875], [0.125, 1.125], [9.0, 9.0]]])
    distance, giou = boundary_losses(windows, torch.tensor([[0.25, 0.75]]), inside_moment(MOMENT, 4))
    assert distance.item() == pytest.approx((0.375**2 + 0.125**2) / 2)
    assert giou.item() == pytest.approx(0.5)


def test_the_saliency_losses_contrast_clips_and_queries():
    saliency = torch.tensor([[0.0, log(2), 5.0, log(3)], [0.0, log(6), 5.0, 7.0]])
    inside = torch.tensor([[False, True, True, False], [False, True, True, False]])
    mask = torch.tensor([[True] * 4, [True] * 3 + [False]])
    found = intra_loss(saliency, torch.tensor([1, 1]), inside, mask, 1.0)
    of_clips, of_items = (log(6 / 2) + log(7 / 6)) / 2, (log(8 / 2) + log(8 / 6)) / 2
    assert found.item() == pytest.approx(of_clips + of_items)
    vectors = torch.eye(2)
    assert inter_loss(vectors, vectors, 0.5).item() == pytest.approx(2 * log(1 + 2.718281828**-2))


def test_positions_lie_on_a_circle_whose_end_is_that_of_the_video():
    mask = torch.arange(5) < torch.tensor([[4], [2]])
    found = sine_positions(mask, 4)
    for row, length in enumerate((4, 2)):
        for clip in range(length):
            at = (clip + 1) / length * 2 * pi
            expected = [sin(at), cos(at), sin(at / 100), cos(at / 100)]
            assert found[row, clip].tolist() == pytest.approx(expected, abs=1e-5)


def test_windows_of_published_weights_reach_out_from_the_end_of_a_clip():
    """The authors' (i + c/2) / N with clips of c = 2 seconds: half a clip later than the clip's centre."""
    torch.manual_seed(0)
    corpus = SyntheticCorpus(UniVTG)
    sizes = {**corpus.sizes, **UniVTG.small}
    ours, theirs = (UniVTG(UniVTGConfig(**sizes, clip_centre=at)).eval() for at in (0.5, 1.0))
    theirs.load_state_dict(ours.state_dict())
    video, mask = corpus.all_videos
    with torch.no_grad():
        queries = ours.encode_queries(*corpus.all_queries)
        clips = ours.encode_videos(video, mask)["tokens"]
        windows = [model.predict(clips, mask, queries["tokens"], queries["mask"])[1] for model in (ours, theirs)]
    half = (0.5 / mask.sum(dim=1))[:, None, None].expand_as(windows[0])
    assert torch.allclose(windows[1] - windows[0], half, atol=1e-6)


def test_a_layer_adds_positions_to_queries_and_keys_alone():
    """Without scores that tell positions apart, values, and so the answer, know nothing of them."""
    torch.manual_seed(0)
    layer = PositionedLayer(8, 2, 16, 0.0, 0.0).eval()
    x, mask, positions = torch.randn(1, 5, 8), torch.ones(1, 5, dtype=torch.bool), torch.randn(1, 5, 8)
    assert not torch.allclose(layer(x, mask, positions), layer(x, mask, torch.zeros(1, 5, 8)))
    with torch.no_grad():
        layer.self_attn.in_proj_weight[:16] = 0
    assert torch.equal(layer(x, mask, positions), layer(x, mask, torch.zeros(1, 5, 8)))


def test_parameters_have_the_names_and_sizes_of_the_authors_at_their_widths():
    with torch.device("meta"):
        model = UniVTG(UniVTGConfig(video_dim=2816, text_dim=512, context_clips=75))
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    layer = "transformer.encoder.layers.3."
    named = {
        "input_vid_proj.0.LayerNorm.weight": (2818,),
        "input_vid_proj.1.net.1.weight": (1024, 1024),
        "input_txt_proj.0.net.1.weight": (1024, 512),
        "token_type_embeddings.weight": (2, 1024),
        f"{layer}self_attn.in_proj_weight": (3072, 1024),
        f"{layer}self_attn.out_proj.bias": (1024,),
        f"{layer}linear1.weight": (1024, 1024),
        f"{layer}norm2.weight": (1024,),
        "span_embed.layers.2.weight": (2, 1024, 3),
        "class_embed.layers.2.bias": (1,),
        "weightedpool.weight": (1024, 1),
    }
    assert shapes.items() >= named.items()
    official = {f"module.{name}": torch.empty(shape) for name, shape in shapes.items()}
    official["module.txt_position_embed.LayerNorm.weight"] = torch.empty(1024)
    assert UniVTG.from_official(official).keys() == shapes.keys()
