"""Whole groups kept together."""
