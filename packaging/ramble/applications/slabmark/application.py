"""Slabmark as an application of Ramble 0.5, and of Benchpark, which runs Ramble's applications.

    ramble repo add packaging/ramble
    ramble info slabmark

packaging/ramble/ramble.yaml is a workspace to begin with.
"""

from ramble.appkit import *
from ramble.expander import Expander

# The workloads: words of slabmark bench, whose variables are those below.
WORKLOADS = {
    "transfer": "transfer --bytes {bytes} --block {block} --buffer {buffer}",
    "checkpoint": "checkpoint --grid-of-ranks {n_ranks},1,1 --domain {domain} --chunk {domain} --steps {steps}",
    "decomposition": "decomp --map {map} --variables {variables}",
    "slices": "slice --grid {grid} --stride {stride} --steps {outputs}",
}
DEFAULTS = {
    "transfer": {"bytes": "64M", "block": "1M", "buffer": "16M"},
    "checkpoint": {"domain": "128,128,128", "steps": "4"},
    "decomposition": {"map": "", "variables": "10"},
    "slices": {"grid": "512,512,256", "stride": "2,2,2", "outputs": "4"},
}
METHODS = {
    "transfer": "posix,mpiio-collective,hdf5-slab",
    "checkpoint": "mpiio-collective,hdf5-contiguous,pnetcdf-varn",
    "decomposition": "hdf5-rearranged,pnetcdf-varn,hdf5-union",
    "slices": "append,hdf5-union",
}
NUMBER = r"[0-9][0-9.e+-]*"


class Slabmark(ExecutableApplication):
    """Slabmark measures how parallel programs move arrays to storage: any pattern through any method, beside the limit."""

    name = "slabmark"

    tags("synthetic-benchmarks", "IO")

    define_compiler("gcc", pkg_spec="gcc", package_manager="spack*")
    software_spec("slabmark", pkg_spec="slabmark", compiler="gcc", package_manager="spack*")
    required_package("slabmark", package_manager="spack*")

    for workload_name, words in WORKLOADS.items():
        executable(
            name=workload_name,
            template=f"slabmark bench {words} --method {{methods}} --min-trials {{trials}} --max-trials {{trials}} {{more}} "
            "--overwrite --quiet --output-dir {output_dir} --json {records}",
            use_mpi=True,
        )
        workload(workload_name, executable=workload_name)
        workload_variable("methods", default=METHODS[workload_name], description="Methods to compare", workloads=[workload_name])
        for variable_name, default in DEFAULTS[workload_name].items():
            workload_variable(
                variable_name, default=default, description="As slabmark bench --help has it", workloads=[workload_name]
            )

    every = list(WORKLOADS)
    workload_variable("trials", default="10", description="Measured trials, after a warm-up", workloads=every)
    workload_variable("more", default="--sync", description="More options of slabmark bench", workloads=every)
    workload_variable("output_dir", default="{experiment_run_dir}", description="On the file system in question", workloads=every)
    workload_variable(
        "records", default="{experiment_run_dir}/records.jsonl", description="For slabmark report and track", workloads=every
    )

    # A row of the table: method, three phases, open to close, its interval in % of it, rate, share of the upper bound, verified.
    row = (
        r"^(?P<method>[a-z0-9-]+)"
        + rf"(?:\s+{NUMBER})" * 3
        + rf"\s+(?P<seconds>{NUMBER})\s+(?P<low>[-+]{NUMBER})\s+(?P<high>[-+]{NUMBER})\s+(?P<rate>{NUMBER})"
        + rf"\s+(?P<share>-|bound|{NUMBER})\s+(?P<verified>\S.*?)\s*$"
    )
    figure_of_merit_context("method", regex=row, output_format="{method}")
    log_file = Expander.expansion_str("log_file")
    for group, units in {
        "seconds": "s",
        "low": "% of the seconds",
        "high": "% of the seconds",
        "rate": "MiB/s",
        "share": "% of the upper bound",
        "verified": "",
    }.items():
        figure_of_merit(group, log_file=log_file, fom_regex=row, group_name=group, units=units, contexts=["method"])

    success_criteria("ended", mode="string", match=r"Records appended to .*", file=log_file)
