"""VERIFIED: fine-grained annotation of video moments and the retrieval benchmark built from it."""

__version__ = "1.0.0"
