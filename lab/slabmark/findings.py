"""Rules that look at records and at a machine for what makes I/O slow or a number doubtful.

To add one: its remedy here, where its cause is told below, and a row in docs/reference/lab.md.
"""

import dataclasses
import re

from slabmark import statistics, units

NOISY = 0.05  # half-width of the interval / median: the precision that `slabmark bench` aims at
UNBALANCED = 1.5  # slowest rank's seconds / mean
FAR_FROM_LIMIT = 0.10
SMALL_REQUEST = 4096  # bytes: a page, and the least that a Lustre or GPFS client moves
MUCH_OVERHEAD = 0.10
LAUNCHES_DIFFER = 5.0  # F of 6 launches of 3 equal trials exceeds this once in 100 times
BUSY = 0.5  # runnable processes beyond this share of the cores disturb timings
DIRTY = 0.05  # share of the memory
IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")
LAYERED = ("overlay", "fuse", "fuseblk", "9p", "virtiofs")
OVER_NETWORK_WITHOUT_COHERENCE = ("nfs", "nfs4", "cifs", "smb3")

# By code, in the order of a report.
REMEDIES = {
    "slow-mpi-io": "Select ROMIO: mpiexec --mca io romio321 (Open MPI 4) or --mca io romio341 (Open MPI 5), or "
    "OMPI_MCA_io=^ompio in the environment. Set the hint romio_ds_write=disable, without which it can lose data (docs/known-issues.md).",
    "overlaps-fail": "Select ROMIO (OMPI_MCA_io=^ompio), or a later Open MPI; or give each element to one rank.",
    "clocks-disagree": "Leave the host out, or have its clock repaired (kernel log, 'clocksource', NTP); measure again.",
    "memory-file-system": "Name a folder on the file system in question with -d.",
    "layered-file-system": "Name a folder on a mounted volume with -d; inside a container, one that is bound from the host.",
    "incoherent-file-system": "Use a parallel file system for shared files; on NFS, mount with noac and locks, or run on one "
    "node only.",
    "one-stripe": "Stripe the folder before the files are made, for example lfs setstripe -c -1 FOLDER.",
    "more-ranks-than-cores": "Take as many ranks a node as there are cores, or read the numbers as those of a shared core.",
    "unoptimised-build": "Build with PRESET=release.",
    "foreign-launcher": "Name the launcher of the MPI that the programs were built with.",
    "no-pnetcdf": "Build with PNETCDF_DIR=..., a PnetCDF of the same MPI.",
    "busy-machine": "Wait until the machine is quiet, or take more trials.",
    "dirty-pages": "Run sync first.",
    "no-shared-memory": "OMPI_MCA_sharedfp=^sm in the environment avoids it.",
    "unsigned-plugins": "Sign them with a key that this HDF5 trusts, after anything that strips them (docs/reference/hdf5-connector.md).",
    "foreign-plugins": "Unset it, unless the plugins were built with this HDF5.",
    "not-verified": "Find the first wrong element in the record's 'verified'; run again with another --hint or library "
    "before any number is used.",
    "collective-was-not": "The causes are HDF5's own words (H5Pget_mpio_no_collective_cause); see the section of requested "
    "against effective. Data conversion, filters on old versions and point selections are the usual ones.",
    "setting-not-in-effect": "Look up the hint's name and values in your MPI-IO's documentation; ROMIO and OMPIO know "
    "different ones.",
    "hint-was-needed": "A program of your own needs the hint as well where ROMIO carries out its calls (docs/known-issues.md).",
    "program-may-lose-data": "Give the program the hint: in its MPI_Info, or, as it is, in a file that the variable ROMIO_HINTS names "
    "(docs/known-issues.md).",
    "order-matters": "Let one rank write each element; or compare the files once, with and without what 'slabmark apply' loads.",
    "ranks-disagree": "Give all ranks the same hints and environment.",
    "fill-written-twice": "H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER): --set hdf5.fill=never.",
    "chunk-mismatch": "Take chunks that end where ranks' parts end (--set hdf5.chunk=...), or none.",
    "tiny-requests": "Let the library merge them: a union (hdf5-union), pnetcdf-vard or -varn, or collective MPI-IO; or "
    "rearrange the data to larger pieces first.",
    "far-from-limit": "See which phase takes the time: prepare is building selections, post and flush are moving data, define "
    "is allocation and fill; 'slabmark advise' tries other ways.",
    "unbalanced": "Give ranks similar numbers of requests and bytes, or let fewer aggregators do the work (hint cb_nodes).",
    "few-trials": "More trials: --min-trials 10, or more launches in the study.",
    "noisy": "More trials, a quieter machine, or larger data.",
    "launches-differ": "Launch it more often rather than longer. The interval of the report takes trials as independent, so "
    "it is too narrow here; 'slabmark compare' takes the medians of launches.",
    "outliers": "Look for what else used the file system at that time; they are flagged, not removed.",
    "page-cache": "--sync counts the time until the data is durable; or write several times the memory.",
    "warm-reads": "Run where pages may be dropped, or read more than the memory holds.",
    "overhead": "Larger data: the synchronization between phases weighs too much here.",
}


@dataclasses.dataclass(frozen=True)
class Finding:
    code: str
    cause: str

    @property
    def remedy(self):
        return REMEDIES[self.code]


def _findings(rules):
    """A function that returns what its rules yield, (code, cause), as a list of findings."""
    return lambda *subject: [Finding(*found) for found in rules(*subject)]


def clocks_disagree(manifest):
    """A sentence, or None: seconds are no seconds then."""
    if not (wrong := (manifest.get("clocks") or {}).get("disagreement")):
        return None
    return (
        f"The clock of rank {wrong['rank']} on {wrong['host']} runs {wrong['rate']:.3g} times as fast as "
        f"{wrong['against']}, so seconds and rates are wrong."
    )


@_findings
def of_manifest(manifest):
    output = manifest.get("output", {})
    kind = output.get("type") or ""  # null where no mount is known: in a chroot, say
    if manifest.get("mpi_io") == "OMPIO":
        yield (
            "slow-mpi-io",
            "The MPI-IO in effect is Open MPI's OMPIO, which is many times slower than ROMIO on irregular requests.",
        )
    if "collective-overlaps" in manifest.get("mpi_io_faults", ()):
        yield (
            "overlaps-fail",
            "OMPIO of Open MPI 4.1.1 to 4.1.4 crashes, or moves wrong bytes with success, where ranks share elements in a "
            "collective call.",
        )
    if wrong := clocks_disagree(manifest):
        yield "clocks-disagree", wrong
    if kind in IN_MEMORY:
        yield "memory-file-system", f"The files lie on {kind}, which is memory: the numbers say nothing about storage."
    if kind in LAYERED or kind.startswith("fuse."):
        yield "layered-file-system", f"The files lie on {kind}, a layer over another file system that adds its own cost."
    if kind in OVER_NETWORK_WITHOUT_COHERENCE:
        yield (
            "incoherent-file-system",
            f"The files lie on {kind}, whose clients cache on their own: several nodes that write one file may lose data.",
        )
    striping = (output.get("lustre") or {}).get("striping") or ""
    # Of a file in components, or of a folder (without lmm_); -1 are all servers.
    counts = set(re.findall(r"stripe_count:\s*(-?\d+)", striping))
    if counts == {"1"} and manifest.get("ranks", 1) > 1:
        yield "one-stripe", "The file lies on one Lustre target (stripe count 1), so all ranks share the rate of one server."
    most, cores = (manifest.get("ranks_per_node") or {}).get("max", 0), manifest.get("cores") or 0
    if cores and most > cores:
        yield "more-ranks-than-cores", f"{most} ranks share {cores} cores, so ranks wait for each other's turn."
    build = manifest.get("program", {}).get("build_type", "")
    if build in ("Debug", "None"):
        yield "unoptimised-build", f"The program is a {build} build; its own work takes part in the seconds."


def busy(load, cores):
    """[(code, cause)] if other processes disturb what is measured now."""
    if load > BUSY * (cores or 1):
        yield "busy-machine", f"Other processes are running (load {load:.2f} on {units.counted(cores, 'core')})."


@_findings
def of_host(manifest, ranks):
    """What only the present state of a machine shows, where `ranks` were started."""
    host, cores = manifest["host"], manifest["cores"]
    if manifest["ranks"] != ranks:
        yield (
            "foreign-launcher",
            f"{ranks} ranks were started, and each program saw {manifest['ranks']}: the launcher belongs to another MPI "
            "than the program.",
        )
    if not manifest["libraries"].get("pnetcdf"):
        yield "no-pnetcdf", "This build has no PnetCDF, so its methods and .nc maps are off."
    yield from busy(host["load"], cores)
    if host["dirty"] > DIRTY * host["memory"]:
        yield "dirty-pages", f"{units.size(host['dirty'])} wait to be written, and will be while you measure."
    if not host["shared_memory"]:
        yield "no-shared-memory", "/dev/shm is not writable; Open MPI's MPI-IO opens no file then."
    if host.get("unsigned"):
        yield "unsigned-plugins", f"HDF5 takes signed plugins only, and these are not: {', '.join(host['unsigned'])}."
    if host["plugins"]:
        yield "foreign-plugins", f"HDF5_PLUGIN_PATH is {host['plugins']}: plugins of another HDF5 may be loaded."


def of_cell(cell):
    found = of_manifest(cell.first.manifest)
    if "hints" not in cell.first.effective:  # it makes no calls to MPI-IO
        found = [finding for finding in found if finding.code not in ("slow-mpi-io", "overlaps-fail")]
    return found + _of_access(cell) + _of_seconds(cell)


@_findings
def _of_access(cell):
    record, effective = cell.first, cell.first.effective
    options, is_write = record.settings.get("options", {}), record.direction == "write"
    if cell.verified == "no":
        wrong = next(record for record in cell.records if record.verified["state"] == "no")
        yield "not-verified", f"The data read back differ from the data written: {wrong.verified.get('mismatch')}"
    causes = effective.get("no_collective_cause") or []
    modes = effective.get("io_mode") or {}
    independent = sum(count for mode, count in modes.items() if "independent" in mode and "collective" not in mode)
    if options.get("hdf5.collective") == "on" and (causes or independent):
        why = ", ".join(causes) if isinstance(causes, list) else str(causes)
        yield "collective-was-not", f"Collective HDF5 calls were carried out independently{': ' + why if why else ''}."
    if notes := effective.get("notes"):
        yield "setting-not-in-effect", " ".join(notes)
    for hint, cause in (effective.get("added_hints") or {}).items():
        yield "hint-was-needed", f"The method gave its file the hint {hint}: {cause[0].lower()}{cause[1:]}"
    if (hint := effective.get("lacks_hint")) and is_write and record.manifest.get("mpi_io") == "ROMIO":
        yield (
            "program-may-lose-data",
            f"In some collective calls a rank has nothing; without the hint {hint} ROMIO can lose what others write then.",
        )
    if elements := record.pattern["settings"].get("rewritten_elements"):
        yield (
            "order-matters",
            f"Different ranks write {elements} elements in different calls, so the file depends on the order of calls.",
        )
    if hint := next((one for one in record.differences if one["path"].startswith("/hints")), None):
        name = hint["path"].rpartition("/")[2]
        yield "ranks-disagree", f"Rank {hint['rank']} has {name} = {hint['value']}, other than rank 0."
    if options.get("hdf5.fill") == "alloc" and is_write:
        yield (
            "fill-written-twice",
            "Datasets are filled when they are allocated and then written, so each byte goes out twice.",
        )
    storage, chunked = effective.get("storage_bytes"), (effective.get("layout") or {}).get("chunked")
    if chunked and storage and storage > 1.1 * cell.bytes and is_write:
        yield (
            "chunk-mismatch",
            f"The chunks hold {units.size(storage)} for {units.size(cell.bytes)} of data: they reach beyond the dataset or "
            "are not filled.",
        )
    total = record.pattern["requests"]["total"]
    calls = sum((effective.get("calls") or {}).values())
    if total and cell.bytes / total < SMALL_REQUEST and calls * cell.ranks >= total:
        yield (
            "tiny-requests",
            f"Each of {total} requests of {units.size(cell.bytes / total)} on average is a library call of its own.",
        )


@_findings
def _of_seconds(cell):
    record, summary = cell.first, cell.summary
    if not cell.is_bound and cell.share is not None and cell.share < FAR_FROM_LIMIT:
        yield (
            "far-from-limit",
            f"It reaches {units.percent(cell.share)} of what the same bytes reach when they are contiguous.",
        )
    if cell.ranks > 1 and cell.median("imbalance") > UNBALANCED:
        rank, host, share = cell.slowest
        yield (
            "unbalanced",
            f"The slowest rank takes {cell.median('imbalance'):.2f} times the mean; rank {rank} on {host} is slowest in "
            f"{units.percent(share)} of the trials.",
        )
    if summary.is_range:
        yield "few-trials", f"Fewer than {statistics.FEWEST_FOR_INTERVAL} trials have no 95 % interval; the range is shown instead."
    elif summary.half_width > NOISY:
        yield "noisy", f"The interval reaches {units.percent(summary.half_width)} to either side of the median."
    effect = statistics.launch_effect([[trial.open_to_close for trial in record.measured] for record in cell.records])
    if effect is not None and effect > LAUNCHES_DIFFER:
        yield (
            "launches-differ",
            "Trials of one launch are more alike than those of different launches "
            f"(F = {units.three_digits(effect)}, 1 is none).",
        )
    if not summary.is_range and summary.outliers:
        yield "outliers", f"{len(summary.outliers)} of {summary.trials} trials lie far from the others."
    memory = (record.manifest.get("memory_bytes") or 0) * (len(record.manifest.get("hosts", [])) or 1)
    if record.direction == "write" and not record.sync and cell.bytes < memory / 4:
        yield (
            "page-cache",
            "Without sync, data that fits into memory is timed on its way into the page cache, not to the device.",
        )
    if record.direction == "read" and record.cache == "warm":
        yield "warm-reads", "The pages that are read were in memory."
    if (own := cell.median("agreements")) > MUCH_OVERHEAD * summary.median:
        yield "overhead", f"{units.percent(own / summary.median)} of the seconds are Slabmark's own synchronization."


def grouped(loads):
    """[(code, remedy, [(cause, [labels])])] over the cells of workloads: the same cause is said once."""
    found = {code: {} for code in REMEDIES}
    for load in loads:
        for cell in load.cells:
            for finding in of_cell(cell):
                found[finding.code].setdefault(finding.cause, []).append(f"{load.title}: {cell.label}")
    return [(code, REMEDIES[code], list(causes.items())) for code, causes in found.items() if causes]
