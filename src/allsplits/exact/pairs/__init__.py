"""Two samples at once: how much the score of one run differs from the average over all."""
