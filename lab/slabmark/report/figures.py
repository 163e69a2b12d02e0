"""The figures of a report: every trial, phases and imbalance of a workload, and its scaling."""

import math
import textwrap

from matplotlib import rc_context
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from slabmark import units
from slabmark.report.drawing import (
    DOT,
    GRID,
    INK,
    INTERVAL,
    LIMIT,
    LINES,
    PAPER,
    PHASE_STYLES,
    QUIET,
    STYLE,
    UNKNOWN_PHASE,
    Drawing,
    new_figure,
)

MOST_ROWS = 24  # more cells than this do not fit on a page; the fastest are drawn and the page says so


def _wrapped(label):
    """In lines that leave room for the figure. The tables have those whole that do not fit into two."""
    lines = textwrap.wrap(label, 40)
    return "\n".join(lines if len(lines) <= 2 else [lines[0], "… " + lines[-1]])


def _rows(axes, labels):
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)


def _seconds_axis(axes, values):
    """Logarithmic where linear would press the fast ones together."""
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.seconds(value) if value > 0 else "0"))
    if max(values) / min(values) > 12:
        axes.set_xscale("log")
        decades = math.log10(max(values) / min(values))
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if decades > 2 else (1.0, 3.0)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.seconds(float(f"{value:.3g}"))))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlim(min(values) * 0.8, max(values) * 1.25)
    else:
        axes.set_xlim(0, max(values) * 1.06)


def rates(load, name):
    """Every trial, the interval, phases and imbalance, one row a cell."""
    cells = load.cells[:MOST_ROWS]
    rows = cells + load.bounds[:4]
    labels = [_wrapped(cell.label) for cell in rows]
    row_height = 0.36 if any("\n" in label for label in labels) else 0.27
    with rc_context(STYLE):
        figure = new_figure(10.6, 1.15 + row_height * len(rows))
        has_ranks = any(cell.ranks > 1 for cell in cells)
        columns = figure.subplots(
            1, 3 if has_ranks else 2, sharey=True, width_ratios=[5, 3.4, 1.8][: 3 if has_ranks else 2]
        )
        _draw_trials(columns[0], rows, cells)
        _draw_phases(columns[1], rows)
        if has_ranks:
            _draw_imbalance(columns[2], rows)
        _rows(columns[0], labels)
        for axes in columns[1:]:
            axes.spines["left"].set_visible(False)
            axes.tick_params(axis="y", length=0, labelleft=False)
        for place, cell in enumerate(rows):
            if cell.is_bound:
                columns[0].get_yticklabels()[place].set_color(QUIET)
    caption = (
        f"{load.title}. Left: seconds from open to close; each dot is a trial, the bar the interval of the median, the tick the "
        f"median{'; the dashed line is the limit' if _common_limit(cells) is not None else ''}. Middle: where the time goes, as shares of the phases' medians. "
        + ("Right: slowest rank / mean of the ranks, a dot a trial; 1 is perfect." if has_ranks else "")
    )
    return Drawing(name, caption, figure)


# A page may have thousands of marks: they are drawn a kind at a time, which is several times faster than one by one.
def _draw_trials(axes, rows, cells):
    values = [s for cell in rows for s in cell.seconds]
    for bound in (False, True):
        chosen = [(place, cell) for place, cell in enumerate(rows) if cell.is_bound == bound]
        colour = QUIET if bound else DOT
        places, summaries = [place for place, _ in chosen], [cell.summary for _, cell in chosen]
        axes.hlines(
            places,
            [s.low for s in summaries],
            [s.high for s in summaries],
            color=colour,
            alpha=0.25,
            linewidth=9,
            zorder=2,
        )
        axes.plot(
            [s for _, cell in chosen for s in cell.seconds],
            [height for place, cell in chosen for height in _heights(place, cell)],
            "o",
            color=colour,
            markersize=3.2,
            alpha=0.75,
            markeredgewidth=0,
            zorder=3,
        )
        axes.vlines(
            [s.median for s in summaries],
            [p - 0.34 for p in places],
            [p + 0.34 for p in places],
            color=INK if bound else INTERVAL,
            linewidth=1.8,
            zorder=4,
        )
    if (limit := _common_limit(cells)) is not None:
        axes.axvline(limit, color=LIMIT, linestyle=(0, (4, 3)), linewidth=1)
        values.append(limit)
    _seconds_axis(axes, [value for value in values if value > 0] or [1e-9])
    axes.set_title("seconds, open to close (every trial)")


def _common_limit(cells):
    """Seconds of the limit that all cells share; None where each has its own, and the table shows the shares."""
    limits = {cell.bound for cell in cells if cell.bound}
    return limits.pop()[1] if len(limits) == 1 else None


def _heights(place, cell):
    """Spread over the row in the order in which they were measured, so that a drift shows."""
    count = len(cell.seconds)
    return [place + (0.24 * (2 * i / (count - 1) - 1) if count > 1 else 0) for i in range(count)]


def _draw_phases(axes, rows):
    boxes = {}  # corners by phase
    for place, cell in enumerate(rows):
        parts = cell.phases | ({"overhead": cell.overhead} if cell.overhead > 0 else {})
        total = sum(parts.values())
        left = 0.0
        for phase, seconds in parts.items():
            right = left + (seconds / total if total else 0.0)
            if right - left > 0.0005:
                low, high = place - 0.31, place + 0.31
                boxes.setdefault(phase, []).append([(left, low), (right, low), (right, high), (left, high)])
            left = right
    order = [phase for phase in PHASE_STYLES if phase in boxes] + [phase for phase in boxes if phase not in PHASE_STYLES]
    patches = []
    for phase in order:
        colour, hatch = PHASE_STYLES.get(phase, UNKNOWN_PHASE)
        style = {"facecolor": colour, "hatch": hatch, "edgecolor": QUIET if colour == PAPER else PAPER, "linewidth": 0.4}
        axes.add_collection(PolyCollection(boxes[phase], **style), autolim=False)
        patches.append(Patch(**style))
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.0f} %"))
    axes.set_title("phases")
    # Outside: the layout makes room for it below the labels of the axes, however many rows there are.
    axes.figure.legend(
        patches, order, loc="outside lower right", ncols=len(order), frameon=False, fontsize=8, columnspacing=1.2
    )


def _draw_imbalance(axes, rows):
    values = [(trial.imbalance, place) for place, cell in enumerate(rows) for trial in cell.trials]
    most = max(imbalance for imbalance, _ in values)
    axes.plot(*zip(*values), "o", color=DOT, markersize=3.2, alpha=0.5, markeredgewidth=0)
    places = range(len(rows))
    axes.vlines(
        [cell.imbalance for cell in rows],
        [p - 0.3 for p in places],
        [p + 0.3 for p in places],
        color=INTERVAL,
        linewidth=1.6,
    )
    axes.axvline(1, color=QUIET, linewidth=0.8)
    axes.set_xlim(0.97 * min(1.0, most), 1 + 1.12 * (most - 1) if most > 1.1 else 1.2)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title("imbalance")


def scaling(load, name):
    """Rate over the number of ranks, a line for each way; None with fewer than two numbers of ranks."""
    lines = {}
    for cell in load.all_cells:
        label = ", ".join(part for part in cell.label.split(", ") if not part.endswith(("ranks", "rank")))
        if cell.rate:
            lines.setdefault((cell.is_bound, label), []).append(cell)
    lines = {
        key: sorted(cells, key=lambda cell: cell.ranks)
        for key, cells in lines.items()
        if len({cell.ranks for cell in cells}) > 1
    }
    if not lines:
        return None
    fastest = sorted(lines, key=lambda key: (key[0], -max(cell.rate[0] for cell in lines[key])))
    shown = [key for key in fastest if not key[0]][: len(LINES)] + [key for key in fastest if key[0]][:2]
    with rc_context(STYLE):
        figure = new_figure(8.4, 3.6)
        axes = figure.subplots()
        for place, key in enumerate(shown):
            cells = lines[key]
            ranks = [cell.ranks for cell in cells]
            middle = [cell.rate[0] / 2**20 for cell in cells]
            low, high = ([abs(cell.rate[i] - cell.rate[0]) / 2**20 for cell in cells] for i in (1, 2))
            style = {"color": LIMIT, "linestyle": ["--", ":"][place % 2]} if key[0] else {"color": LINES[place]}
            axes.errorbar(
                ranks,
                middle,
                yerr=[low, high],
                marker="o",
                markersize=4,
                linewidth=1.5,
                elinewidth=1,
                label=key[1],
                **style,
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        counts = sorted({cell.ranks for key in shown for cell in lines[key]})
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("ranks")
        axes.set_title("rate over ranks, MiB/s")
        axes.grid(color=GRID, linewidth=0.6)
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return Drawing(
        name,
        f"{load.title}: open-to-close rate over the number of ranks, with the interval of its median. Dashed: the "
        "limit.",
        figure,
    )
