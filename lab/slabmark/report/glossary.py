"""What the words of a report mean, for a reader who has never seen one. docs/measurement.md tells more."""

PHASES = {
    "create": "creates the file",
    "open": "opens a file to read and looks up what is in it",
    "define": "defines dimensions, datasets and attributes; the library may allocate and fill storage here",
    "prepare": "builds what the selections need: datatypes, unions of hyperslabs, argument lists, plans",
    "post": "hands the requests over; a blocking method moves its data here",
    "flush": "completes what was posted; a nonblocking method moves its data here",
    "sync": "makes the data durable (fsync), where that was asked for",
    "close": "closes the file",
    "overhead": "open to close less all phases: ranks that wait for a core, and the agreements between phases",
}

COLUMNS = {
    "cell": "a method under certain settings and conditions; its trials take turns with those of the other cells",
    "trial": "one pass of a pattern through a method on fresh files; a warm-up trial before them is not counted",
    "open to close": "median over the trials of the seconds from creation or opening until closed, slowest rank",
    "95 % interval": "holds the median with 95 % of confidence, whatever the distribution; of fewer than 6 trials, the range",
    "rate": "bytes that the ranks move / median seconds",
    "of the limit": "seconds of the limit / seconds of the cell; the limit moves the same bytes contiguously, beside the "
    "cell; where there are several, the fastest counts",
    "transfer": "prepare, post and flush",
    "imbalance": "seconds of the slowest rank / mean over the ranks; 1 is perfect",
    "verified": "whether every element was read back by another rank and compared, outside the times",
}
