"""Finds a fast way for one pattern on one machine: candidates, halving, confirmation, and what to paste."""
