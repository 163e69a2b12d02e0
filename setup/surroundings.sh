# Sourced by the scripts of setup/: where things are kept, and what the machine has.

unset PYTHONIOENCODING  # an unknown one would look like a Python that is too old
HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d : -f 6 || true)}
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${SLABMARK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slabmark}

say() { printf 'slabmark: %s\n' "$*" >&2; }
give_up() { say "$*"; exit 2; }

[[ $cache = /* ]] || { cache=$PWD/$cache; export SLABMARK_CACHE=$cache; }
[ -z "${TMPDIR:-}" ] || { [ -d "$TMPDIR" ] && [ -w "$TMPDIR" ]; } ||
  give_up "TMPDIR names '$TMPDIR', which is no folder that may be written: correct or unset it"

# Makes the folder that all checkouts share.
make_cache() {
  mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] ||
    give_up "'$cache', where HDF5 and the Python environment are kept, cannot be written: name another folder by SLABMARK_CACHE=..."
}

# take_lock <words>: the lock of descriptor 9; the words are said before it is waited for. A file system may have no locks, which
# flock tells from a held one by its status alone.
take_lock() {
  local status=0
  flock -n -E 75 9 2>/dev/null || status=$?
  case $status in
    0) ;;
    75) say "$1" && flock 9 ;;
    *) say "'$cache' is on a file system without locks, so two builds at once cannot be told apart there: start one at a time" ;;
  esac
}

# Tests start programs that they have made, which a folder mounted with noexec, as /tmp is on some clusters, does not run.
take_tmpdir_that_runs_programs() {
  local probe
  probe=$(mktemp "${TMPDIR:-/tmp}/slabmark-runs.XXXXXX") || give_up "'${TMPDIR:-/tmp}' cannot be written: name another folder by TMPDIR=..."
  printf '#!/bin/sh\n' >"$probe"
  chmod +x "$probe"
  if ! "$probe" 2>/dev/null; then
    export TMPDIR=$checkout/build/tmp
    mkdir -p "$TMPDIR"
    say "no program can be started in '$(dirname "$probe")' (noexec); the tests take $TMPDIR"
  fi
  rm -f "$probe"
}

# version_at_least 3.25.1 3.26 -> false
version_at_least() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

# first_new_enough 1.85 cargo /usr/bin/cargo -> the first of the programs that runs and is at least of that version
first_new_enough() {
  local needed=$1 program version
  shift
  for program in "$@"; do
    version=$("$program" --version 2>/dev/null | grep -oE -m 1 '[0-9]+\.[0-9]+(\.[0-9]+)?' | head -n 1) || continue
    version_at_least "$version" "$needed" && command -v "$program" && return
  done
  return 1
}

# The crate with the source of HDF5 is of Rust's edition 2024, which older ones cannot read.
needed_cargo=1.85
# Ubuntu has newer ones beside its own, each under a name with its version.
new_enough_cargo() { first_new_enough "$needed_cargo" cargo "$HOME/.cargo/bin/cargo" /usr/bin/cargo /usr/bin/cargo-1.*; }

# A CMake of at least this version: the system's, else the one of our Python environment.
find_cmake() {
  local environment
  first_new_enough "$1" cmake cmake3 && return
  environment=$("$checkout/setup/python-env" cmake) || return
  echo "$environment/bin/cmake"
}

# A Ninja: the system's, else the one of our Python environment; fails if there is none, and then make does.
find_ninja() {
  local environment
  command -v ninja || command -v ninja-build && return
  [ -z "${SLABMARK_PYTHON:-}" ] && environment=$("$checkout/setup/python-env" cmake 2>/dev/null) && [ -x "$environment/bin/ninja" ] &&
    echo "$environment/bin/ninja"
}

# "openmpi-4.1.4", from the mpi.h that the compiler wrapper sees; a wrapper's own --version is the compiler's.
mpi_identity() {
  printf '#include <mpi.h>\n' | "$1" -E -dM -x c - 2>/dev/null | awk '
    { gsub(/"/, "") }
    $2 == "OMPI_MAJOR_VERSION" { major = $3 }
    $2 == "OMPI_MINOR_VERSION" { minor = $3 }
    $2 == "OMPI_RELEASE_VERSION" { release = $3 }
    $2 == "MPICH_VERSION" { mpich = $3 }
    $2 == "MVAPICH2_VERSION" { mvapich = $3 }
    $2 == "I_MPI_VERSION" { intel = $3 }
    $2 == "MPI_ABI_VERSION" { abi = $3 }
    END {
      if (major != "") print "openmpi-" major "." minor "." release
      else if (intel != "") print "intelmpi-" intel
      else if (mvapich != "") print "mvapich2-" mvapich
      else if (mpich != "") print "mpich-" mpich
      else if (abi != "") print "mpi-abi-" abi
      else exit 1
    }'
}

# "gcc-12"
compiler_identity() {
  printf '\n' | "$1" -E -dM -x c - 2>/dev/null | awk '
    $2 == "__clang_major__" { clang = $3 }
    $2 == "__GNUC__" { gnu = $3 }
    END { print clang != "" ? "clang-" clang : gnu != "" ? "gcc-" gnu : "cc" }'
}
