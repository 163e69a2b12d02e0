"""The lab of Slabmark: sweeps, reports, comparison and advice. It reads records and measures nothing itself."""

__version__ = "1.0.0"
