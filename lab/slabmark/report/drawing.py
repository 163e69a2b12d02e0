"""What all figures share: colours, style, and a figure that becomes SVG inside a page, or PNG. No display is needed."""

import dataclasses
import html
import io
import re

from matplotlib import rc_context
from matplotlib.figure import Figure

INK, QUIET, GRID, LIMIT, PAPER = "#1b2733", "#64717f", "#dde3ea", "#c2410c", "#ffffff"
DOT, INTERVAL = "#2f6fb0", "#12395f"
# By phase: colour and hatch. The colours differ in lightness as well as in hue, for the colour-blind; the hatches, for grey
# print. Light where little is expected, strong where data moves.
PHASE_STYLES = {
    "create": ("#c9d1d9", ""),
    "open": ("#c9d1d9", ""),
    "define": ("#cc79a7", "\\\\\\"),
    "prepare": ("#f0c04a", "..."),
    "post": ("#0b4f8a", ""),
    "flush": ("#56b4e9", "///"),
    "sync": ("#009e73", "xxx"),
    "close": ("#5d6975", "---"),
    "overhead": (PAPER, ""),
}
UNKNOWN_PHASE = ("#8f6b00", "+++")  # of a newer program
LINES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#5d6975", "#8f6b00"]

STYLE = {
    "font.size": 9,
    "font.family": "sans-serif",
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name may hold dollar signs
    "axes.edgecolor": QUIET,
    "text.color": INK,
    "axes.labelcolor": QUIET,
    "xtick.color": QUIET,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
}


@dataclasses.dataclass
class Drawing:
    """A figure with what it shows in words, for those who cannot see it."""

    name: str
    caption: str
    figure: Figure

    def svg(self):
        # Names inside an SVG must differ from those of the page's other ones.
        with rc_context({"svg.hashsalt": self.name}):
            text = self._saved("svg", transparent=True, metadata={"Date": None, "Creator": None}).decode()
        text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
        return text.replace("<svg ", f'<svg role="img" aria-label="{html.escape(self.caption)}" ', 1)

    def data(self, suffix):
        """Bytes of a file of that name: .svg or .png."""
        if suffix == ".svg":
            return self.svg().encode("utf-8", "backslashreplace")
        return self._saved("png", dpi=160, metadata={"Software": "slabmark"})

    def _saved(self, format, **more):
        buffer = io.BytesIO()
        with rc_context(STYLE):
            self.figure.savefig(buffer, format=format, **more)
        return buffer.getvalue()


def new_figure(width, height):
    return Figure(figsize=(width, height), layout="constrained")
