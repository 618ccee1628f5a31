"""Votes and means that weigh, for laws of fixed size and of class counts."""
