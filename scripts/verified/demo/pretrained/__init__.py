"""Pre-trained weights that replace ResNet-152's and UMT's on the demo, and how they are made."""
