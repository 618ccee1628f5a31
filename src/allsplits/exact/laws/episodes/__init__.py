"""Few-shot episodes."""
