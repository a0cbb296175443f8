"""The evaluator at the paper's size in bfloat16, and its training in NCCL processes against one on the CPU."""

import time

import numpy as np
import pytest
import torch
from gpu_device import NO_GPU, ON_CPU, most_gigabytes, wait

from verified.evaluator.inputs import make_batch
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.processes import run_in_processes
from verified.evaluator.score import moment_readings
from verified.evaluator.settings import architecture
from verified.evaluator.training import TrainingStep, adamw, to_device
from verified.nn.layers import computing

SIZE = ("mini/16", 4, 32) if ON_CPU else ("L/16", 20, 224)
WORDS = "a person in a red shirt slowly opens the wooden door and walks out of the bright room into the garden"


def batch_of(clips: int, size) -> object:
    drawn = np.random.default_rng(0)
    frames = drawn.integers(0, 256, (clips, size.frames, size.image_size, size.image_size, 3), dtype=np.uint8)
    roles = ("caption", "positive", "static", "dynamic")
    captions = {role: [f"{WORDS} {role} {number}" for number in range(clips)] for role in roles}
    return make_batch(frames, captions, [str(number) for number in range(clips)])


@pytest.mark.parametrize("clips", [4, 16], ids=["a quarter of a batch", "a whole batch"])
def test_a_training_step_of_the_papers_size(device, report, clips):
    torch.manual_seed(0)
    model = NoiseEvaluator(architecture(*SIZE))
    model.use_checkpointing()
    step = TrainingStep(model, "all", "batch").to(device).train()
    optimiser, batch, seconds = adamw(step, 1e-5), to_device(batch_of(clips, model.size), device), []
    for _ in range(3):
        wait()
        started = time.perf_counter()
        with computing(device, "bfloat16"):
            loss, _ = step(batch)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        wait()
        seconds.append(time.perf_counter() - started)
        assert torch.isfinite(loss)
    report(f"training step, {SIZE[0]}, {clips} clips: {min(seconds):.2f} s, {most_gigabytes():.1f} GB")


def test_scoring_at_the_papers_size(device, report):
    torch.manual_seed(0)
    model = NoiseEvaluator(architecture(*SIZE)).to(device).eval()
    frames = torch.from_numpy(batch_of(1, model.size).frames.numpy()[0]).to(device)
    captions = [f"{WORDS} {number}" for number in range(6)]
    readings, seconds = {}, {}
    for precision in ("float32", "bfloat16"):
        moment_readings(model, frames, captions, precision)
        wait()
        started = time.perf_counter()
        readings[precision], _ = moment_readings(model, frames, captions, precision)
        wait()
        seconds[precision] = time.perf_counter() - started
    assert all(
        values.dtype == torch.float32 and torch.isfinite(values).all() for values in readings["bfloat16"].values()
    )
    torch.testing.assert_close(readings["bfloat16"]["similarity"], readings["float32"]["similarity"], rtol=0, atol=0.03)
    report(f"six captions of a moment, {SIZE[0]}: {seconds} s, {most_gigabytes():.1f} GB")


def losses_of_three_steps(device: torch.device, target: str) -> None:
    """In one process of the group: three steps of the mini size on its share of eight clips; rank 0 saves losses."""
    from verified.evaluator.processes import processes, share

    rank, size = processes()
    torch.manual_seed(0)
    model = NoiseEvaluator(architecture("mini/16", 4, 32))
    step = TrainingStep(model, "all", "batch").to(device).eval()  # dropout would draw other numbers in each process
    wrapped = torch.nn.parallel.DistributedDataParallel(step) if size > 1 else step
    optimiser, batch, rows = adamw(step, 1e-3), batch_of(8, model.size), []
    batch.frames = batch.frames[share(8, rank, size)]
    batch = to_device(batch, device)
    for number in range(3):
        step.generator.manual_seed(number)
        loss, seen = wrapped(batch)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        rows.append(seen["loss"].item())
    if rank == 0:
        np.save(target, rows)


def test_processes_on_gpus_train_as_one_on_the_cpu(tmp_path):
    """NCCL where there are two GPUs, one process where there is one."""
    count = 2 if ON_CPU else min(2, torch.cuda.device_count())
    if count == 0:
        pytest.skip(NO_GPU)
    run_in_processes(1, False, losses_of_three_steps, str(tmp_path / "cpu.npy"))
    run_in_processes(count, not ON_CPU, losses_of_three_steps, str(tmp_path / "gpu.npy"))
    np.testing.assert_allclose(np.load(tmp_path / "gpu.npy"), np.load(tmp_path / "cpu.npy"), rtol=2e-3)
