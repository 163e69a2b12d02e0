"""The figures of a report: every trial, phases and imbalance of a workload, its scaling, and requests of decompositions."""

import itertools
import textwrap

from matplotlib import rc_context
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from slabmark import units
from slabmark.report import drawing
from slabmark.report.drawing import DOT, INK, INTERVAL, LIMIT, PAPER, PHASE_STYLES, QUIET

MOST_ROWS = 24  # more cells than this do not fit on a page; the fastest are drawn and the page says so
DOTS = {"linestyle": "", "marker": "o", "markersize": 3.2, "markeredgewidth": 0}


def _wrapped(label):
    """In lines that leave room for the figure. The tables have those whole that do not fit into two."""
    lines = textwrap.wrap(label, 40)
    return "\n".join(lines if len(lines) <= 2 else [lines[0], "… " + lines[-1]])


def _seconds_axis(axes, values):
    """Logarithmic where linear would press the fast ones together."""
    low, high = min(values), max(values)
    if high / low > 12:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 100 else (1.0, 3.0)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.seconds(float(f"{value:.3g}"))))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlim(low * 0.8, high * 1.25)
    else:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.seconds(value) if value > 0 else "0"))
        axes.set_xlim(0, high * 1.06)


def rates(load, name):
    """Every trial, the interval, phases and imbalance, one row a cell."""
    cells = load.cells[:MOST_ROWS]
    rows = cells + load.bounds[:4]
    labels = [_wrapped(cell.label) for cell in rows]
    row_height = 0.36 if any("\n" in label for label in labels) else 0.27
    draw = [_draw_trials, _draw_phases] + [_draw_imbalance] * any(cell.ranks > 1 for cell in cells)
    limits = {cell.bound for cell in cells if cell.bound}
    limit = limits.pop()[1] if len(limits) == 1 else None  # where each has its own, the table shows the shares
    with rc_context(drawing.STYLE):
        figure = drawing.new_figure(10.6, 1.15 + row_height * len(rows))
        columns = figure.subplots(1, len(draw), sharey=True, width_ratios=[5, 3.4, 1.8][: len(draw)])
        for axes, draw_on in zip(columns, draw):
            draw_on(axes, rows, limit)
            axes.spines["left"].set_visible(False)
            axes.tick_params(axis="y", length=0, labelleft=axes is columns[0])
        columns[0].set_ylim(len(rows) - 0.4, -0.6)
        columns[0].set_yticks(range(len(rows)), labels)
        for text, cell in zip(columns[0].get_yticklabels(), rows):
            text.set_color(QUIET if cell.is_bound else INK)
    caption = (
        f"{load.title}. Left: seconds from open to close; each dot is a trial, the bar the interval of the median, the tick the "
        f"median{'; the dashed line is the limit' if limit is not None else ''}. Middle: where the time goes, as shares of the phases' medians. "
        + ("Right: slowest rank / mean of the ranks, a dot a trial; 1 is perfect." if len(draw) > 2 else "")
    )
    return drawing.Drawing(name, caption, figure)


# A page may have thousands of marks: they are drawn a kind at a time, which is several times faster than one by one.
def _draw_trials(axes, rows, limit):
    for bound, colour, tick in ((False, DOT, INTERVAL), (True, QUIET, INK)):
        chosen = [(place, cell) for place, cell in enumerate(rows) if cell.is_bound == bound]
        places, summaries = [place for place, _ in chosen], [cell.summary for _, cell in chosen]
        ends = ([s.low for s in summaries], [s.high for s in summaries])
        axes.hlines(places, *ends, color=colour, alpha=0.25, linewidth=9, zorder=2)
        seconds = [s for _, cell in chosen for s in cell.seconds]
        heights = [height for place, cell in chosen for height in _heights(place, cell)]
        axes.plot(seconds, heights, color=colour, alpha=0.75, zorder=3, **DOTS)
        _ticks(axes, [s.median for s in summaries], places, 0.34, color=tick, linewidth=1.8, zorder=4)
    values = [s for cell in rows for s in cell.seconds]
    if limit is not None:
        axes.axvline(limit, color=LIMIT, linestyle=(0, (4, 3)), linewidth=1)
        values.append(limit)
    _seconds_axis(axes, [value for value in values if value > 0] or [1e-9])
    axes.grid(axis="x")
    axes.set_title("seconds, open to close (every trial)")


def _ticks(axes, values, places, half, **style):
    axes.vlines(values, [place - half for place in places], [place + half for place in places], **style)


def _heights(place, cell):
    """Spread over the row in the order in which they were measured, so that a drift shows."""
    count = len(cell.seconds)
    return [place + (0.24 * (2 * i / (count - 1) - 1) if count > 1 else 0) for i in range(count)]


def _draw_phases(axes, rows, limit):
    boxes = {}  # corners by phase
    for place, cell in enumerate(rows):
        parts = cell.phases | ({"overhead": overhead} if (overhead := cell.median("overhead")) > 0 else {})
        ends = list(itertools.accumulate(parts.values(), initial=0.0))
        low, high = place - 0.31, place + 0.31
        for phase, (left, right) in zip(parts, itertools.pairwise(end / (ends[-1] or 1.0) for end in ends)):
            if right - left > 0.0005:
                boxes.setdefault(phase, []).append([(left, low), (right, low), (right, high), (left, high)])
    order = [phase for phase in PHASE_STYLES if phase in boxes] + [phase for phase in boxes if phase not in PHASE_STYLES]
    patches = []
    for phase in order:
        colour, hatch = PHASE_STYLES.get(phase, drawing.UNKNOWN_PHASE)
        style = {"facecolor": colour, "hatch": hatch, "edgecolor": QUIET if colour == PAPER else PAPER, "linewidth": 0.4}
        axes.add_collection(PolyCollection(boxes[phase], **style), autolim=False)
        patches.append(Patch(**style))
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75], ["0 %", "25 %", "50 %", "75 %"])
    axes.set_title("phases")
    # Outside: the layout makes room for it below the labels of the axes, however many rows there are.
    axes.figure.legend(patches, order, loc="outside lower right", ncols=len(order), columnspacing=1.2)


def _draw_imbalance(axes, rows, limit):
    values = [(trial.imbalance, place) for place, cell in enumerate(rows) for trial in cell.trials]
    most = max(imbalance for imbalance, _ in values)
    axes.plot(*zip(*values), color=DOT, alpha=0.5, **DOTS)
    _ticks(axes, [cell.median("imbalance") for cell in rows], range(len(rows)), 0.3, color=INTERVAL, linewidth=1.6)
    axes.axvline(1, color=QUIET, linewidth=0.8)
    axes.set_xlim(0.97 * min(1.0, most), 1 + 1.12 * (most - 1) if most > 1.1 else 1.2)
    axes.grid(axis="x")
    axes.set_title("imbalance")


def scaling(load, name):
    """Rate over the number of ranks, a line for each way; None with fewer than two numbers of ranks."""
    lines = {}
    for cell in sorted(load.all_cells, key=lambda cell: cell.ranks):
        label = ", ".join(part for part in cell.label.split(", ") if not part.endswith(("ranks", "rank")))
        if cell.rate:
            lines.setdefault((cell.is_bound, label), []).append(cell)
    lines = {key: cells for key, cells in lines.items() if cells[0].ranks < cells[-1].ranks}
    if not lines:
        return None
    fastest = sorted(lines, key=lambda key: (key[0], -max(cell.rate[0] for cell in lines[key])))
    shown = [key for key in fastest if not key[0]][: len(drawing.LINES)] + [key for key in fastest if key[0]][:2]
    with rc_context(drawing.STYLE):
        figure = drawing.new_figure(8.4, 3.6)
        axes = figure.subplots()
        for place, (is_bound, label) in enumerate(shown):
            cells = lines[is_bound, label]
            middle, low, high = ([cell.rate[i] / 2**20 for cell in cells] for i in range(3))
            errors = [[abs(value - m) for value, m in zip(end, middle)] for end in (low, high)]
            style = {"color": LIMIT, "linestyle": ["--", ":"][place % 2]} if is_bound else {"color": drawing.LINES[place]}
            style |= {"marker": "o", "markersize": 4, "linewidth": 1.5, "elinewidth": 1}
            axes.errorbar([cell.ranks for cell in cells], middle, yerr=errors, label=label, **style)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        counts = sorted({cell.ranks for key in shown for cell in lines[key]})
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("ranks")
        axes.set_title("rate over ranks, MiB/s")
        axes.grid()
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    caption = f"{load.title}: open-to-close rate over the number of ranks, with the interval of its median. Dashed: the limit."
    return drawing.Drawing(name, caption, figure)


def request_sizes(maps, title, name):
    """Runs by length for each map, as `slabmark decomp info` counts them."""
    with rc_context(drawing.STYLE):
        figure = drawing.new_figure(max(3.4, min(10.6, 3.4 * len(maps))), 2.3)
        for axes, entry in zip(figure.subplots(1, len(maps), squeeze=False)[0], maps):
            draw_request_sizes(axes, entry, f"{entry['map']}: {' x '.join(map(str, entry['dims']))}")
    return drawing.Drawing(name, f"{title}: how many contiguous runs of which length each map has, over all ranks.", figure)


def draw_request_sizes(axes, entry, title):
    histogram = entry["run_length_histogram"]
    labels = [str(b["from"]) if b["from"] == b["to"] else f"{b['from']}-{b['to']}" for b in histogram]
    bars = axes.bar(range(len(histogram)), [b["runs"] for b in histogram], color=DOT, width=0.8)
    axes.bar_label(bars, [_short(b["runs"]) for b in histogram], fontsize=7.5, color=QUIET, padding=1)
    slant = {"rotation": 35, "ha": "right"} if len(labels) > 4 else {"rotation": 0, "ha": "center"}
    axes.set_xticks(range(len(labels)), labels, fontsize=8, rotation_mode="anchor", **slant)
    axes.set_xlim(-0.6, max(len(labels), 4) - 0.4)  # a single bar would fill the width
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_title(title)
    axes.set_xlabel("elements a run")


def _short(count):
    digits = f"{count / 10**6:.3g}M" if count >= 10**6 else f"{count / 1000:.3g}k" if count >= 10**4 else count
    return str(digits)
