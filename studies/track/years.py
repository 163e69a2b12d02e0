"""Simulated years of nightly runs: logarithms of seconds, a row a night and a column a launch. Everything follows from a seed."""

import numpy

LAUNCHES = 6
NOISE = 0.05  # standard deviation of the logarithms of the launches of a night
NIGHTS = 365


def _launches(generator, nights):
    return generator.normal(0, NOISE, (nights, LAUNCHES))


def _stragglers(generator, nights):
    """One launch in twenty takes 1.2 to 3 times as long."""
    slow = generator.random((nights, LAUNCHES)) < 0.05
    return _launches(generator, nights) + slow * numpy.log(generator.uniform(1.2, 3, (nights, LAUNCHES)))


def _nights(share, degrees=None):
    """All launches of a night share a deviation: normal, or as heavy in its tails as Student's t of few degrees."""

    def made(generator, nights):
        if degrees is None:
            own = generator.normal(0, 1, nights)
        else:
            own = generator.standard_t(degrees, nights) / numpy.sqrt(degrees / (degrees - 2))
        return _stragglers(generator, nights) + share * own[:, None]

    return made


def _outliers(share, night):
    """So many nights take 1.2 to 2 times as long."""

    def made(generator, nights):
        odd = generator.random(nights) < share
        return night(generator, nights) + (odd * numpy.log(generator.uniform(1.2, 2, nights)))[:, None]

    return made


def _weekly(depth, night):
    """Weekends are faster."""

    def made(generator, nights):
        weekend = (numpy.arange(nights) + generator.integers(7)) % 7 >= 5
        return night(generator, nights) - (depth * weekend)[:, None]

    return made


def _backups(generator, nights):
    """One night of the week takes 1.5 times as long."""
    night = (numpy.arange(nights) + generator.integers(7)) % 7 == 0
    return _nights(0.01)(generator, nights) + (night * numpy.log(1.5))[:, None]


def _alike(generator, nights):
    """A night is half like the one before."""
    own = generator.normal(0, 0.02, nights)
    for night in range(1, nights):
        own[night] = 0.5 * own[night - 1] + numpy.sqrt(0.75) * own[night]
    return _launches(generator, nights) + own[:, None]


def _drift(a_year):
    def made(generator, nights):
        return _nights(0.01)(generator, nights) + (numpy.log(1 + a_year) * numpy.arange(nights) / NIGHTS)[:, None]

    return made


# By name. In all of the first group nothing lasting happens.
STEADY = {
    "launches 5 %": _launches,
    "and stragglers": _stragglers,
    "and nights 1 %": _nights(0.01),
    "and nights 2 %": _nights(0.02),
    "heavy tails": _outliers(0.01, _nights(0.01, degrees=3)),
    "3 % outlier nights": _outliers(0.03, _nights(0.01)),
    "weekends 5 % faster": _weekly(0.05, _nights(0.01)),
    "a slow night a week": _backups,
    "nights half alike": _alike,
}
DRIFTING = {"drift 5 % a year": _drift(0.05), "drift 20 % a year": _drift(0.2)}


def nightly(launches):
    """Logarithms of the nights' values, as `slabmark track` takes them."""
    return numpy.log(numpy.median(numpy.exp(launches), axis=1))


def year(kind, seed, steps=(), nights=NIGHTS):
    """Nightly logarithms; `steps`: (night, ratio) from which on all takes `ratio` times as long."""
    generator = numpy.random.default_rng(seed)
    values = nightly((STEADY | DRIFTING)[kind](generator, nights))
    for night, ratio in steps:
        values[night:] += numpy.log(ratio)
    return values
