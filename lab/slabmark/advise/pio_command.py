"""`slabmark advise --pio MAP`: the settings of SCORPIO's and PIO's rearrangers side by side, from the map alone."""

import pathlib

import numpy
from rich import box
from rich.table import Table
from rich.text import Text

from slabmark import decomposition, files, units
from slabmark.advise import pio
from slabmark.commands.advise import SIZES
from slabmark.errors import InputError, printable

AGGREGATORS_OF_A_NODE = 4  # of the drop-in, at most
STRIPE = 1 << 20  # bytes: what Lustre gives a file that nothing was said about


def main(arguments, console):
    source = pathlib.Path(arguments.pattern)
    files.open_regular(source).close()
    described, numbers = decomposition.chosen_maps(source, arguments.map_index)
    maps = [_read(source, number, described[number - 1]) for number in numbers]
    if arguments.root >= (fewest := min(made.ranks for made in maps)):
        raise InputError(f"'--root {arguments.root}' is no rank of the map, which has {fewest}, counted from 0.")
    size, largest = SIZES[arguments.type], max(maps, key=lambda made: made.elements)
    nodes = -(-largest.ranks // (arguments.ranks_per_node or largest.ranks))
    for made in maps:
        rows = outcomes(made, _tasks(arguments, made, nodes), arguments.root, size)
        show(made, rows, nodes, size, arguments.variables, console)
        if made is largest:
            chosen = recommended(rows, size, arguments.variables, nodes if arguments.ranks_per_node else None)
    console.say("\n" + advice(chosen, largest, len(maps) > 1, size, arguments.variables, bool(arguments.ranks_per_node)))
    return 0


def _read(source, number, entry):
    if shared := entry["first_owned_by_several"]:
        first, second = shared["ranks"]
        raise InputError(
            f"SCORPIO cannot write map {printable(entry['map'])} of '{source}': {entry['owned_by_several']} of its "
            f"{entry['elements']} elements are owned by more than one rank. The first is element {shared['element']} (counted "
            f"from 0), of rank {first} and rank {second}. Make the map again."
        )

    def use(text):
        rows = list(decomposition.rows_of(text))
        owner = numpy.repeat(numpy.arange(len(rows)), [len(row) for row in rows])
        return pio.Map(entry["map"], tuple(entry["dims"]), len(rows), numpy.concatenate(rows), owner)

    return decomposition.with_text(source, number, entry, use, "looked at", "this")


def _tasks(arguments, made, nodes):
    if arguments.io_tasks:
        if (most := max(arguments.io_tasks)) > made.ranks:
            raise InputError(f"'--io-tasks {most}' asks for more I/O tasks than the map has ranks ({made.ranks}).")
        return sorted(set(arguments.io_tasks))
    powers = [1 << power for power in range(made.ranks.bit_length())]
    return sorted({*powers, made.ranks, *([nodes] if arguments.ranks_per_node else [])})


def outcomes(made, tasks, root, size):
    """Of all rearrangers and numbers of I/O tasks; a text where one cannot be: [(name, tasks, Outcome or text)]."""
    found = []
    for count in tasks:
        for name, compute in pio.COMPUTED.items():
            why = pio.possible(name, made, count)
            found.append((name, count, why or compute(made, pio.placement(count, made.ranks, root), size)))
    return found


def recommended(rows, size, variables, tasks=None):
    """Of those that have the fewest idle tasks: as many I/O tasks as there are nodes, or else the most that write a stripe at
    a time each; then the fewest calls, the fewest messages to a task, the fewest bytes that move."""
    there = [outcome for _, _, outcome in rows if not isinstance(outcome, str)]
    busy = lambda one: one.placement.tasks - one.idle
    working = [one for one in there if not one.idle] or there
    if tasks is not None and any(one.placement.tasks == tasks for one in working):
        working = [one for one in working if one.placement.tasks == tasks]
    else:
        large = [one for one in working if int(one.length.sum()) * size * variables >= STRIPE * busy(one)]
        most = max((one.placement.tasks for one in large), default=min(one.placement.tasks for one in working))
        working = [one for one in working if one.placement.tasks == most]
    return min(working, key=lambda one: (one.calls, int(one.received.max()), one.moved, pio.REARRANGERS[one.rearranger]))


def show(made, rows, nodes, size, variables, console):
    unowned = made.elements - len(made.offsets)
    console.say(
        f"{printable(made.name)}: {' x '.join(map(str, made.dims))}, {units.counted(made.ranks, 'rank')}, "
        f"{units.size(made.elements * size)} a variable" + (f", {unowned} elements that nobody owns" if unowned else "")
    )
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("way", no_wrap=True)
    for name in ("I/O tasks", "stride", "idle", "messages", "most to one", "moved", "calls a write", "buffer", "indices"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, count, outcome in rows:
        if isinstance(outcome, str):
            table.add_row(name.upper(), str(count), Text(f"not possible: {outcome}"))
            continue
        place = outcome.placement
        row = (place.tasks, place.stride, outcome.idle, outcome.messages, int(outcome.received.max()))
        sizes = (outcome.moved * size * variables, outcome.buffer(size, variables), outcome.index)
        table.add_row(
            name.upper(),
            *map(str, row),
            units.size(sizes[0]),
            str(outcome.calls * variables),
            units.size(sizes[1]),
            units.size(sizes[2]),
        )
    count = max(1, min(nodes * AGGREGATORS_OF_A_NODE, made.ranks))
    ours = pio.drop_in(made, nodes, count, size, variables)
    cells = (ours.aggregators, max(1, made.ranks // count), 0, ours.messages, ours.received)
    table.add_row("drop-in", *map(str, cells), units.size(ours.moved * size), str(ours.writes), units.size(ours.memory), "-")
    console.print(table)


def advice(chosen, made, several, size, variables, per_node):
    place = chosen.placement
    pairs = {
        "PIO_REARRANGER": pio.REARRANGERS[chosen.rearranger],
        "PIO_NUMTASKS": place.tasks,
        "PIO_STRIDE": place.stride,
        "PIO_ROOT": place.root,
    }
    each = int(chosen.length.max()) * size * variables
    why = "one per node" if per_node else f"the most that write {units.size(STRIPE)} at a time each, or the fewest that there are"
    lines = [
        f"Recommended{f' (by {printable(made.name)}, the largest map)' if several else ''}: {chosen.rearranger.upper()} with "
        f"{units.counted(place.tasks, 'I/O task')} ({why}): "
        f"{units.counted(chosen.calls * variables, 'call')} a write, {chosen.messages} messages, at most "
        f"{int(chosen.received.max())} to one task, which holds {units.size(each)}.",
        "",
        "With CIME, in the folder of the case:",
        "  ./xmlchange " + ",".join(f"{name}={value}" for name, value in pairs.items()),
        "As namelist, in the component's modelio.nml:",
        "  &pio_inparm",
        f"    pio_rearranger = {pairs['PIO_REARRANGER']}",
        f"    pio_numiotasks = {place.tasks}",
        f"    pio_stride = {place.stride}",
        f"    pio_root = {place.root}",
        "  /",
        "",
        "The drop-in (docs/reference/pnetcdf-drop-in.md) takes the place of PnetCDF beneath any of them; its writes are windows of all variables "
        "together. Measure what storage does with these by 'slabmark advise MAP --launch ...'.",
    ]
    return "\n".join(lines)
