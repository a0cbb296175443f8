"""Compare metrics of captions with known facts about the captions (see extensions/lab/rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.threads) as log:
    from verified.features.encoders import load_joint
    from verified.io.jsonl import read_jsonl, write_json
    from verified.runtime.wildcards import key_of
    from verified.weights.records import source_of
    from verified_lab.meta_evaluation.judgements import COSINE, plain
    from verified_lab.meta_evaluation.metrics import ALL, FrameMetrics, side_by_side
    from verified_lab.meta_evaluation.of_run import stored_scores

    inputs, params = snakemake.input, snakemake.params
    rows, judged = read_jsonl(inputs.judged), plain(inputs.judged)
    videos = {row["video"]: row for path in inputs.videos for row in read_jsonl(path)}
    joint, _ = source_of(params.joint_encoder, params.joint_revision, inputs.weights)
    scores = stored_scores(rows, judged, read_jsonl(inputs.agreement))
    scores[f"{COSINE} ({params.joint_encoder})"] = FrameMetrics(judged, videos, load_joint(joint)).cosines()
    found = side_by_side(judged, scores, params.resamples, params.seed)
    write_json(
        snakemake.output.meta_evaluation,
        {"dataset": key_of(snakemake.wildcards.dataset), "judge": params.judge, **found},
    )
    for name, measured in found["groups"][ALL]["metrics"].items():
        log.info("%s: AUROC %s", name, measured["auroc"]["value"])
