"""`verified import-umt`."""

import argparse
from pathlib import Path


def add_parser(subparsers) -> None:
    """Add the subcommand."""
    command = subparsers.add_parser("import-umt", help="convert a UMT ViT-L/16 checkpoint (.pth) to safetensors")
    command.add_argument("file", type=Path, help="the authors' checkpoint, which is read as plain tensors")
    command.add_argument("--out", type=Path, help="default: FILE with the ending .safetensors")
    command.add_argument("--frames", type=int, default=20, help="frames per moment, noted in the header (default: 20)")
    command.set_defaults(run=_import)


def _import(arguments: argparse.Namespace) -> None:
    from verified.evaluator.architecture import architecture
    from verified.evaluator.umt import import_umt
    from verified.runtime.seals import seal_built

    target = arguments.out or arguments.file.with_suffix(".safetensors")
    counts = import_umt(arguments.file, target, architecture("L/16", arguments.frames, 224))
    seal_built(target)
    print(f"{target}: {counts['kept']} tensors kept, {counts['dropped']} of the original not needed")
    print(f"use it with: evaluator.checkpoint: {target}")
