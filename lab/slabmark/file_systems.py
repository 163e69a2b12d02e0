"""What to set on a parallel file system before large files are made that many ranks write, and where that is written.

To add one: its type, as the table of mounts names it, and a row in docs/reference/lab.md.
"""

import dataclasses
import shlex


@dataclasses.dataclass(frozen=True)
class Setting:
    line: str  # for a shell, with {folder} and {servers}
    reason: str
    source: str


SETTINGS = {
    "lustre": [
        Setting(
            "lfs setstripe -c {servers} -S 1M {folder}   # or -c -1 where there are fewer targets",
            "The rearranged methods write with up to 4 ranks per node, each of them whole stripes, in a multiple of their number. "
            "They ask the file for its stripes themselves.",
            "https://doc.lustre.org/lustre_manual.xhtml#managingstripingfreespace",
        )
    ],
    "gpfs": [
        Setting(
            "stat -c %o {folder}   # the size of a block, which only a new file system can change",
            "Nodes that write the same block wait for each other; the rearranged methods begin at blocks by themselves.",
            "F. Schmuck, R. Haskin: GPFS, FAST 2002, section 3.2; https://www.usenix.org/legacy/events/fast02/schmuck.html",
        )
    ],
    "beegfs": [
        Setting(
            "beegfs-ctl --setpattern --numtargets={servers} --chunksize=1M {folder}   # from 8 on: beegfs entry set",
            "As many targets as ranks write. MPI-IO does not tell the chunk: add --set pnetcdf.align=1M (or hdf5., mpiio.).",
            "https://doc.beegfs.io/latest/advanced_topics/striping.html",
        )
    ],
}


def advice(manifest, folder):
    """Lines for the folder of a manifest's output; empty where nothing is known of its file system."""
    servers = 4 * max(1, len(manifest.get("hosts") or []))
    kind = (manifest.get("output") or {}).get("type") or ""
    return [
        f"On {kind}, before large files are made:\n    {setting.line.format(folder=shlex.quote(str(folder)), servers=servers)}\n"
        f"    {setting.reason}\n    Source: {setting.source}"
        for setting in SETTINGS.get(kind, [])
    ]
