"""The same search on many machines."""
