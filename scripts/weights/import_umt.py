"""Convert UMT's checkpoint (see rules/weights.smk)."""

from verified.runtime.job import job

with job(snakemake) as log:
    from pathlib import Path

    from verified.config.evaluator import Evaluator
    from verified.config.params import received
    from verified.evaluator.settings import architecture
    from verified.evaluator.umt import import_umt
    from verified.weights.fetch import check_umt

    evaluator = received(Evaluator, snakemake.params.evaluator)
    check_umt(evaluator, snakemake.params.lock)
    size = architecture(evaluator.size, evaluator.frames, evaluator.image_size)
    counts = import_umt(Path(snakemake.input.umt), Path(snakemake.output.checkpoint), size)
    log.info("%d tensors kept, %d of the original not needed", counts["kept"], counts["dropped"])
