"""The network, its position tables, its losses and their gradients equal the authors' modules."""

import pytest
import torch

from verified.evaluator.model import NoiseEvaluator, confidence, select_videos, similarity
from verified.evaluator.settings import architecture
from verified.evaluator.training import contrastive_loss, negative_weights
from verified.evaluator.vision import sine_cosine_table

CLOSE = {"atol": 1e-5, "rtol": 0}


def all_logits(model, pixels, ids, mask):
    tokens, _ = model.encode_video(pixels)
    states, _ = model.encode_text(ids, mask)
    videos, texts = len(tokens), len(states)
    pairs = model.match(states.repeat(videos, 1, 1), mask.repeat(videos, 1), model.fusion.memory(tokens))
    return pairs.reshape(videos, texts, 2)


def test_vision(four_frames, io):
    tokens, frames = four_frames.vision(io["pixels"])
    torch.testing.assert_close(tokens, io["x_vis"], **CLOSE)
    torch.testing.assert_close(frames, io["pooled_vision"], **CLOSE)
    torch.testing.assert_close(four_frames.video_projection(frames), io["vision_proj"], **CLOSE)


def test_vision_of_one_frame(four_frames, io):
    tokens, frames = four_frames.vision(io["pixels"][:, :1])
    torch.testing.assert_close(tokens, io["image_x_vis"], **CLOSE)
    torch.testing.assert_close(frames, io["image_pooled"], **CLOSE)


def test_vision_of_six_frames_uses_its_own_longer_table(six_frames, io):
    tokens, frames = six_frames.vision(io["pixels_T6"])
    torch.testing.assert_close(tokens, io["T6_native_x_vis"], **CLOSE)
    torch.testing.assert_close(frames, io["T6_native_pooled"], **CLOSE)


def test_position_tables(io):
    torch.testing.assert_close(sine_cosine_table(36, 48), io["pos_T4_P3_d48"], **CLOSE)
    torch.testing.assert_close(sine_cosine_table(54, 48), io["pos_T6_native_P3_d48"], **CLOSE)


def test_text(four_frames, io):
    states = four_frames.text(io["input_ids"], io["attention_mask"])
    torch.testing.assert_close(states, io["text_embeds"], **CLOSE)
    torch.testing.assert_close(four_frames.text_projection(states[:, 0]), io["text_proj"], **CLOSE)


def test_similarity(four_frames, io):
    _, videos = four_frames.encode_video(io["pixels"])
    _, texts = four_frames.encode_text(io["input_ids"], io["attention_mask"])
    torch.testing.assert_close(similarity(videos, texts), io["sim_raw"], **CLOSE)
    scaled = similarity(videos, texts) / four_frames.temperature
    torch.testing.assert_close(scaled, io["sim_over_temp"], atol=1e-4, rtol=0)


def test_fusion_and_match_logits(four_frames, io):
    tokens, _ = four_frames.encode_video(io["pixels"])
    states, _ = four_frames.encode_text(io["input_ids"], io["attention_mask"])
    grouped = four_frames.fusion(
        states.repeat(5, 1, 1), io["attention_mask"].repeat(5, 1), four_frames.fusion.memory(tokens)
    )
    torch.testing.assert_close(grouped.reshape(5, 7, -1), io["fusion_cls"], **CLOSE)
    logits = all_logits(four_frames, io["pixels"], io["input_ids"], io["attention_mask"])
    torch.testing.assert_close(logits, io["match_logits"], **CLOSE)
    torch.testing.assert_close(confidence(logits)["z1"], io["match_logits"][..., 1], **CLOSE)


def test_pairs_with_chosen_memory_equal_grouped_pairs(four_frames, io):
    tokens, _ = four_frames.encode_video(io["pixels"])
    states, _ = four_frames.encode_text(io["input_ids"], io["attention_mask"])
    texts, videos = torch.tensor([6, 0, 3, 3]), torch.tensor([0, 4, 2, 1])
    memory = select_videos(four_frames.fusion.memory(tokens), videos)
    logits = four_frames.match(states[texts], io["attention_mask"][texts], memory)
    torch.testing.assert_close(logits, io["match_logits"][videos, texts], **CLOSE)


def test_contrastive_loss_and_gradients(four_frames, io):
    """UMT's soft targets for repeated ids are outside Equation 9, so the comparison is on different ids."""
    four_frames.zero_grad()
    _, videos = four_frames.encode_video(io["pixels"])
    _, texts = four_frames.encode_text(io["input_ids"][:5], io["attention_mask"][:5])
    loss = contrastive_loss(similarity(videos, texts), [], four_frames.temperature, "none")
    torch.testing.assert_close(loss, io["vtc_loss_unique"], **CLOSE)


def test_gradients_of_the_soft_target_loss(four_frames, io):
    """The fixture's gradients belong to UMT's soft targets; the network under them is the same."""
    four_frames.zero_grad()
    _, videos = four_frames.encode_video(io["pixels"])
    _, texts = four_frames.encode_text(io["input_ids"][:5], io["attention_mask"][:5])
    logits = similarity(videos, texts) / four_frames.temperature
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


def test_matching_loss_of_umt(four_frames, io):
    """Cross-entropy of the two-way head is the sigmoid loss of the margin; UMT averages over all 3B pairs."""
    from verified.evaluator.training import matching_loss

    margin = confidence(io["match_logits"])["margin"]
    item = torch.arange(5)
    negative = torch.cat([margin[io["vtm_video_neg_index"], item], margin[item, io["vtm_text_neg_index"]]])
    loss = matching_loss(margin[item, item], negative, batch=5, pairs=15, normaliser="pairs")
    torch.testing.assert_close(loss, io["vtm_loss_argmax_negatives"], **CLOSE)


@pytest.mark.parametrize(
    "module, expected",
    [
        ("vision", 303_076_352),
        ("text.embeddings", 31_782_912),
        ("text.layers", 239_328_256),
        ("video_projection", 787_200),
        ("text_projection", 787_200),
        ("match_head", 2_050),
        ("", 659_747_331),
    ],
)
def test_parameters_of_the_paper_size(module, expected):
    with torch.device("meta"):
        model = NoiseEvaluator(architecture("L/16", frames=20, image_size=224))
    assert sum(p.numel() for p in model.get_submodule(module).parameters()) == expected
