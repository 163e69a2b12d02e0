"""What the words of a report mean, for a reader who has never seen one. docs/explanation/measurement.md tells more."""

from slabmark import terms

PHASES = terms.PHASES | {"overhead": terms.hint("trial", "overhead")}

COLUMNS = {
    "cell": "a method under certain settings and conditions; its trials take turns with those of the other cells",
    "trial": "one pass of a pattern through a method on fresh files; a warm-up trial before them is not counted",
    "open to close": terms.hint("summary", "open_to_close"),
    "95 % interval": terms.hint("over_trials", "high"),
    "rate": terms.hint("rate", "median"),
    "of the limit": terms.hint("bound", "share"),
    "transfer": terms.hint("summary", "transfer"),
    "imbalance": terms.hint("over_ranks", "imbalance"),
    "verified": terms.hint("verified", "state"),
}
