"""Write all candidates, the counts and the dataset card (see rules/annotations.smk)."""

from verified.runtime.job import job

with job(snakemake):
    from collections import Counter

    from verified.annotations.export import count, origins, write_candidates, write_card
    from verified.annotations.selection import read_candidates
    from verified.captions.counts import add_served
    from verified.io.jsonl import iterate_jsonl, read_json, read_jsonl, write_json

    moments = read_jsonl(snakemake.input.moments)
    groups = read_candidates(
        moments, snakemake.input.scores, snakemake.params.choose_by, snakemake.params.seed, snakemake.input.agreement
    )
    selections = [read_json(path) for path in snakemake.input.selections]
    left_out = {int(moment): reason for selection in selections for moment, reason in selection["left_out"].items()}
    types = {row["desc_id"]: row["fig_desc_type"] for path in snakemake.input.fig for row in iterate_jsonl(path)}
    counts = count(moments, groups, snakemake.params.splits, types, left_out)
    counts["added"] = len(types.keys() - groups.keys())
    counts["selection"] = dict(sum((Counter(selection["counts"]) for selection in selections), Counter()))
    statics = (row for path in snakemake.input.statics for row in iterate_jsonl(path))
    dynamics = (row for path in snakemake.input.dynamics for row in iterate_jsonl(path))
    origin = origins(statics, dynamics, snakemake.params.generation)
    facts = {name: snakemake.params.about[name] for name in ("chosen_by", "warning")}
    write_candidates(snakemake.output.candidates, moments, groups, origin, facts)
    write_json(snakemake.output.counts, counts | {name: value for name, value in facts.items() if value})
    files = [*snakemake.input.fig, *snakemake.input.lowest, snakemake.output.candidates]
    about = add_served(snakemake.params.about, read_json(snakemake.input.outcomes))
    write_card(snakemake.output.card, about, counts, files)
