"""The launchers of Open MPI and MPICH, which start their daemons on the nodes of a cluster through its agent."""

import os
import subprocess


class OpenMPI:
    daemon = "orted"

    def __init__(self, program):
        self.program = program

    def words(self, agent, nodes, ranks_per_node, by):
        """What comes before -n N. `by` node: neighbours in rank are on different nodes; slot: fill one after the other.
        Without `nodes` what follows says where ranks are."""
        options = {
            "plm": "rsh", "plm_rsh_agent": agent, "plm_rsh_no_tree_spawn": "1", "pml": "ob1",
            "btl": "tcp,vader,self", "btl_tcp_if_include": "198.18.0.0/24", "oob_tcp_if_include": "198.18.0.0/24",
            # All nodes share the cores of this machine, which Open MPI does not know.
            "mpi_yield_when_idle": "1", "orte_base_help_aggregate": "1",
        }
        words = [self.program, "--allow-run-as-root", "--bind-to", "none"]
        if nodes:
            words += ["--map-by", by, "--host", ",".join(f"{node.name}:{ranks_per_node}" for node in nodes)]
        for name, value in options.items():
            words += ["--mca", name, str(value)]
        return words

    def exported(self, environment):
        return [word for name, value in environment.items() for word in ("-x", f"{name}={value}")]

    def is_rank(self, environment):
        return b"OMPI_COMM_WORLD_RANK=" in environment


class MPICH:
    daemon = "hydra_pmi_proxy"

    def __init__(self, program):
        self.program = program

    def words(self, agent, nodes, ranks_per_node, by):
        # It goes round the hosts again when it has used all.
        slots = ranks_per_node if by == "slot" else 1
        # UCX, of which Debian's is made, and libfabric take the fastest network that they find: not one that nodes have.
        given = {"UCX_TLS": "tcp,sm,self", "UCX_NET_DEVICES": "eth0", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0"}
        # All nodes share the cores of this machine.
        given["LD_PRELOAD"] = f"{os.environ['SLABMARK_TESTS']}/libslabmark_yield_when_idle.so"
        words = [self.program, "-launcher", "rsh", "-launcher-exec", str(agent), "-bind-to", "none"]
        if nodes:
            words += ["-hosts", ",".join(f"{node.name}:{slots}" for node in nodes)]
        return [*words, *self.exported(given)]

    def exported(self, environment):
        return [word for name, value in environment.items() for word in ("-genv", name, str(value))]

    def is_rank(self, environment):
        return b"PMI_RANK=" in environment


def launcher(program):
    """The one that a program such as mpirun is."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    return MPICH(program) if "HYDRA" in said else OpenMPI(program)
