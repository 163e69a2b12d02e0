"""Numbers as people read them. Sizes are powers of 1024, as in the tables of `slabmark bench`."""

import math
import re


def seconds(value):
    """'1.23 s', '12.3 ms', '45.6 µs': three significant digits."""
    if value is None:
        return "-"
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if abs(value) < limit * 0.9995:
            return f"{three_digits(value * factor)} {unit}"
    return f"{three_digits(value)} s"


def size(value):
    """'512 B', '500.7 KiB', '1.2 GiB'."""
    if value is None:
        return "-"
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while abs(value) >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:.0f} B" if units[0] == "B" else f"{value:.1f} {units[0]}"


def parse_size(text):
    """Bytes of '64M' or '1.5T', as the programs take them. ValueError."""
    if not (found := re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)", str(text))):
        raise ValueError(f"'{text}' is no size such as 64M or 1.5T")
    return float(found[1]) * 1024 ** " KMGT".index(found[2] or " ")


def whole(text):
    """The number that a text of digits is; None of what is none, or is beyond 64 bits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None


def rate(value):
    """Bytes per second as MiB/s, three significant digits."""
    return "-" if value is None else f"{three_digits(value / 2**20)} MiB/s"


def percent(share):
    """0.123 -> '12.3 %'."""
    return "-" if share is None else f"{three_digits(100 * share)} %"


def counted(number, thing):
    """'1 rank', '2 ranks', '2 launches'"""
    return f"{number} {thing}{'' if str(number) == '1' else 'es' if thing.endswith('ch') else 's'}"


def three_digits(value):
    if value == 0:
        return "0"
    magnitude = abs(value)
    if magnitude < 1e-6 or not math.isfinite(value):
        return f"{value:.2e}"
    if magnitude < 0.0995:  # as many digits as three that count take
        return f"{value:.{2 - math.floor(math.log10(float(f'{magnitude:.2e}')))}f}"
    digits = 0 if magnitude >= 99.95 else 1 if magnitude >= 9.995 else 2
    return f"{value:.{digits}f}"


def duration(value):
    """A span of time for a progress line: '45 s', '12 min', '3 h 05 min'."""
    if value < 90:
        return f"{value:.0f} s"
    if value < 5400:
        return f"{value / 60:.0f} min"
    return f"{int(value // 3600)} h {int(value % 3600 // 60):02d} min"


def file_system(output):
    """'lustre on /scratch (mds:/scratch)', of a manifest's output. A chroot into a folder that is no mount point has none."""
    if not output.get("type"):
        return "unknown: no mount holds the folder"
    return f"{output['type']} on {output.get('mount_point')} ({output.get('source')})"
