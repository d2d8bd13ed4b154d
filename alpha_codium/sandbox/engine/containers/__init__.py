"""What all container backends are made of."""
