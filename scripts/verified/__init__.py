"""VERIFIED: fine-grained annotation of video moments and the retrieval benchmark built from it."""

import sys

__version__ = "1.0.0"

from verified.runtime.project import EXTENSIONS

sys.path += [str(folder) for folder in EXTENSIONS if str(folder) not in sys.path]
