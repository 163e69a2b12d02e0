"""The distributed file systems that a cluster can have, by name. Each has a `folder` that all nodes and the head see, and kills and
starts the server on a node."""

import os
import shutil

from glusterfs import GlusterFS
from moosefs import MooseFS

KINDS = {"MooseFS": MooseFS, "GlusterFS": GlusterFS}


def missing(kind):
    """Why there can be none of that kind here; empty: it can."""
    for program in KINDS[kind].PROGRAMS:
        if not shutil.which(program):
            return f"there is no '{program}' (setup/prepare cluster)"
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"/dev/fuse cannot be opened: {error.strerror}"
    return ""


_made = {}


def of(cluster, kind):
    """That of a cluster, made when it is first asked for."""
    if (cluster, kind) not in _made:
        _made[cluster, kind] = KINDS[kind](cluster)
    return _made[cluster, kind]
