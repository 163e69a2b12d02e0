"""What there is to try: methods, and the settings that are worth trying with each."""

import dataclasses
import fnmatch
import re

from slabmark import apply
from slabmark.commands.advise import PLAINEST
from slabmark.errors import InputError, did_you_mean

# Settings by the method they apply to, or by its family. Data, not code: a new one is a line here.
VARIANTS = {
    "mpiio-collective": [
        {"hints": {"romio_cb_write": "enable", "romio_ds_write": "disable"}},
        {"hints": {"cb_nodes": "1"}},
        {"hints": {"cb_buffer_size": "67108864"}},
    ],
    "mpiio-independent": [{"hints": {"romio_ds_write": "disable"}}, {"options": {"mpiio.view": "off"}}],
    "pnetcdf-vara": [{"options": {"pnetcdf.blocking": "on"}}],
    "pnetcdf-varn": [{"options": {"pnetcdf.blocking": "on"}}],
    "pnetcdf": [
        {"hints": {"cb_nodes": "1"}},
        {"hints": {"cb_buffer_size": "67108864"}},
        {"hints": {"nc_num_aggrs_per_node": "1"}},
        {"hints": {"nc_driver": "mpiio"}},
    ],
    "hdf5": [
        {"options": {"hdf5.collective": "off"}},
        {"options": {"hdf5.collective_metadata": "off"}},
        {"options": {"hdf5.alloc": "early"}},
        {"hints": {"romio_cb_write": "enable", "romio_ds_write": "disable"}},
        {"hints": {"cb_nodes": "1"}},
    ],
    "rearranged": [{"options": {"{library}.window": "16M"}}, {"options": {"{library}.aggregators": "1"}}],
    "hdf5-log": [{"options": {"hdf5.log_view": "materialise"}}],
}
# Kinds of methods that are not ways to write a file of an application, unless --method names them.
NO_CANDIDATES = {
    "yardstick": "it is there to be compared with",
    "slices": "it writes slices of fields only; see docs/reference/slice_eval.md",
    "as-captured": "it is of another program than was captured",
}
# Libraries whose files no program can write by calls that we know.
NO_CALLS = {
    "zarr": "no library for programs writes such stores yet",
    "netcdf4": "there are no lines of code for netCDF-C yet",
}
ROMIO = {"OMPI_MCA_io": "^ompio"}
LOSSLESS = {"romio_ds_write": "disable"}  # without which ROMIO loses what some programs write (docs/known-issues.md)
# What can be put into a program that stays as it is, by the level at which its calls were captured.
UNCHANGED = {"pnetcdf": [apply.PNETCDF], "hdf5": list(apply.LAYOUTS)}
HINTS = [{"romio_cb_write": "enable"} | LOSSLESS, {"cb_nodes": "1"}]  # that the environment can give it
# Hints that a library knows since a version; by an older one they would be dropped without a word.
SINCE = {"nc_num_aggrs_per_node": ("pnetcdf", (1, 14)), "nc_driver": ("pnetcdf", (1, 15))}


def knows(libraries, hint):
    """Whether the library whose hint it is, of those with their versions, is new enough for it."""
    name, since = SINCE.get(hint, (None, ()))
    return tuple(int(part) for part in re.findall(r"\d+", libraries.get(name) or "")[:2]) >= since


def library(method):
    return method.split("-")[0]


def family(method):
    """Methods that take the same settings and are called alike: those of a library, and the rearranged ones."""
    return "rearranged" if method.endswith("-rearranged") else library(method)


@dataclasses.dataclass(frozen=True)
class Candidate:
    method: str
    options: tuple = ()
    hints: tuple = ()
    environment: tuple = ()
    way: str = apply.NOTHING  # what `slabmark apply --with` puts into the program

    @property
    def variables(self):
        """Of the environment, by name."""
        return dict(self.environment) | apply.settings(self.way)

    @property
    def flags(self):
        words = ["--method", self.method]
        for flag, pairs in (("--set", self.options), ("--hint", self.hints)):
            for name, value in pairs:
                words += [flag, f"{name}={value}"]
        return words

    @property
    def label(self):
        settings = [*self.options, *self.hints, *self.environment]
        way = "" if self.way == apply.NOTHING else f" by 'slabmark apply --with {self.way}'"
        return self.method + way + "".join(f", {name}={value}" for name, value in settings)

    def with_added_hints(self, added):
        """The same with hints that the method gave its file by itself, as its record names them."""
        hints = dict(name.split("=", 1) for name in added) | dict(self.hints)
        return dataclasses.replace(self, hints=tuple(sorted(hints.items())))

    def variants(self, libraries):
        """The same with one setting more each, of those that these versions of libraries have."""
        found = [variant for key in (self.method, family(self.method)) for variant in VARIANTS.get(key, [])]
        found = [variant for variant in found if all(knows(libraries, hint) for hint in variant.get("hints", {}))]
        changed = lambda variant: {kind: self._with(getattr(self, kind), variant.get(kind, {})) for kind in ("options", "hints")}
        return [dataclasses.replace(self, **changed(variant)) for variant in found]

    def _with(self, pairs, more):
        named = {name.format(library=library(self.method)): value for name, value in more.items()}
        return tuple(sorted((dict(pairs) | named).items()))


def named(environment, patterns):
    """The methods that --method means, such as pnetcdf-*. InputError for what is no method, or none of this build."""
    known = {method["name"]: method["missing"] for method in environment["methods"]}
    found = {}
    for pattern in patterns:
        names = fnmatch.filter(known, pattern)
        if not names:
            raise InputError(f"'{pattern}' is no method.{did_you_mean(pattern, known)}")
        if pattern in known and known[pattern]:
            raise InputError(f"The method '{pattern}' is not in this build: {known[pattern]}.")
        found |= {name: None for name in names if not known[name]}
    return list(found)


def file_format(method):
    """netcdf, hdf5, or None for a file without header, of a method as the program describes it."""
    format = method["format"].split("-")[0]
    return format if format in ("netcdf", "hdf5") else None


@dataclasses.dataclass
class Choice:
    """What is to be tried."""

    today: Candidate  # with which the winner is compared; the same in each run
    format: str  # netcdf, hdf5 or any
    first: list
    untried: dict  # reasons by method


def as_captured(level):
    """What a program did whose calls were captured at that level: the method that makes the same calls."""
    return Candidate(f"as-captured-{level}")


def of_captured(environment, level):
    """(ways to have a program's own calls done without a change of it, its own first, then what mostly helps most, reasons why some
    are not tried). `level`: whose calls were captured."""
    own, untried = as_captured(level), {}
    ways, change = [], dataclasses.replace
    under_ompio = environment["mpi_io"] == "OMPIO"
    romio, lossless = (tuple(ROMIO.items()), LOSSLESS) if under_ompio else ((), {})
    if level != "posix":
        newer = [variant["hints"] for variant in VARIANTS.get(level, []) if variant.get("hints", {}).keys() & SINCE.keys()]
        known = [hints for hints in HINTS + newer if all(knows(environment["libraries"], hint) for hint in hints)]
        given = [lossless] * under_ompio + [lossless | hints for hints in known]
        ways += [change(own, hints=tuple(sorted(hints.items())), environment=romio) for hints in given]
    for way in UNCHANGED.get(level, ()):
        hints = lossless if way == apply.PNETCDF else {}  # the connector gives its files the hint itself
        candidate = change(own, hints=tuple(hints.items()), environment=romio, way=way)
        try:
            candidate.variables  # noqa: B018, which fails where there are none
            ways.append(candidate)
        except InputError as error:
            untried[candidate.label] = str(error).rstrip(".")
    return [own, *(way for way in ways if way.way != apply.NOTHING), *(way for way in ways if way.way == apply.NOTHING)], untried


def choose(environment, patterns=None, today=None, format=None):
    """Each method of this build that writes the format, as it stands; where Open MPI's own MPI-IO is in effect, under
    ROMIO, too. The format is that of `today` if it is not given, or any if `patterns` name the methods."""
    known = {method["name"]: method for method in environment["methods"]}
    missing = {name: method["missing"] for name, method in known.items()}
    reasons = {name: NO_CANDIDATES.get(method["kind"]) or NO_CALLS.get(library(name)) for name, method in known.items()}
    names = named(environment, patterns) if patterns else [name for name in known if not reasons[name]]
    fits = lambda name: not missing[name] and format in (None, "any", file_format(known[name]))
    if today:
        named(environment, [today])
    else:
        plain = [name for name in PLAINEST if name in missing and fits(name)]
        alike = [name for name in plain if library(name) == library(names[0])]
        today = next((name for name in plain if name in names), (alike or plain or names)[0])
    format = format or ("any" if patterns else file_format(known[today]) or "any")
    untried = {name: f"it is not in this build: {reason}" for name, reason in missing.items() if reason}
    for name in missing:
        if not patterns and reasons[name]:
            untried.setdefault(name, reasons[name])
        elif name in names and not fits(name):
            untried.setdefault(name, f"it writes no {format} file (--format any)")
    tried = [name for name in names if name not in untried]
    if not tried:
        raise InputError(f"No method of --method writes {format} files.")
    made = [Candidate(name) for name in tried]
    if environment["mpi_io"] == "OMPIO":
        made += [Candidate(name, environment=tuple(ROMIO.items())) for name in tried if name != "posix"]
    return Choice(Candidate(today), format, made, untried)
