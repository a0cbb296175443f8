"""Pre-trained weights that stand in for ResNet-152's and UMT's on the demo, and how they are made."""
