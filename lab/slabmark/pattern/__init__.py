"""Writes pattern files from NumPy arrays, without a program, and reads pattern files.

    from slabmark import pattern

    made = pattern.Pattern()
    made.variable("T", pattern.blocks([50, 300, 400], processes=[1, 4, 4], halo=[0, 3, 3]), "float32")
    made.step()
    made.save("run.pattern")

    with pattern.PatternFile("run.pattern") as file:
        for event in file.events(rank=0): ...
"""

from slabmark.pattern.layouts import Layout, Part, blocks, boxes, counts, offsets, owners
from slabmark.pattern.making import Pattern, Variable
from slabmark.pattern.reading import Boxes, Event, PatternFile

__all__ = [
    "Boxes",
    "Event",
    "Layout",
    "Part",
    "Pattern",
    "PatternFile",
    "Variable",
    "blocks",
    "boxes",
    "counts",
    "offsets",
    "owners",
]
