"""Draws with replacement."""
