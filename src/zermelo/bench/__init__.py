"""Benchmarks: ours beside the peers that are installed, in one run on one core."""
