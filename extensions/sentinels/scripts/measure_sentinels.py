"""Score the captions of sentinels, and measure them against the truth (see extensions/sentinels/rules.smk)."""

from verified.runtime.job import job

with job(snakemake, snakemake.params.evaluator["threads"]):
    import tempfile
    from pathlib import Path

    import torch

    from verified.annotations.selection import candidates_by_moment, choose
    from verified.evaluator.checkpoint import load_checkpoint
    from verified.evaluator.clips import gather_clips, open_clips
    from verified.evaluator.score import score_candidates
    from verified.io.jsonl import read_json, read_jsonl, write_json, write_jsonl
    from verified.nn.layers import visible_device
    from verified.runtime.wildcards import key_of
    from verified_sentinels.facts import judge, measure, read_truth

    inputs, params = snakemake.input, snakemake.params
    moments = read_jsonl(inputs.moments)
    captions = [row for path in inputs.captions for row in read_jsonl(path)]
    with tempfile.TemporaryDirectory() as folder:
        clips, index = Path(folder, f"clips{params.ending}"), Path(folder, "index.jsonl")
        gather_clips(moments, read_jsonl(inputs.videos), **params.clips, clips=clips, index=str(index))
        rows = read_jsonl(index)
        scores, _ = score_candidates(
            load_checkpoint(inputs.checkpoint),
            open_clips(clips, rows),
            rows,
            [[row for row in captions if row["type"] == kind] for kind in ("statics", "dynamics")],
            params.evaluator["confidence"],
            torch.device(visible_device()),
            params.evaluator["precision"],
        )
    best = [choose(group) for group in candidates_by_moment(moments, scores).values()]
    highest = [pair[0] for pair in best if not isinstance(pair, str)]
    least = read_json(inputs.selection)["min_score"]
    names = {
        (row["desc_id"], row["type"], row["candidate"]) for row in highest if least is None or row["score"] >= least
    }
    judged = judge(captions, read_truth(inputs.truth))
    chosen = [row for row in judged if (row["desc_id"], row["type"], row["candidate"]) in names]
    empty = len(moments) - len({row["desc_id"] for row in judged})
    checks = measure(judged, chosen, least, empty)
    write_json(snakemake.output.measures, {"dataset": key_of(snakemake.wildcards.dataset), "checks": checks})
    write_jsonl(snakemake.output.judged, judged)
