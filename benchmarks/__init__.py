"""Time and memory side by side with peers, as ratios of one run: ``python -m benchmarks``."""
