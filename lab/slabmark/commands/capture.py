"""The command line of `slabmark capture`."""

from slabmark.commands import options
from slabmark.commands.parsing import Choice, Command, Flag, Option, TrailingCommand

LEVELS = ("pnetcdf", "hdf5", "mpiio", "posix")

COMMAND = Command(
    "capture",
    "slabmark.capture:main",
    "Record a program's calls of its I/O libraries as a pattern",
    "Runs a program and records what it asks of its I/O libraries in a pattern file, which 'slabmark bench captured' and 'slabmark "
    "advise' read. The exit status is that of the command. For example:\n\nslabmark capture -o run.pattern -- mpiexec -n 4 ./model\n\nWithout this "
    "command, set SLABMARK_CAPTURE=run.pattern for all ranks and preload the libraries that 'slabmark capture --show' names. Then run "
    "'slabmark capture --merge run.pattern.parts'.",
    [
        options.output("the pattern (default run.pattern)"),
        Option("--merge", "SPOOL", "Make the pattern file of a directory that captured programs left"),
        Option(
            "--intercept", "LIST", f"Libraries to intercept, of {', '.join(LEVELS)} (default: all that are built)", retired=["--levels"]
        ),
        Option(
            "--posix",
            "WORD",
            "Record what is moved without a library: on, off, or auto: where nothing is moved through one",
            Choice(["on", "off", "auto"]),
            default="auto",
        ),
        Option("--only-files", "GLOBS", "Without a library, only files whose path one of GLOB:GLOB... matches", retired=["--files"]),
        Option("--run", "N", "Number of the launch to take, where there are several (with --merge)"),
        Flag("--anonymous", "Leave out the names of files, datasets, hosts and program"),
        Flag("--allow-missing", "Take ranks that left nothing for ranks that did nothing"),
        options.overwrite(", and what an earlier run left"),
        Flag("--keep-parts", "Leave the directory that the ranks wrote"),
        Flag("--show", "Print the variables that are set, and run nothing"),
        TrailingCommand("Program or script, or a launcher with one; launchers hand the variables on to other nodes"),
    ],
)
