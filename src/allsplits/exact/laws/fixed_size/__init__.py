"""Training sets of fixed size, and independent draws."""
