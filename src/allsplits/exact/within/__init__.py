"""Votes of everybody within a radius: how many vote is random, and there may be nobody."""
