"""The program `slabmark`: what is put in order before the lab is loaded, which takes a while."""

import fcntl
import os
import signal
import sys


def main():
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the lab handles it: nothing is there to be cleaned yet
    _open_streams()
    from slabmark.command_line import main as of_lab

    return of_lab()


def _open_streams():
    """Those that were closed lead nowhere: the next file to be opened would take their place, and get what is printed. Bash
    has opened the script of our wrapper there, which nobody can write."""
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        wrong = os.O_WRONLY if mode == "r" else os.O_RDONLY
        if getattr(sys, name) is None or fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == wrong:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != descriptor:
                os.dup2(nowhere, descriptor)
                os.close(nowhere)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, mode, closefd=False))


if __name__ == "__main__":
    sys.exit(main())
