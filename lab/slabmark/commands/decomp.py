"""The command line of `slabmark decomp show`, beside which there are compiled commands of `slabmark decomp`."""

from slabmark.commands import options
from slabmark.commands.parsing import Argument, Command, Group

ABOUT = "Draws a picture of a decomposition: which rank owns what, how many requests each rank has, and how long they are."

SHOW = Command(
    "show",
    "slabmark.decomposition:main",
    "Draw a picture of a decomposition: who owns what",
    ABOUT,
    [
        Argument("map", "MAP", "Decomposition file (PIO text, NetCDF or HDF5)"),
        options.output("the picture, NAME.svg or NAME.png (default: the map's name, .svg)"),
        options.map_index(),
        options.overwrite(),
    ],
)

COMMAND = Group("decomp", "Draw a picture of a decomposition: who owns what", ABOUT, [SHOW], metavar="ACTION")
