"""The sentences that a reader sees first: what was measured, what is fastest, by how much, how sure that is, and what to do."""

from slabmark import statistics, units
from slabmark.statistics import FEWEST_FOR_INTERVAL


def rivals(load):
    """Cells that are indistinguishable from the one with the shortest median."""
    return [cell for cell in load.cells[1:] if cell.summary.low <= load.cells[0].summary.high]


def is_clear(load):
    """Whether one of several cells is the fastest."""
    return len(load.cells) > 1 and not load.cells[0].summary.is_range and not rivals(load)


def gain(load):
    return load.cells[-1].summary.median / load.cells[0].summary.median


def answer(load):
    """One sentence about a workload. 'Fastest' alone only where the intervals say so."""
    if not load.cells:
        return "Nothing was measured here."
    best = load.cells[0]
    words = f"{best.label} at {units.rate(best.rate[0] if best.rate else None)}"
    if best.share is not None:
        words += f", {units.percent(best.share)} of the limit"
    if len(load.cells) == 1:
        return words
    if best.summary.is_range:
        lead = "Fastest by median, but there are too few trials to be sure"
    elif others := rivals(load):
        lead = f"Fastest by median, but indistinguishable from {units.counted(len(others), 'other')} (intervals overlap)"
    else:
        lead = "Fastest"
    return f"{lead}: {words}; {units.three_digits(gain(load))} times as fast as the slowest, {load.cells[-1].label}."


def headline(loads):
    """Whether it matters what is chosen, and where most; None where nothing is compared."""
    compared = [load for load in loads if len(load.cells) > 1]
    clear = [load for load in compared if is_clear(load)]
    if not compared:
        return None
    words = f"One method is clearly fastest in {len(clear)} of {units.counted(len(compared), 'workload')} with several methods"
    if not clear:
        return f"{words}."
    most = max(clear, key=gain)
    return (
        f"{words}. The largest gain is in {_in_a_sentence(most.title)}, where {most.cells[0].label} is "
        f"{units.three_digits(gain(most))} times as fast as {most.cells[-1].label}."
    )


def rows(loads, found):
    """[(question, answer)] about the workload in which the choice matters most. `found`: the findings of the page."""
    measured = [load for load in loads if load.cells]
    if not measured:
        return [("Measured", "Nothing: no record holds a trial.")]
    load = max(measured, key=lambda load: (is_clear(load), len(load.cells) > 1, gain(load)))
    best = load.cells[0]
    told = [
        ("Measured", _measured(load, len(measured))),
        ("Fastest", answer(load).partition("; ")[0].removeprefix("Fastest: ").rstrip(".") + "."),
    ]
    if len(load.cells) > 1:
        told.append(("By how much", _distance(load)))
    told += [("How sure", f"{_certainty(load)} {_verification(best)}"), ("What to do", _advice(load, found))]
    return told


def _in_a_sentence(title):
    return title[0].lower() + title[1:]


def _measured(load, workloads):
    first = load.cells[0].first
    title = load.title
    if workloads > 1:
        title = f"The largest difference among {workloads} workloads: {_in_a_sentence(title)}"
    ranks = " or ".join(map(str, sorted({cell.ranks for cell in load.cells})))
    trials = sorted({cell.summary.trials for cell in load.cells})
    return (
        f"{title}, {units.size(load.cells[0].bytes)} per trial, by {ranks} {'rank' if ranks == '1' else 'ranks'}, "
        f"{'with' if first.sync else 'without'} fsync{f', {first.cache} cache' * bool(first.cache)}; "
        f"{units.counted(len(load.cells), 'cell')}, {' to '.join(map(str, trials[:1] + trials[1:][-1:]))} "
        f"{'trial' if trials == [1] else 'trials'} each."
    )


def _distance(load):
    best, second, slowest = load.cells[0], load.cells[1], load.cells[-1]
    found = statistics.ratio(best.seconds, second.seconds)
    interval = f" [{units.three_digits(found.low)}, {units.three_digits(found.high)}]" if found.low is not None else ""
    ratio = f"{units.three_digits(found.median)}{interval}"
    words = f"{ratio} times as fast as the next, {second.label}" if is_clear(load) else f"Too little to tell: {ratio} times the next, {second.label}"
    if slowest is not second:
        words += f"; {units.three_digits(gain(load))} times as fast as the slowest, {slowest.label}"
    return f"{words}."


def _certainty(load):
    if load.cells[0].summary.is_range:
        return f"Not sure: fewer than {FEWEST_FOR_INTERVAL} trials have no 95 % interval."
    if len(load.cells) == 1:
        return "The 95 % interval stands in the table below; nothing was measured beside it."
    if rivals(load):
        return "Not sure which of these is fastest: their 95 % intervals overlap."
    return "Sure of the order: the 95 % intervals of the fastest and the others do not overlap."


def _verification(cell):
    return {
        "yes": "Every element was read back and found right.",
        "no": "The data read back are wrong.",
    }.get(cell.verified, "The contents were not verified.")


def _advice(load, found):
    best = load.cells[0]
    more = f" Then see 'Worth a look' ({units.counted(len(found), 'finding')})." if found else ""
    if any(cell.verified == "no" for cell in load.cells):
        return "Find out why data are wrong before you use any of these numbers: see 'Worth a look'."
    if len(load.cells) == 1:
        return f"Measure other methods beside it, or let 'slabmark advise' find them.{more}"
    if best.summary.is_range:
        return f"Measure at least {FEWEST_FOR_INTERVAL} trials of each before you choose.{more}"
    if others := rivals(load):
        number = "either" if len(others) == 1 else f"any of the {len(others) + 1} fastest"
        return f"Choose {number}; more trials may tell them apart.{more}"
    return f"Use {best.label}.{more}"
