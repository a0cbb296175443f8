"""Whether a process may use the matrix tiles that this machine's processor advertises (AMX), and what oneDNN is told.

Some virtual machines show AMX and forbid it. There oneDNN's bfloat16 products on the CPU end in an illegal instruction,
or in "could not create a primitive", after which float32 fails as well in that process. Nothing that asks the processor
alone tells: the tiles are tried, in a child that may die.
"""

import ctypes
import functools
import mmap
import os
import platform
import subprocess
import sys

LIMIT = "AVX512_CORE_BF16"
"""The instruction set below AMX; it has bfloat16 too."""

VARIABLES = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
"""What oneDNN reads when it first computes: its name of today, and an older one that it still knows."""

CPUID = bytes.fromhex("53 b807000000 31c9 0fa2 89d0 5b c3")
"""push rbx; mov eax, 7; xor ecx, ecx; cpuid; mov eax, edx; pop rbx; ret"""

AMX_BITS = 1 << 22 | 1 << 24
"""amx-bf16 and amx-tile in EDX of CPUID leaf 7 (Intel's manual, volume 2A)."""

TILES = bytes.fromhex("c4e2784907 c4e27b49c0 c4e27b49c8 c4e27b49d0 c4e26a5cc1 c4e27849c0 c3")
"""ldtilecfg [rdi]; tilezero tmm0, tmm1, tmm2; tdpbf16ps tmm0, tmm1, tmm2; tilerelease; ret"""

TRIAL = """
import ctypes, mmap, sys
refused = ctypes.CDLL(None).syscall(158, 0x1023, 18)  # arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex(sys.argv[1]))
shape = bytearray(64)
shape[0] = 1  # palette
for tile in range(3):
    shape[16 + 2 * tile], shape[48 + tile] = 64, 16  # bytes a row, rows
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
ctypes.CFUNCTYPE(None, ctypes.c_char_p)(address)(bytes(shape))
sys.exit(1 if refused else 0)
"""


def limit_onednn() -> None:
    """Keep oneDNN in this process and its children below AMX where AMX is forbidden; what the user has set stands.

    To be called before the first computation, for oneDNN reads its variable then.
    """
    if not instruction_limit() and has_amx() and not allows_tiles():
        os.environ[VARIABLES[0]] = LIMIT


def instruction_limit() -> str | None:
    """The instruction set that oneDNN is held to by the environment, if any."""
    return next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None)


@functools.cache
def has_amx() -> bool:
    """Whether the processor shows AMX, by CPUID. Where that cannot be asked because code may not be run: yes."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return False
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:  # memory that is written and run is forbidden here
        return True
    page.write(CPUID)
    features = ctypes.CFUNCTYPE(ctypes.c_uint32)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    return features & AMX_BITS != 0


@functools.cache
def allows_tiles(code: bytes = TILES) -> bool:
    """Whether a child process may ask the kernel for tiles and then multiply with them, by the machine code `code`."""
    trial = subprocess.run([sys.executable, "-ISc", TRIAL, code.hex()], stdin=subprocess.DEVNULL, capture_output=True)
    return trial.returncode == 0


def description() -> str:
    """One line for people: what this machine does with AMX and what oneDNN may use."""
    if not has_amx():
        return "the processor has no AMX"
    if allows_tiles():
        return "AMX may be used" + (f", oneDNN is held to {instruction_limit()}" if instruction_limit() else "")
    return f"the processor shows AMX and may not use it; oneDNN is held to {instruction_limit() or LIMIT}"
