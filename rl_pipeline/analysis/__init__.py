"""Frames of one experiment to results: numbers with their uncertainty, and what they mean. Pure functions."""
