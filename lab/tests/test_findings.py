"""Rules: each is silent on a good record and speaks on the record that it is for."""

import pytest
from conftest import LAB, read_record, record
from slabmark import cells, findings
from test_doctor import WRONG

GOOD = {"bounds": [{"method": "posix", "bytes": 1 << 20, "seconds": 0.9, "share": 0.9}]}
STEADY = [1.0, 1.001, 1.002, 1.003, 1.004, 1.005, 1.006, 1.007]
CLOCK = {"rank": 1, "host": "n1", "rate": 2.0, "against": "its realtime clock"}
BAD = {
    "slow-mpi-io": {"manifest__mpi_io": "OMPIO"},
    "overlaps-fail": {"manifest__mpi_io_faults": ["collective-overlaps"]},
    "clocks-disagree": {"manifest__clocks": {"disagreement": CLOCK}},
    "order-matters": {"pattern__settings": {"rewritten_elements": "40"}},
    "memory-file-system": {"manifest__output": {"type": "tmpfs"}},
    "layered-file-system": {"manifest__output": {"type": "overlay"}},
    "incoherent-file-system": {"manifest__output": {"type": "nfs4"}},
    "one-stripe": {
        "manifest__output": {"type": "lustre", "lustre": {"striping": "lmm_stripe_count:  1\nlmm_stripe_size: 1048576"}}
    },
    "more-ranks-than-cores": {"manifest__ranks_per_node": {"min": 9, "max": 9}},
    "unoptimised-build": {"manifest__program": {"name": "slabmark-bench", "build_type": "Debug"}},
    "not-verified": {"verified": {"state": "no", "mismatch": "element 3"}},
    "collective-was-not": {
        "settings": {"options": {"hdf5.collective": "on"}},
        "effective": {"no_collective_cause": ["datatype conversion"]},
    },
    "setting-not-in-effect": {"effective": {"notes": ["The hint x is not in effect."]}},
    "hint-was-needed": {"effective": {"added_hints": {"romio_ds_write=disable": "In some calls a rank has nothing."}}},
    "program-may-lose-data": {"effective": {"lacks_hint": "romio_ds_write=disable"}, "manifest__mpi_io": "ROMIO"},
    "ranks-disagree": {"differences": [{"path": "/hints/cb_nodes", "rank": 1, "value": "2"}]},
    "fill-written-twice": {"settings": {"options": {"hdf5.fill": "alloc"}}},
    "chunk-mismatch": {"effective": {"layout": {"chunked": 1}, "storage_bytes": 2 << 20}},
    "tiny-requests": {
        "pattern__requests": {"total": 1 << 19, "max": 1, "min": 1},
        "effective": {"calls": {"H5Dwrite": 1 << 18}},
    },
    "far-from-limit": {"bounds": [{"method": "posix", "bytes": 1, "seconds": 0.01, "share": 0.01}]},
    "page-cache": {"sync": False},
    "warm-reads": {"direction": "read", "cache": "warm"},
}


def codes(seconds=STEADY, **more):
    made = read_record(record(seconds, **(GOOD | more)))
    [load] = cells.workloads([made])
    return {finding.code for finding in findings.of_cell(load.cells[0])}


def test_a_good_record_raises_nothing():
    assert codes() == set()


@pytest.mark.parametrize("code", BAD)
def test_a_rule_speaks_on_what_it_is_for(code):
    assert code in codes(**BAD[code])


def test_hints_of_romio_are_not_missed_where_ompio_is_in_effect():
    assert "program-may-lose-data" not in codes(**BAD["program-may-lose-data"] | {"manifest__mpi_io": "OMPIO"})


def test_rules_about_trials_look_at_all_of_them():
    assert "few-trials" in codes([1.0, 1.0])
    assert "noisy" in codes([1.0, 1.5, 2.0, 1.2, 0.8, 1.9, 1.1])
    assert "outliers" in codes([*STEADY, 50.0])
    uneven = record(STEADY, **GOOD)
    for trial in uneven["trials"]:
        trial["busy"]["imbalance"], trial["overhead"] = 2.0, 0.5
    [load] = cells.workloads([read_record(uneven)])
    assert {"unbalanced", "overhead"} <= {finding.code for finding in findings.of_cell(load.cells[0])}


def test_ranks_that_wait_for_a_core_are_not_called_synchronisation():
    shared = record(STEADY, **GOOD)
    for trial in shared["trials"]:
        trial["overhead"], trial["agreements"] = 0.5, 0.01
    [load] = cells.workloads([read_record(shared)])
    assert "overhead" not in {finding.code for finding in findings.of_cell(load.cells[0])}


@pytest.mark.long
def test_launches_that_differ_are_noticed_and_equal_ones_are_not():
    def told(levels):
        made = [
            read_record(record([level, level * 1.01, level * 0.99], started=f"2026-01-0{day}T00:00:00Z", **GOOD))
            for day, level in enumerate(levels, start=1)
        ]
        [load] = cells.workloads(made)
        return "launches-differ" in {finding.code for finding in findings.of_cell(load.cells[0])}

    assert told([1.0, 1.3, 0.8, 1.1]) and not told([1.0, 1.001, 0.999, 1.0])


def test_every_rule_has_a_case_here_and_a_row_in_the_documentation():
    cases = BAD.keys() | WRONG.keys() | {"few-trials", "noisy", "launches-differ", "outliers", "unbalanced", "overhead"}
    assert findings.REMEDIES.keys() == cases
    documentation = (LAB.parent / "docs/reference/lab.md").read_text()
    assert [code for code in cases if f"`{code}`" not in documentation] == []
