"""Keyframes of moments (section 3.1): adaptive content segmentation, the middle frame of each segment."""
