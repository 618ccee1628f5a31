"""Training sets with a fixed number of every class."""
