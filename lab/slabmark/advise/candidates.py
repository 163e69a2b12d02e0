"""What there is to try: methods, and the settings that are worth trying with each."""

import dataclasses

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
    "pnetcdf": [{"hints": {"cb_nodes": "1"}}, {"hints": {"cb_buffer_size": "67108864"}}],
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
# Not ways to write a file of an application, unless asked for: the benchmark's own, a layout that no other tool reads,
# and ways that others contain.
NOT_CANDIDATES = ("null", "floor", "whole", "blob", "hdf5-union-naive")
ROMIO = {"OMPI_MCA_io": "^ompio"}


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
        return self.method + "".join(f", {name}={value}" for name, value in settings)

    def variants(self):
        """The same with one setting more each."""
        made = []
        for key in (self.method, family(self.method)):
            for variant in VARIANTS.get(key, []):
                made.append(
                    dataclasses.replace(
                        self,
                        options=self._with(self.options, variant.get("options", {})),
                        hints=self._with(self.hints, variant.get("hints", {})),
                    )
                )
        return made

    def _with(self, pairs, more):
        named = {name.format(library=library(self.method)): value for name, value in more.items()}
        return tuple(sorted((dict(pairs) | named).items()))


def first_candidates(environment, only=None):
    """Each method that this build has, as it stands; where Open MPI's own MPI-IO is in effect, under ROMIO, too."""
    known = {method["name"]: method["missing"] for method in environment["methods"]}
    for name in only or []:
        if name not in known:
            raise InputError(f"'{name}' is no method.{did_you_mean(name, known)}")
        if known[name]:
            raise InputError(f"The method '{name}' is not in this build: {known[name]}.")
    names = only or [name for name, missing in known.items() if not missing and name not in NOT_CANDIDATES]
    made = [Candidate(name) for name in names]
    if environment["mpi_io"] == "OMPIO":
        made += [Candidate(name, environment=tuple(ROMIO.items())) for name in names if name != "posix"]
    return made
