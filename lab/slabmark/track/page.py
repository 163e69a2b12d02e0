"""The page of a store: a small chart a cell on one axis of days, its changes, and the trials behind each night."""

import base64
import collections
import json
import math

import numpy

from slabmark import compare, units
from slabmark.report import layout
from slabmark.track import history

WIDTH, HEIGHT, EDGE = 1000, 100, 4  # of a chart, in units that the browser stretches
STEPS = 65_535  # seconds are told by 16 bits, on the logarithmic scale from the least to the greatest of the cell
MOST_ANSWERS, MOST_CHANGES = 12, 200


def make(past, current, arguments):
    """The page as text."""
    first = min(one.nights[0].day for one in current if one.nights) if any(one.nights for one in current) else past.newest
    days = first, past.newest
    order = {verdict: number for number, verdict in enumerate(history.ORDER)}
    cards = [_card(number, one, days) for number, one in enumerate(current)]
    by_title = collections.defaultdict(list)
    for card in cards:
        by_title[card["history"].title].append(card)
    for same in by_title.values():
        same.sort(key=lambda card: order[card["history"].verdict])
    changes = [(change, card) for card in cards for change in card["history"].changes]
    changes.sort(key=lambda pair: pair[0].date, reverse=True)
    counts = collections.Counter(one.verdict for one in current)
    notable = [card for card in cards if card["history"].verdict not in (history.UNCHANGED, history.SHORT)]
    notable.sort(key=lambda card: order[card["history"].verdict])
    over = [one for one in past.histories if one not in current]
    return layout.render(
        "track/page.html.j2",
        styles=("track/page.css",),
        title=arguments.title or "Slabmark track",
        script=layout.read("track/page.js"),
        parts=[
            ("answers", "Answers", True),
            ("changes", "Changes", changes),
            ("cells", "Cells", True),
            ("over", "No longer measured", over),
            ("how", "How changes are found", True),
        ],
        past=past,
        days=[history.date(day) for day in days],
        answer=", ".join(f"{counts[verdict]} {verdict}" for verdict in history.ORDER if counts[verdict]) + ".",
        notable=notable[:MOST_ANSWERS],
        unnamed=len(notable) - len(notable[:MOST_ANSWERS]),
        changes=changes[:MOST_CHANGES],
        untold=len(changes) - len(changes[:MOST_CHANGES]),
        groups=list(by_title.items()),
        over=over,
        cells=len(cards),
        arguments=arguments,
        words=compare.interval_words,
        data=json.dumps(_data(past, current), separators=(",", ":")).replace("<", "\\u003c"),
    )


def _card(number, one, days):
    """A cell as the page shows it."""
    card = {"anchor": f"cell-{number}", "number": number, "history": one, "chart": None, "told": []}
    card["told"] = [(change, list(history.told(change))) for change in reversed(one.changes)]
    if one.nights:
        card["chart"] = _chart(one, *days)
    return card


def _chart(one, first, last):
    """Paths of an SVG, and the words beside it."""
    seconds = numpy.array([night.median for night in one.nights])
    values = numpy.log(seconds)
    low, high = numpy.quantile(values, (0.01, 0.99))  # an outlier is drawn at the edge: it is not to press the others flat
    room = max(0.15 * (high - low), 0.05)
    low, high = low - room, high + room
    days = numpy.array([night.day for night in one.nights])
    across = EDGE + (WIDTH - 2 * EDGE) * (days - first) / max(1, last - first)
    up = lambda value: numpy.clip(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (value - low) / (high - low), EDGE / 2, HEIGHT - EDGE / 2)
    heights = up(values)
    levels = [(a, b, float(up(numpy.median(values[a:b])))) for a, b in one.levels]
    middle = [units.seconds(math.exp(float(numpy.median(values[a:b])))) for a, b in one.levels[-2:]]
    return {
        "dots": "".join(f"M{x:.0f} {y:.0f}h0" for x, y in zip(across, heights)),
        "levels": "".join(f"M{across[a]:.0f} {y:.0f}H{across[b - 1]:.0f}" for a, b, y in levels),
        "changes": [(change.verdict, f"M{across[change.place]:.0f} 0V{HEIGHT}") for change in one.changes],
        "low": units.seconds(math.exp(low)),
        "high": units.seconds(math.exp(high)),
        "level": " → ".join(middle),
        "nights": len(one.nights),
        "last": f"{one.latest.date}: {units.seconds(one.latest.median)}",
    }


def _data(past, current):
    """What the script shows of a night."""
    used = {night.environment for one in current for night in one.nights}
    attributes = {}
    environments = {
        number: [attributes.setdefault(pair, len(attributes)) for pair in past.environments[number].items()]
        for number in sorted(used)
    }
    hosts = {}
    made = [_nights(past, one, hosts) for one in current]
    return {"attributes": list(attributes), "environments": environments, "hosts": list(hosts), "cells": made}


def _nights(past, one, hosts):
    launches = [launch for night in one.nights for launch in night.launches]
    by_columns = collections.defaultdict(list)
    for launch in launches:
        by_columns[launch.columns].append(launch.trials or b"")
    if len(by_columns) == 1:  # nearly always, and a hundred times faster than one by one
        [(columns, blobs)] = by_columns.items()
        seconds = numpy.frombuffer(b"".join(blobs), dtype="<f8").reshape(-1, len(columns))[:, 0]
        sizes = [len(blob) // (8 * len(columns)) for blob in blobs]
    else:
        tables = [launch.table[:, 0] for launch in launches]
        seconds, sizes = numpy.concatenate([*tables, []]), list(map(len, tables))
    medians = [night.median for night in one.nights]
    both = numpy.log(numpy.concatenate([medians, seconds]))
    low, high = (float(both.min()), float(both.max())) if len(both) else (0.0, 0.0)
    told = numpy.rint((both - low) / ((high - low) or 1) * STEPS).astype("<u2").tobytes()
    return {
        "name": one.name,
        "days": [night.day for night in one.nights],
        "environment": [night.environment for night in one.nights],
        "hosts": [hosts.setdefault(past.hosts[night.launches[0].hosts], len(hosts)) for night in one.nights],
        "launches": [len(night.launches) for night in one.nights],
        "sizes": sizes[:1] * (len(set(sizes)) == 1) or sizes,  # one number where all are alike
        "low": low,
        "high": high,
        "seconds": base64.b64encode(told).decode(),  # the medians of the nights, then all trials
    }
