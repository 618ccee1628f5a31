"""What each sample does as a neighbour: rows with a candidate in training, and with it out."""
