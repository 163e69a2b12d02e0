"""Acceptance of a file system: a fixed suite, rules that a result must meet, targets, and a report to hand in."""
