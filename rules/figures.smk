def shown_annotations(wildcards):
    """The annotations of the test split, which the figures draw their examples from."""
    split = settings.datasets[wildcards.dataset].spans.test_split
    return f"results/{wildcards.dataset}/annotations/fig/{split}.jsonl"


rule draw_examples:
    """Generated examples: keyframes, the coarse caption, the best and the worst candidate (Figures 1 to 4)."""
    input:
        annotations=shown_annotations,
        scores=expand("results/{{dataset}}/evaluator/scores/{shard}.jsonl", shard=SHARDS),
        keyframes=expand("results/{{dataset}}/keyframes/{shard}.tar", shard=SHARDS),
    output:
        svg="results/figures/{dataset}/examples.svg",
        png="results/figures/{dataset}/examples.png",
    log:
        "logs/{dataset}/draw_examples.log",
    benchmark:
        "logs/{dataset}/draw_examples.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        seed=settings.seed,
        code=code_digest("figures", "common"),
    script:
        "../scripts/draw_examples.py"
