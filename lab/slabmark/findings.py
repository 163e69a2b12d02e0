"""Rules that look at records and at a machine for what makes I/O slow or a number doubtful.

Each rule is one function with a code; it returns the cause in a sentence, or nothing. To add one: a function here and a
row in docs/lab.md.
"""

import dataclasses

from slabmark import statistics, units

# Medians of fewer trials have no 95 % interval (statistics.FEWEST_FOR_INTERVAL).
FEW_TRIALS = 6
NOISY = 0.05  # half-width of the interval / median: the precision that slabmark-bench aims at
UNBALANCED = 1.5  # slowest rank's seconds / mean
FAR_FROM_LIMIT = 0.10
SMALL_REQUEST = 4096  # bytes: a page, and the least that a Lustre or GPFS client moves
MUCH_OVERHEAD = 0.10
LAUNCHES_DIFFER = 5.0  # F of 6 launches of 3 equal trials exceeds this once in 100 times
IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")
LAYERED = ("overlay", "fuse", "fuseblk", "9p", "virtiofs")
OVER_NETWORK_WITHOUT_COHERENCE = ("nfs", "nfs4", "cifs", "smb3")


@dataclasses.dataclass(frozen=True)
class Finding:
    code: str
    cause: str
    remedy: str


@dataclasses.dataclass(frozen=True)
class Rule:
    code: str
    remedy: str
    cause: object  # function of a manifest or of a cell -> sentence, or None


MANIFEST_RULES = []
CELL_RULES = []


def _rule(rules, code, remedy):
    def register(function):
        rules.append(Rule(code, remedy, function))
        return function

    return register


def of_manifest(manifest):
    return _apply(MANIFEST_RULES, manifest)


def of_cell(cell):
    found = _apply(MANIFEST_RULES, cell.first.manifest)
    if cell.method in ("posix", "null"):
        found = [finding for finding in found if finding.code != "slow-mpi-io"]
    return found + _apply(CELL_RULES, cell)


def _apply(rules, subject):
    found = ((rule, rule.cause(subject)) for rule in rules)
    return [Finding(rule.code, cause, rule.remedy) for rule, cause in found if cause]


@_rule(
    MANIFEST_RULES,
    "slow-mpi-io",
    "Select ROMIO: mpiexec --mca io romio321 (Open MPI 4) or --mca io romio341 (Open MPI 5), or "
    "OMPI_MCA_io=^ompio in the environment.",
)
def _(manifest):
    if manifest.get("mpi_io") == "OMPIO":
        return "The MPI-IO in effect is Open MPI's OMPIO, which is many times slower than ROMIO on irregular requests."


@_rule(MANIFEST_RULES, "memory-file-system", "Name a folder on the file system in question with -o.")
def _(manifest):
    kind = manifest.get("output", {}).get("type")
    if kind in IN_MEMORY:
        return f"The files lie on {kind}, which is memory: the numbers say nothing about storage."


@_rule(
    MANIFEST_RULES,
    "layered-file-system",
    "Name a folder on a mounted volume with -o; inside a container, one that is bound from the host.",
)
def _(manifest):
    kind = manifest.get("output", {}).get("type", "")
    if kind in LAYERED or kind.startswith("fuse."):
        return f"The files lie on {kind}, a layer over another file system that adds its own cost."


@_rule(
    MANIFEST_RULES,
    "incoherent-file-system",
    "Use a parallel file system for shared files; on NFS, mount with noac and locks, or run on one node only.",
)
def _(manifest):
    kind = manifest.get("output", {}).get("type")
    if kind in OVER_NETWORK_WITHOUT_COHERENCE:
        return f"The files lie on {kind}, whose clients cache on their own: several nodes that write one file may lose data."


@_rule(
    MANIFEST_RULES, "one-stripe", "Stripe the folder before the files are made, for example lfs setstripe -c -1 FOLDER."
)
def _(manifest):
    striping = (manifest.get("output", {}).get("lustre") or {}).get("striping") or ""
    words = striping.replace(":", " ").split()
    if (
        "lmm_stripe_count" in words
        and words[words.index("lmm_stripe_count") + 1] == "1"
        and manifest.get("ranks", 1) > 1
    ):
        return "The file lies on one Lustre target (stripe count 1), so all ranks share the rate of one server."


@_rule(
    MANIFEST_RULES,
    "more-ranks-than-cores",
    "Take as many ranks a node as there are cores, or read the numbers as those of a shared core.",
)
def _(manifest):
    most, cores = (manifest.get("ranks_per_node") or {}).get("max", 0), manifest.get("cores") or 0
    if cores and most > cores:
        return f"{most} ranks share {cores} cores, so ranks wait for each other's turn."


@_rule(MANIFEST_RULES, "unoptimised-build", "Build with PRESET=release.")
def _(manifest):
    kind = manifest.get("program", {}).get("build_type", "")
    if kind in ("Debug", "None"):
        return f"The program is a {kind} build; its own work takes part in the seconds."


@_rule(
    CELL_RULES,
    "not-verified",
    "Find the first wrong element in the record's 'verified'; run again with another --hint or library "
    "before any number is used.",
)
def _(cell):
    if cell.verified == "no":
        wrong = next(record for record in cell.records if record.verified["state"] == "no")
        return f"What was read back is not what was written: {wrong.verified.get('mismatch')}"


@_rule(
    CELL_RULES,
    "collective-was-not",
    "The causes are HDF5's own words (H5Pget_mpio_no_collective_cause); see the section of requested "
    "against effective. Data conversion, filters on old versions and point selections are the usual ones.",
)
def _(cell):
    causes = cell.first.effective.get("no_collective_cause") or []
    modes = cell.first.effective.get("io_mode") or {}
    asked = cell.first.settings.get("options", {}).get("hdf5.collective") == "on"
    independent = sum(count for mode, count in modes.items() if "independent" in mode and "collective" not in mode)
    if asked and (causes or independent):
        why = ", ".join(causes) if isinstance(causes, list) else str(causes)
        return f"Collective HDF5 calls were carried out independently{': ' + why if why else ''}."


@_rule(
    CELL_RULES,
    "setting-not-in-effect",
    "Look up the hint's name and values in your MPI-IO's documentation; ROMIO and OMPIO know different ones.",
)
def _(cell):
    if notes := cell.first.effective.get("notes"):
        return " ".join(notes)


@_rule(CELL_RULES, "ranks-disagree", "Give all ranks the same hints and environment.")
def _(cell):
    for difference in cell.first.differences:
        if difference["path"].startswith("/hints"):
            return (
                f"Rank {difference['rank']} has {difference['path'].rpartition('/')[2]} = {difference['value']}, other than "
                "rank 0."
            )


@_rule(CELL_RULES, "fill-written-twice", "H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER): --set hdf5.fill=never.")
def _(cell):
    fill = cell.first.settings.get("options", {}).get("hdf5.fill")
    if fill == "alloc" and cell.first.direction == "write":
        return "Datasets are filled when they are allocated and then written, so each byte goes out twice."


@_rule(CELL_RULES, "chunk-mismatch", "Take chunks that end where ranks' parts end (--set hdf5.chunk=...), or none.")
def _(cell):
    effective = cell.first.effective
    storage, chunked = effective.get("storage_bytes"), (effective.get("layout") or {}).get("chunked")
    if chunked and storage and storage > 1.1 * cell.bytes and cell.first.direction == "write":
        return (
            f"The chunks hold {units.size(storage)} for {units.size(cell.bytes)} of data: they reach beyond the dataset or "
            "are not filled."
        )


@_rule(
    CELL_RULES,
    "tiny-requests",
    "Let the library merge them: a union (hdf5-union), pnetcdf-vard or -varn, or collective MPI-IO; or "
    "rearrange the data to larger pieces first.",
)
def _(cell):
    total = cell.first.pattern["requests"]["total"]
    calls = sum((cell.first.effective.get("calls") or {}).values())
    if total and cell.bytes / total < SMALL_REQUEST and calls * cell.ranks >= total:
        return f"Each of {total} requests of {units.size(cell.bytes / total)} on average is a library call of its own."


@_rule(
    CELL_RULES,
    "far-from-limit",
    "See which phase takes the time: prepare is building selections, post and flush are moving data, define is "
    "allocation and fill; 'slabmark advise' tries other ways.",
)
def _(cell):
    if not cell.is_bound and cell.share is not None and cell.share < FAR_FROM_LIMIT:
        return f"It reaches {units.percent(cell.share)} of what the same bytes reach when they are contiguous."


@_rule(
    CELL_RULES,
    "unbalanced",
    "Give ranks similar numbers of requests and bytes, or let fewer aggregators do the work (hint cb_nodes).",
)
def _(cell):
    if cell.ranks > 1 and cell.imbalance and cell.imbalance > UNBALANCED:
        rank, host, share = cell.slowest
        return (
            f"The slowest rank takes {cell.imbalance:.2f} times the mean; rank {rank} on {host} is slowest in "
            f"{units.percent(share)} of the trials."
        )


@_rule(CELL_RULES, "few-trials", "More trials: --min-trials 10, or more launches in the study.")
def _(cell):
    if cell.summary and cell.summary.trials < FEW_TRIALS:
        return f"Fewer than {FEW_TRIALS} trials have no 95 % interval; the range is shown instead."


@_rule(CELL_RULES, "noisy", "More trials, a quieter machine, or larger data.")
def _(cell):
    if cell.summary and not cell.summary.is_range and cell.summary.half_width > NOISY:
        return f"The interval reaches {units.percent(cell.summary.half_width)} to either side of the median."


@_rule(
    CELL_RULES,
    "launches-differ",
    "Launch it more often rather than longer. The interval of the report takes trials as independent, so it is too "
    "narrow here; 'slabmark compare' takes the medians of launches.",
)
def _(cell):
    effect = statistics.launch_effect([[trial.open_to_close for trial in record.measured] for record in cell.records])
    if effect is not None and effect > LAUNCHES_DIFFER:
        return f"Trials of one launch are more alike than those of different launches (F = {units.three_digits(effect)}, 1 is none)."


@_rule(CELL_RULES, "outliers", "Look for what else used the file system at that time; they are flagged, not removed.")
def _(cell):
    if cell.summary and not cell.summary.is_range and cell.summary.outliers:
        count = len(cell.summary.outliers)
        return f"{count} of {cell.summary.trials} trials lie far from the others."


@_rule(CELL_RULES, "page-cache", "--sync counts the time until the data is durable; or write several times the memory.")
def _(cell):
    manifest = cell.first.manifest
    memory = (manifest.get("memory_bytes") or 0) * (len(manifest.get("hosts", [])) or 1)
    if cell.first.direction == "write" and not cell.first.sync and cell.bytes < memory / 4:
        return "Without sync, data that fits into memory is timed on its way into the page cache, not to the device."


@_rule(CELL_RULES, "warm-reads", "Run where pages may be dropped, or read more than the memory holds.")
def _(cell):
    if cell.first.direction == "read" and cell.first.cache == "warm":
        return "The pages that are read were in memory."


@_rule(CELL_RULES, "overhead", "Larger data: the synchronisation between phases weighs too much here.")
def _(cell):
    if cell.summary and cell.summary.median and cell.agreements > MUCH_OVERHEAD * cell.summary.median:
        return (
            f"{units.percent(cell.agreements / cell.summary.median)} of the seconds are Slabmark's own synchronisation."
        )


def grouped(loads):
    """[(code, remedy, [(cause, [labels])])] over the cells of workloads: the same cause is said once."""
    found = {}
    for load in loads:
        for cell in load.cells:
            for finding in of_cell(cell):
                causes = found.setdefault((finding.code, finding.remedy), {})
                causes.setdefault(finding.cause, []).append(f"{load.title}: {cell.label}")
    order = {rule.code: place for place, rule in enumerate(MANIFEST_RULES + CELL_RULES)}
    return [
        (code, remedy, list(causes.items()))
        for (code, remedy), causes in sorted(found.items(), key=lambda item: order[item[0][0]])
    ]
