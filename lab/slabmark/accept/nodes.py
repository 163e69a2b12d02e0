"""Finds slow nodes: which host holds the slowest rank, launch after launch, while ranks move round the nodes.

Launches of limits are looked at, since their ranks write and read for themselves; where ranks wait for each other, the slowest
is a matter of chance. A launch names the host that was slowest in most of its trials. If all nodes are alike, it is one of its
nodes by the share of its ranks, so the number of launches that name a host is a sum of independent draws, whose exact
distribution gives the probability of at least so many. That is a rank statistic: it asks who was last, not by how much, and
needs no assumption on the noise. Names that come too often for chance, of all hosts together at most once in 20 searches
(Bonferroni), are slow nodes. If nodes have not moved, a slow node is not to be told from a slow rank, and that is said.
"""

import collections
import dataclasses
import statistics as standard

ALPHA = 0.05


@dataclasses.dataclass(frozen=True)
class Slow:
    host: str
    times: int  # launches that name it
    launches: int  # in which it took part
    factor: float | None  # seconds of its slowest rank / those of a typical one
    probability: float  # of so many by chance, of any host
    is_node: bool  # False: it held the same ranks each time


@dataclasses.dataclass(frozen=True)
class Search:
    hosts: list
    launches: int  # that name a host
    slow: list

    @property
    def is_possible(self):
        return len(self.hosts) > 1 and self.launches > 0


@dataclasses.dataclass(frozen=True)
class _Launch:
    shares: dict  # of the ranks, by host
    order: tuple  # hosts from the lowest rank on
    slowest: str
    factor: float | None


def search(records):
    """Of the records of an acceptance. Those on one node tell nothing."""
    by_launch = collections.defaultdict(list)
    for record in records:
        if record.is_bound and record.measured and len(record.manifest.get("hosts", [])) > 1:
            by_launch[record.study.get("cell_id"), record.study.get("launch"), record.manifest.get("started")].append(record)
    launches = [found for same in by_launch.values() if (found := _launch(_independent(same)))]
    hosts = sorted({host for one in launches for host in one.order})
    chances = {host: _chance(host, launches) for host in hosts}
    slow = []
    for host in hosts:
        probability = min(1.0, chances[host] * len(hosts))
        if probability < ALPHA:
            named = [one for one in launches if one.slowest == host]
            places = {one.order.index(host) for one in launches if host in one.order}
            factors = [one.factor for one in named if one.factor]
            part = sum(host in one.order for one in launches)
            slow.append(Slow(host, len(named), part, standard.median(factors) if factors else None, probability, len(places) > 1))
    return Search(hosts, len(launches), sorted(slow, key=lambda one: one.probability))


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
    # Of hosts that are named as often, the one that is further from the others: a choice that favours no node by its name.
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
