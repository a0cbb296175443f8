"""VERIFIED: fine-grained annotation of video moments and the retrieval benchmark built from it."""

__version__ = "0.1.0"
