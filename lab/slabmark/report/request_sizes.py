"""Histograms of the lengths of the runs of a decomposition, as `slabmark-decomp info` counts them."""

from matplotlib import rc_context

from slabmark.report.drawing import DOT, QUIET, STYLE, Drawing, new_figure


def draw(maps, title, name):
    """Runs by length for each map, as `slabmark-decomp info` counts them."""
    with rc_context(STYLE):
        figure = new_figure(max(3.4, min(10.6, 3.4 * len(maps))), 2.3)
        for axes, entry in zip(figure.subplots(1, len(maps), squeeze=False)[0], maps):
            draw_on(axes, entry, f"{entry['map']}: {' x '.join(map(str, entry['dims']))}")
    return Drawing(name, f"{title}: how many contiguous runs of which length each map has, over all ranks.", figure)


def draw_on(axes, entry, title):
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
