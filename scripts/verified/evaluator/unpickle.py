"""Read a .pth file's tensors, nothing else, in a process of its own: ``python -m verified.evaluator.unpickle IN OUT``.

A pickle can run code when it is read. torch's weights-only reader refuses whatever is not a tensor or plain data; this
process adds a second wall: it hands over a safetensors file and ends.
"""

import sys
from pathlib import Path

REFUSED = 3
WRAPPERS = ("model", "module", "state_dict")


def main(source: str, target: str) -> int:
    """Write the tensors of `source` to `target`; the exit status is 0, or 3 with the reason on standard error."""
    import torch
    from safetensors.torch import save_file

    try:
        content = torch.load(source, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a hostile or broken file provokes is a refusal, never a crash of the caller
        print(" ".join(str(error).split())[:400], file=sys.stderr)
        return REFUSED
    for wrapper in WRAPPERS:
        if isinstance(content, dict) and isinstance(content.get(wrapper), dict):
            content = content[wrapper]
    tensors = {}
    if isinstance(content, dict):
        tensors = {str(name): value for name, value in content.items() if isinstance(value, torch.Tensor)}
    if not tensors:
        print("it holds no named tensors", file=sys.stderr)
        return REFUSED
    save_file({name: tensor.clone().contiguous() for name, tensor in tensors.items()}, Path(target))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
