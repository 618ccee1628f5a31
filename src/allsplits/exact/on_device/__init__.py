"""Votes of any number of classes where the neighbour lists are: on the device."""
