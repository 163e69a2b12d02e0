"""Finds slow nodes, in two ways. Each has an exact probability under the hypothesis that all nodes are alike, and needs no
assumption on the noise; all searches of a result together blame a node that is like the others at most once in 20 times.

By seconds: `slabmark probe` tells of each launch how long each node took, for messages to others and for a file of its own. A launch
ranks its nodes. If they are alike, each rank of each launch is as likely as any other, so the sum of a node's ranks has a known
distribution: the extreme rank sum test for outliers of Thompson and Willke (Biometrika 50, 1963), with Holm's correction for the
number of nodes (Scand. J. Statist. 6, 1979). Nodes that differ by a hundredth differ always, and nobody minds: a node is slow only if
it also takes longer than the others by the tolerance, in the median launch.

By limits: which host holds the slowest rank, launch after launch, while ranks move round the nodes. Launches of limits are
looked at, since their ranks write and read for themselves; where ranks wait for each other, the slowest is a matter of chance. A
launch names the host that was slowest in most of its trials. If all nodes are alike, it is one of its nodes by the share of
its ranks, so the number of launches that name a host is a sum of independent draws, whose exact distribution gives the
probability of at least so many (Bonferroni over hosts). It asks who was last, not by how much. If nodes have not moved, a slow
node is not to be told from a slow rank, and that is said.
"""

import collections
import dataclasses
import functools
import statistics as standard

import numpy

from slabmark import units

ALPHA = 0.05
TOLERANCE = 0.10  # by which a node may be slower than the others, unless the suite says otherwise
LIMIT, MESSAGES, FILES = "limit", "messages", "file-a-node"  # the latter two as `slabmark probe` calls them
FEWEST = 3  # nodes: of two nobody knows which is the slow one


@dataclasses.dataclass(frozen=True)
class Slow:
    host: str
    by: str  # what told
    times: int  # launches that name it, or in which it took longer than the others by the tolerance
    launches: int  # in which it took part
    factor: float | None  # its seconds, or those of its slowest rank / those of a typical one
    probability: float  # of so many by chance, of any host
    is_node: bool  # False: it held the same ranks each time

    @property
    def words(self):
        chance = f"by chance so often once in {1 / self.probability:.3g} searches" if self.probability else "never so often by chance"
        times = f"{units.three_digits(self.factor)} times as long as" if self.factor else ""
        if self.by == LIMIT:
            what = (
                f"slow node: {self.host}"
                if self.is_node
                else f"slow node or rank: {self.host}, or what it did: it held the same ranks each time"
            )
            factor = f", {times} a typical rank" if times else ""
            return f"{what}: slowest in {self.times} of {self.launches} launches{factor} ({chance})"
        what = "messages" if self.by == MESSAGES else "a file of its own"
        return (
            f"slow node: {self.host}: {what} took {times} on other nodes; too long in {self.times} of {self.launches} launches "
            f"({chance})"
        )


@dataclasses.dataclass(frozen=True)
class Search:
    hosts: list
    launches: int  # that tell of several nodes
    slow: list
    factors: dict  # {messages or file-a-node: {host: its seconds / those of the others, in the median launch}}

    @property
    def is_possible(self):
        return len(self.hosts) > 1 and self.launches > 0

    @property
    def slow_nodes(self):
        """Names, each once."""
        return list(dict.fromkeys(one.host for one in self.slow if one.is_node))


@dataclasses.dataclass(frozen=True)
class _Launch:
    shares: dict  # of the ranks, by host
    order: tuple  # hosts from the lowest rank on
    slowest: str
    factor: float | None


def search(records, tolerance=TOLERANCE):
    """Of the records of an acceptance. Those on one node tell nothing."""
    named = _named_by_limits(records)
    suspects = [(_by_limits(named), len(named))] if named else []
    hosts, factors = {host for one in named for host in one.order}, {}
    for by in (MESSAGES, FILES):
        if timed := [seconds for record in records if record.method == by and (seconds := _seconds_of(record))]:
            found, factors[by] = _by_seconds(by, timed, tolerance)
            suspects.append((found, len(timed)))
            hosts.update(*timed)
    slow = [dataclasses.replace(one, probability=one.probability * len(suspects)) for found, _ in suspects for one in found]
    slow = sorted((one for one in slow if one.probability < ALPHA), key=lambda one: one.probability)
    return Search(sorted(hosts), sum(count for _, count in suspects), slow, factors)


def _seconds_of(record):
    """{host: median seconds of a launch}, or nothing if it tells of too few nodes."""
    of_nodes = record.effective.get("of_nodes")
    if not of_nodes or record.is_bound:
        return {}
    columns = collections.defaultdict(list)
    for trial in of_nodes["seconds"]:
        for host, seconds in zip(of_nodes["hosts"], trial):
            if seconds:
                columns[host].append(seconds)
    return {host: standard.median(values) for host, values in columns.items()} if len(columns) >= FEWEST else {}


def _by_seconds(by, launches, tolerance):
    """([Slow], {host: factor}) of [{host: seconds}]."""
    sums, sizes, factors = collections.Counter(), collections.defaultdict(list), collections.defaultdict(list)
    for launch in launches:
        ordered = numpy.sort(list(launch.values()))
        for host, seconds in launch.items():
            place = int(numpy.searchsorted(ordered, seconds))  # how many were faster
            others = numpy.delete(ordered, place)
            sums[host] += place
            sizes[host].append(len(ordered))
            factors[host].append(seconds / numpy.median(others))
    chances = {host: float(_tail(tuple(sorted(sizes[host])))[sums[host]]) for host in sums}
    typical = {host: float(numpy.median(factors[host])) for host in sums}
    slow = []
    for host, probability in _holm(chances).items():
        if typical[host] > 1 + tolerance:
            times = int(sum(factor > 1 + tolerance for factor in factors[host]))
            slow.append(Slow(host, by, times, len(factors[host]), typical[host], probability, True))
    return slow, dict(sorted(typical.items(), key=lambda item: -item[1]))


@functools.cache
def _tail(sizes):
    """[s] -> the probability that the places, from 0, in launches of so many nodes have a sum of s or more."""
    exactly = numpy.ones(1)
    for size in sizes:
        exactly = numpy.convolve(exactly, numpy.full(size, 1 / size))
    return numpy.minimum(exactly[::-1].cumsum()[::-1], 1.0)


def _holm(chances):
    """Probabilities of any of them by chance, the least first."""
    adjusted, least = {}, 0.0
    for number, (host, chance) in enumerate(sorted(chances.items(), key=lambda item: item[1])):
        least = max(least, min(1.0, chance * (len(chances) - number)))
        adjusted[host] = least
    return adjusted


def _named_by_limits(records):
    by_launch = collections.defaultdict(list)
    for record in records:
        if record.is_bound and record.measured and len(record.manifest.get("hosts", [])) > 1:
            by_launch[record.study.get("cell_id"), record.study.get("launch"), record.manifest.get("started")].append(record)
    return [found for same in by_launch.values() if (found := _launch(_independent(same)))]


def _by_limits(launches):
    hosts = sorted({host for one in launches for host in one.order})
    slow = []
    for host in hosts:
        probability = min(1.0, _chance(host, launches) * len(hosts))
        named = [one for one in launches if one.slowest == host]
        places = {one.order.index(host) for one in launches if host in one.order}
        factors = [one.factor for one in named if one.factor]
        part = sum(host in one.order for one in launches)
        factor = standard.median(factors) if factors else None
        slow.append(Slow(host, LIMIT, len(named), part, factor, probability, len(places) > 1))
    return slow


def _independent(same):
    """Of the limits of a launch those whose ranks never wait for each other: MPI-IO opens and syncs files together."""
    return [record for record in same if record.method == "posix"] or same


def _launch(same):
    hosts = {host["name"]: host.get("ranks", 1) for host in same[0].manifest["hosts"]}
    trials = [trial for record in same for trial in record.measured]
    factors = collections.defaultdict(list)  # by host, of the trials in which it was slowest
    for trial in trials:
        known = trial.slowest_seconds and trial.typical_seconds
        factors[trial.slowest_host].append(trial.slowest_seconds / trial.typical_seconds if known else 0.0)
    # Among hosts that are named equally often, the one further from the others: this favors no node by its name.
    slowest = max(factors, key=lambda host: (len(factors[host]), max(factors[host])))
    if slowest not in hosts:
        return None
    ranks = sum(hosts.values())
    shares = {host: count / ranks for host, count in hosts.items()}
    return _Launch(shares, tuple(hosts), slowest, standard.median(factors[slowest]) or None)


def _chance(host, launches):
    """The probability that so many launches or more name the host, if its share of the ranks decides."""
    times = sum(one.slowest == host for one in launches)
    exactly = [1.0]  # probability of 0, 1, ... names after the launches so far
    for share in (one.shares[host] for one in launches if host in one.shares):
        grown = [*(value * (1 - share) for value in exactly), 0.0]
        exactly = [value + (exactly[count - 1] * share if count else 0.0) for count, value in enumerate(grown)]
    return sum(exactly[times:])
