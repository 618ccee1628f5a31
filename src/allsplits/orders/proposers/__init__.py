"""Fast searches that name the nearest and may err within a bound: one per file."""
