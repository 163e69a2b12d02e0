"""Words for results, and what they rest on. Help names them, so this module imports nothing."""

FASTER, SLOWER, SAME, INCONCLUSIVE = "faster", "slower", "same", "inconclusive"
MISSING = "missing"  # no verdict: a cell that was not compared, or not measured
PASS, FAIL = "pass", "fail"  # of a target that was agreed
INVALID, SLOW_NODE = "invalid", "slow-node"  # of a whole result

TOLERANCE = 0.05  # unless another is asked for: ratios up to it are called the same

# Members that must agree for the seconds of two cells to be comparable, by the name that --accept has for each.
CONDITIONS = {
    "pattern": lambda cell: (
        cell.bytes,
        cell.first.pattern.get("datasets"),
        cell.first.pattern.get("rounds"),
        cell.first.pattern["requests"]["total"],
    ),
    "ranks": lambda cell: cell.ranks,
    "nodes": lambda cell: cell.attributes["nodes"],
    "sync": lambda cell: cell.first.sync,
    "cache": lambda cell: cell.first.cache,
    "machine": lambda cell: (cell.first.manifest.get("cores"), cell.first.manifest.get("memory_bytes")),
    "file system": lambda cell: cell.attributes["file system"],
}
