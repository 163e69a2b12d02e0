"""The drop-in for PnetCDF: unchanged programs do with it what they do without it, only by plan.

SLABMARK_OTHER_PNETCDF=/opt/pnetcdf-1.15/lib/libpnetcdf.so preloads another PnetCDF than that of the build into all programs,
after the drop-in, which none of them then has linked in."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import typing

import pytest
from conftest import long, needs_pnetcdf

pytestmark = [pytest.mark.long, needs_pnetcdf]

built = pathlib.Path(os.environ["SLABMARK_BIN"]).parent
library = built / "lib/libslabmark_pnetcdf.so"
sanitized = bool(os.environ.get("SLABMARK_SANITIZERS"))
other_pnetcdf = os.environ.get("SLABMARK_OTHER_PNETCDF")


@pytest.fixture(autouse=True)
def without_a_search_for_leaks(monkeypatch):
    """Programs leave buffers, requests and files behind on purpose, and then PnetCDF does, and ROMIO at each opening."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")


@pytest.fixture(scope="session")
def run(run):
    if not other_pnetcdf:
        return run

    def start(program, args, **more):
        if program == "/usr/bin/env":  # with_dropin's
            return run(program, args, **more)
        return run("/usr/bin/env", [f"LD_PRELOAD={other_pnetcdf}", built / "bin" / program, *args], **more)

    return start


@pytest.fixture(scope="session")
def with_dropin(run):
    """with_dropin(program, args, ranks, ...): preloads the drop-in, or a list of libraries, where a program does not link it."""

    def start(program, args, ranks, preload=True, settings=(), **more):
        libraries = (preload if isinstance(preload, list) else [library]) if preload or other_pnetcdf else []
        if other_pnetcdf:
            program = str(program).removesuffix("_linked")
            libraries.append(other_pnetcdf)
        if libraries and sanitized:
            pytest.skip("the sanitizers must be the first library of a program")
        environment = ["SLABMARK_REPORT=1", *settings]
        if libraries:
            environment.append(f"LD_PRELOAD={':'.join(map(str, libraries))}")
        return run("/usr/bin/env", [*environment, built / "bin" / program, *args], ranks=ranks, launch=True, **more)

    return start


@pytest.fixture(scope="session")
def is_newer(pnetcdf_version):
    """Whether PnetCDF is newer than that of Debian 12, which differs in some answers."""
    return pnetcdf_version > (1, 12)


def reports(done):
    return [line for line in done.stderr.splitlines() if line.startswith("slabmark: ")]


def by_plan(done):
    """Collective calls by plan, of all files."""
    return sum(int(re.search(r"rearranged (\d+) calls", line)[1]) for line in reports(done))


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.fast
@pytest.mark.parametrize("ranks", [long(1), long(2), 4])
def test_e3sm_io_writes_the_same_bytes_with_it(run, with_dropin, tmp_path, ranks):
    maps = tmp_path / "f.nc"
    run("slabmark decomp", ["generate", "f", "--ne", "4", "--ranks", "16", "-o", maps]).check_returncode()
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    args = ["-q", maps, "-n", "3", "--keep", "--methods", "pnetcdf-varn,pnetcdf-vara", "-o"]
    done = run("e3sm_io", [*args, tmp_path / "without"], ranks=ranks)
    assert done.returncode == 0, done.stderr
    done = with_dropin("e3sm_io", [*args, tmp_path / "with"], ranks)
    assert done.returncode == 0, done.stderr
    assert by_plan(done) >= 2, done.stderr
    assert contents(tmp_path / "with") == contents(tmp_path / "without")


@pytest.fixture
def romio(monkeypatch):
    """Native runs differ from each other through OMPIO: what one rank wrote in independent mode another may read late
    (3 of 30 runs of seed 4 on 2 ranks), and what does not fit is lost without an error."""
    monkeypatch.setenv("OMPI_MCA_io", "^ompio")


def seeds(few=False):
    """First and last of a range. SLABMARK_DROPIN_SEEDS=7-300 tries others, SLABMARK_DROPIN_OPERATIONS=500 makes more of
    each. PnetCDF 1.12.3 has faults of its own that a seed may come upon."""
    first, _, last = os.environ.get("SLABMARK_DROPIN_SEEDS", "1-2" if few else "1-6").partition("-")
    return int(first), int(last or first)


# Ranks, and how many of them are a node of their own (0: all are on one).
@pytest.mark.parametrize("ranks, node_ranks", [(1, 0), (2, 0), (4, 0), (7, 0), (4, 1), (7, 3)])
def test_random_calls_return_read_and_write_the_same(run, with_dropin, tmp_path, romio, ranks, node_ranks):
    """Types, conversions, strides, maps, datatypes, records, errors, order; half of them with the library linked in."""
    random_calls(run, with_dropin, tmp_path, seeds(few=ranks > 4 or node_ranks > 0), ranks, node_ranks)


@pytest.mark.parametrize("ranks", [2, 4])
def test_random_collective_calls_do_the_same_through_whatever_mpi_io_there_is(run, with_dropin, tmp_path, ranks, pnetcdf_version):
    first, last = seeds(few=True)
    if ranks == 4 and pnetcdf_version == (1, 14):  # 1.14.1 itself reads a value of seed 2 through OMPIO that is not that of 1.12.3
        last = first
    random_calls(run, with_dropin, tmp_path, (first, last), ranks, 0, "collective")


def random_calls(run, with_dropin, folder, seeds, ranks, node_ranks, *more):
    operations = os.environ.get("SLABMARK_DROPIN_OPERATIONS", 60)
    first, last = seeds
    middle = first - 1 if sanitized else (first + last) // 2  # the last seed of those that are preloaded
    patience = 60 * (last - first + 1)
    done = run("pnetcdf_random", [f"{first}-{last}", operations, folder / "a.nc", folder / "a", *more], ranks=ranks, launch=True,
               timeout=patience)
    assert done.returncode == 0, done.stderr
    for linked, begin, end in ((False, first, middle), (True, middle + 1, last)):
        if begin > end:
            continue
        done = with_dropin("pnetcdf_random_linked" if linked else "pnetcdf_random",
                           [f"{begin}-{end}", operations, folder / "b.nc", folder / "b", *more], ranks, preload=not linked,
                           settings=[f"SLABMARK_DROPIN_NODE_RANKS={node_ranks}"], timeout=patience)
        assert done.returncode == 0, done.stderr
        assert reports(done), "it was not there"
    for seed in range(first, last + 1):
        for rank in range(ranks):
            expected = (folder / f"a.{seed}.{rank}").read_text().splitlines()
            got = (folder / f"b.{seed}.{rank}").read_text().splitlines()
            for number, (one, other) in enumerate(zip(expected, got)):
                assert one == other, f"seed {seed}, rank {rank}, line {number} of its log"
            assert len(expected) == len(got), f"seed {seed}, rank {rank}"
        a, b = (folder / f"a.nc.{seed}").read_bytes(), (folder / f"b.nc.{seed}").read_bytes()
        assert len(a) == len(b), f"seed {seed}"
        header = int(re.search(r"header (\d+)", (folder / f"a.{seed}.0").read_text())[1])
        assert a[:header] == b[:header], f"seed {seed}"


@pytest.mark.parametrize("ranks, node_ranks", [(3, 0), (4, 1)])
def test_programs_whose_order_matters_read_and_leave_what_is_right(run, with_dropin, romio, tmp_path, ranks, node_ranks):
    """Programs of pnetcdf_order.cpp, which knows what is right: the list of them, and random ones; by PnetCDF alone, too.
    SLABMARK_DROPIN_PROGRAMS=1000-10000 has the seeds of others."""
    first, _, last = os.environ.get("SLABMARK_DROPIN_PROGRAMS", "0-12").partition("-")

    def start(run_it, seed, *more):
        programs = int(last) + 1 - seed
        done = run_it("pnetcdf_order", [tmp_path / "a", seed, programs, *more], ranks=ranks)
        assert done.returncode == 0 and done.stdout == f"{programs} programs, 0 wrong\n", done.stdout + done.stderr
        return done

    for more in ([], ["overlaps"]):
        done = start(functools.partial(with_dropin, settings=[f"SLABMARK_DROPIN_NODE_RANKS={node_ranks}"]),
                     int(first) + len(more), *more)
        assert by_plan(done) > 30, "it was not there"
    if ranks == 3:
        start(run, int(first))


def test_memory_that_one_rank_lacks_is_an_error_code_on_all(with_dropin, tmp_path):
    if sanitized:
        pytest.skip("the sanitizers need all addresses")
    done = with_dropin("pnetcdf_cases_linked", ["memory", tmp_path / "a"], 3, preload=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: NC_ENOMEM NC_ENOMEM, then NC_NOERR" for rank in range(3)]


def test_however_little_memory_a_rank_has_no_call_hangs_and_the_file_goes_on(with_dropin, tmp_path, romio):
    if sanitized:
        pytest.skip("the sanitizers have an operator new of their own")
    ranks = 3
    done = with_dropin("pnetcdf_short_memory", [tmp_path / "a"], ranks, preload=False, timeout=60)
    assert done.returncode == 0, done.stderr
    amounts = {}
    for line in done.stdout.splitlines():
        rank, kib, codes = re.fullmatch(r"rank (\d): (\d+) KiB: (.*) wrong 0 close NC_NOERR", line).groups()
        amounts.setdefault(int(kib), {})[int(rank)] = re.findall(r"NC_\w+", codes)
    assert len(amounts) == 14
    for kib, codes in amounts.items():
        assert len(codes) == ranks and {code for each in codes.values() for code in each} <= {"NC_NOERR", "NC_ENOMEM"}
        for together in (1, 2):  # a wait and a blocking call by plan
            assert {each[together] for each in codes.values()} == {"NC_ENOMEM" if kib < 1024 else "NC_NOERR"}, kib
        assert {each[5] for each in codes.values()} == {"NC_NOERR"}, "another file, which is PnetCDF's"
    assert amounts[0][ranks - 1][0] == amounts[0][ranks - 1][4] == "NC_ENOMEM", "a post, and one that is handed over"
    assert done.stdout.count(" left 0 native ") == done.stdout.count(" left 0 another ") == 14 * ranks, done.stdout


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("ends", ["file size limit", "full disk"])
def test_a_file_that_may_not_grow_is_an_error_code_on_all_ranks(run, with_dropin, tmp_path, file_size_limit, small_disk, romio,
                                                                ranks, ends, is_newer):
    before = file_size_limit if ends == "file size limit" else small_disk(tmp_path)
    done = run("pnetcdf_cases", ["limit", tmp_path / "a"], ranks=ranks, launch=True, preexec_fn=before)
    native = set(re.findall(r"rank \d: (NC_\w+)", done.stdout)) - {"NC_NOERR"}
    done = with_dropin("pnetcdf_cases_linked", ["limit", tmp_path / "b"], ranks, preload=False, preexec_fn=before)
    lines = re.findall(r"rank \d: (NC_\w+) (NC_\w+)", done.stdout)
    assert len(lines) == ranks and len(set(lines)) == 1, done.stdout + done.stderr
    if is_newer and native in ({"NC_EFILE"}, {"NC_ENO_SPACE"}):
        native = {"NC_EWRITE"}  # what ROMIO says, and not the driver GIO of 1.15
    assert native and set(lines[0]) == native, (lines, native)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_disk_that_is_full_at_any_call_is_the_same_code_on_all_ranks_and_no_hang(with_dropin, tmp_path, small_disk, romio, ranks):
    done = with_dropin("pnetcdf_cases_linked", ["small disk", tmp_path / "a"], ranks, preload=False, preexec_fn=small_disk(tmp_path))
    assert done.returncode == 0, done.stderr
    failed = {(int(kib), int(calls)) for kib, calls in re.findall(r"rank \d: (\d+) KiB: (\d+) failed, 0 differ", done.stdout)}
    assert done.stdout.count("0 differ") == 5 * ranks and len({kib for kib, _ in failed}) == 5, done.stdout
    assert all((calls > 0) == (kib < 120) for kib, calls in failed if kib != 120), done.stdout


def test_a_rank_that_dies_ends_the_others_and_leaves_what_was_synchronized(run, with_dropin, was_killed, tmp_path, romio):
    done = with_dropin("pnetcdf_cases_linked", ["killed", tmp_path / "a"], 3, preload=False)
    assert was_killed(done), done.stderr
    done = run("pnetcdf_cases", ["survives", tmp_path / "a"], ranks=2, launch=True)
    assert sorted(done.stdout.splitlines()) == ["rank 0: 0 wrong of 60", "rank 1: 0 wrong of 60"], done.stderr


def test_a_put_out_of_range_takes_those_of_its_variable_along_and_no_others(run, with_dropin, tmp_path):
    native = run("pnetcdf_cases", ["range of the same", tmp_path / "a"], ranks=2, launch=True)
    done = with_dropin("pnetcdf_cases_linked", ["range of the same", tmp_path / "b"], 2, preload=False)
    of_native, of_done = native.stdout.split(), done.stdout.split()
    assert of_done[:4] == of_native[:4] == ["NC_ERANGE", "pending", "4", "pending"], done.stderr
    assert of_done[4:14] == of_native[4:14], "rank 0, which has the value, in PnetCDF's order"
    assert by_plan(done) == 1 and "values out of range" in done.stderr, done.stderr
    done = with_dropin("pnetcdf_cases_linked", ["range", tmp_path / "b"], 2, preload=False)
    assert done.stdout.split() == ["NC_ERANGE", "pending", "4", "pending",
                                   *2 * [*3 * ["10"], "20", "20", "30", "20", *3 * ["10"]]], done.stderr
    assert by_plan(done) == 1 and "values out of range" in done.stderr, done.stderr


def test_an_infinity_costs_its_own_variable_alone_and_has_the_codes_of_pnetcdf(run, with_dropin, tmp_path, romio):
    ranks = 3
    native = run("pnetcdf_cases", ["infinite", tmp_path / "a"], ranks=ranks, launch=True)
    done = with_dropin("pnetcdf_cases_linked", ["infinite", tmp_path / "b"], ranks, preload=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(native.stdout.splitlines())
    assert done.stdout.count("NC_ERANGE") == 6 and done.stdout.count(" 0 wrong") == ranks
    assert re.search(r"rearranged (\d+) calls, (\d+) put requests", done.stderr)[2] == str(5 * (4 * ranks - 1)), "all but those of a bput"


def test_a_buffer_may_be_used_again_where_pnetcdf_copies_and_is_told_of_where_it_does_not(with_dropin, tmp_path):
    def puts(setting):
        done = with_dropin("pnetcdf_cases_linked", ["reused", tmp_path / "a"], 2, preload=False,
                           settings=[f"SLABMARK_DROPIN_COPY={setting}"] if setting else [])
        assert done.returncode == 0, done.stderr
        right = {line.split(": ")[1] for line in done.stdout.splitlines() if line.endswith(" 0 wrong")}
        wrong = {line.split(": ")[1] for line in done.stdout.splitlines()} - right
        return wrong, done.stderr.count("the memory of a put of 'e' was changed before ncmpi_wait_all")

    assert puts(None) == ({"large put 0"}, 1)
    assert puts("always") == puts("allways") == (set(), 0), "a misspelled word is the safe one"
    assert puts("never") == ({f"{size} put {number}" for size in ("small", "large") for number in range(3)}, 0)


def test_an_element_that_is_moved_twice_in_a_wait_counts_as_in_pnetcdf(run, with_dropin, tmp_path, romio):
    native = run("pnetcdf_cases", ["twice", tmp_path / "a"], ranks=2, launch=True)
    done = with_dropin("pnetcdf_cases_linked", ["twice", tmp_path / "b"], 2, preload=False)
    assert sorted(done.stdout.splitlines()) == sorted(native.stdout.splitlines()), done.stderr
    assert by_plan(done) == 6, done.stderr


@pytest.mark.fast
def test_the_same_boxes_again_are_known_again_and_changed_ones_are_not_taken_for_them(run, with_dropin, tmp_path):
    run("pnetcdf_cases", ["again", tmp_path / "a"], ranks=2, launch=True).check_returncode()
    done = with_dropin("pnetcdf_cases_linked", ["again", tmp_path / "b"], 2, preload=False)
    assert done.returncode == 0 and by_plan(done) == 24, done.stderr
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_calls_of_few_pieces_are_seldom_asked_about_and_others_still_found(run, with_dropin, tmp_path):
    run("pnetcdf_cases", ["seldom", tmp_path / "a"], ranks=2, launch=True).check_returncode()
    done = with_dropin("pnetcdf_cases_linked", ["seldom", tmp_path / "b"], 2, preload=False)
    # Of the 40 calls with work at most 31 go unasked after the 40 without.
    assert done.returncode == 0 and 40 - 31 <= by_plan(done) < 40, done.stderr
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("case", ["records", "holes"])
def test_one_plan_serves_all_records_and_the_next_file(run, with_dropin, tmp_path, case):
    done = run("pnetcdf_cases", [case, tmp_path / "a"], ranks=3, launch=True)
    assert done.returncode == 0, done.stderr
    expected = sorted(done.stdout.splitlines())
    done = with_dropin("pnetcdf_cases_linked", [case, tmp_path / "b"], 3, preload=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == expected == sorted(2 * [f"rank {rank}: 5 records, 0 wrong" for rank in range(3)])
    counts = [re.search(r"rearranged (\d+) calls.*Plans: (\d+) made.* (\d+) used again", line).groups()
              for line in reports(done)]
    assert counts == [("5", "1", "4"), ("0", "0", "0"), ("5", "0", "5"), ("0", "0", "0")]
    assert all(" 5 file calls" in line for line in reports(done) if "rearranged 5" in line), "holes of new records are filled"
    for number in range(2 if case == "records" else 0):  # what holes hold is open
        assert (tmp_path / f"a{number}").read_bytes() == (tmp_path / f"b{number}").read_bytes()


def test_it_works_in_a_folder_whose_path_is_too_long_for_ompio(with_dropin, tmp_path, monkeypatch):
    """OMPIO crashes on paths of more than 230 bytes; the program's own is short."""
    monkeypatch.setenv("OMPI_MCA_io", "ompio")
    folder = tmp_path / ("d" * 120) / ("e" * 120)
    folder.mkdir(parents=True)
    done = with_dropin("pnetcdf_cases_linked", ["records", "a"], 2, preload=False, cwd=folder)
    assert done.returncode == 0 and by_plan(done) == 10, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(2 * [f"rank {rank}: 5 records, 0 wrong" for rank in range(2)])


def test_what_was_put_without_a_plan_stays_in_its_holes(with_dropin, tmp_path):
    done = with_dropin("pnetcdf_cases_linked", ["keep", tmp_path / "a"], 2, preload=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "7", "1", *57 * ["7"]]


def test_a_value_beyond_memory_and_a_request_left_behind_are_what_pnetcdf_makes_of_them(run, with_dropin, tmp_path):
    native = run("pnetcdf_cases", ["leave", tmp_path / "a"], ranks=2, launch=True)
    done = with_dropin("pnetcdf_cases_linked", ["leave", tmp_path / "b"], 2, preload=False)

    def lines(text):
        return sorted(line for line in text.splitlines() if line.startswith("rank"))

    assert lines(done.stdout) == lines(native.stdout)
    assert "rank 0: NC_ERANGE NC_ERANGE 1 2 3" in done.stdout and "rank 1: close: NC_EPENDING" in done.stdout


def said(folder, ranks, is_newer):
    """By the program: PnetCDF itself prints how calls of MPI failed. 1.15 keeps a failure to write from its ranks, at times."""
    left_out = "MPI error|wait fails" if is_newer else "MPI error"
    return [[line for line in pathlib.Path(f"{folder}.said.{rank}").read_text().splitlines() if not re.search(left_out, line)]
            for rank in range(ranks)]


@pytest.mark.parametrize("ranks", [1, 3])
def test_files_ids_and_requests_end_in_unusual_lives_as_without_it(run, with_dropin, tmp_path, romio, ranks, is_newer):
    """Files that are renamed, deleted or open twice, requests over changes of mode and definition, errors on one rank, buffers,
    cancelled and unknown ids, text and values that do not fit, maps, datatypes, hints, older formats, child processes, other
    handles and groups of ranks, few descriptors, ..."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    native = run("pnetcdf_lives", [tmp_path / "a"], ranks=ranks, launch=True)
    assert native.returncode == 0, native.stderr
    done = with_dropin("pnetcdf_lives_linked", [tmp_path / "b"], ranks, preload=False)
    assert done.returncode == 0, done.stderr
    native = said(tmp_path / "a", ranks, is_newer)
    assert said(tmp_path / "b", ranks, is_newer) == native
    assert all(len(lines) > 400 for lines in native)
    assert by_plan(done) >= 50, done.stderr


def test_two_threads_may_use_a_file_each(with_dropin, tmp_path, romio):
    done = with_dropin("pnetcdf_lives_linked", [tmp_path, "threads"], 2, preload=False)
    assert done.returncode == 0, done.stderr
    if "MPI does without" in done.stdout:
        pytest.skip("this MPI has no MPI_THREAD_MULTIPLE")
    lines = done.stdout.splitlines()
    for rank in range(2):
        assert lines.count(f"rank {rank}: threads: wrong 0") == 5
        assert lines.count(f"rank {rank}: threads: close 0") == 4
    assert len(lines) == 2 * 9
    assert by_plan(done) >= 4 * 24 + 20 * 2, done.stderr


def test_ranks_that_were_started_later_may_end_before_the_others(with_dropin, tmp_path, romio):
    if other_pnetcdf:
        pytest.skip("what is preloaded is not in processes that are started later")
    done = with_dropin("pnetcdf_lives_linked", [tmp_path, "spawn"], 1, preload=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["rank 0: spawn: wrote 0, and the one that was started has ended"]
    assert by_plan(done) == 2, done.stderr


def test_more_than_a_request_may_have_is_refused_before_anything_is_made_of_it(run, with_dropin, tmp_path, is_newer):
    if is_newer:
        pytest.skip("newer ones take it, and read memory that the program does not have")
    native = run("pnetcdf_cases", ["huge", tmp_path / "a"], ranks=1, launch=True)
    done = with_dropin("pnetcdf_cases_linked", ["huge", tmp_path / "b"], 1, preload=False)
    assert done.stdout == native.stdout == 2 * "rank 0: NC_EMAX_REQ\n", done.stderr


def test_shared_memory_that_only_seems_to_be_free_is_not_relied_upon(run, with_dropin, tmp_path, small_disk, monkeypatch):
    """Of 4 MiB two files each find 2 MiB free, since nothing was stored there yet."""
    monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")
    before = small_disk(pathlib.Path("/dev/shm"))
    native = run("pnetcdf_cases", ["fills", tmp_path / "a"], ranks=2, launch=True, preexec_fn=before)
    if native.returncode != 0:
        pytest.skip("this MPI needs more shared memory itself")
    done = with_dropin("pnetcdf_cases_linked", ["fills", tmp_path / "b"], 2, preload=False, preexec_fn=before)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["rank 0: wrong 0", "rank 1: wrong 0"]
    assert by_plan(done) == 4, done.stderr


@pytest.mark.parametrize("case, settings", [("off", []), ("records", ["SLABMARK_DROPIN=off"])])
def test_a_hint_or_the_environment_leaves_all_to_pnetcdf(with_dropin, tmp_path, case, settings):
    done = with_dropin("pnetcdf_cases_linked", [case, tmp_path / "a"], 2, preload=False, settings=settings)
    assert done.returncode == 0, done.stderr
    assert by_plan(done) == 0, done.stderr


def test_beyond_its_memory_pnetcdf_takes_over(run, with_dropin, tmp_path):
    run("pnetcdf_random", [3, 60, tmp_path / "a.nc", tmp_path / "a"], ranks=2, launch=True).check_returncode()
    done = with_dropin("pnetcdf_random_linked", [3, 60, tmp_path / "b.nc", tmp_path / "b"], 2, preload=False,
                       settings=["SLABMARK_DROPIN_MEMORY=64"])
    assert done.returncode == 0, done.stderr
    for rank in range(2):
        assert (tmp_path / f"a.{rank}").read_text() == (tmp_path / f"b.{rank}").read_text()


@pytest.mark.fast
def test_no_function_of_pnetcdf_that_moves_data_is_passed_by_unnoticed():
    """Calls of independent mode are PnetCDF's, and all of vard; what else moves data is ours or was forgotten."""
    includes = re.search(r"PnetCDF_INCLUDE_DIR:PATH=(.*)", (built / "CMakeCache.txt").read_text())[1]
    header = (pathlib.Path(includes) / "pnetcdf.h").read_text()
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    ours = set(re.findall(r" T (\w+)", symbols))
    assert all(name.startswith("ncmpi_") for name in ours), "only PnetCDF's names are seen"
    moving = set(re.findall(r"\b(ncmpi_(?:[imb]?(?:put|get))_var\w*)\(", header))
    assert len(moving) > 500
    passed_by = {name for name in moving - ours
                 if "vard" not in name and (name.endswith("_all") or not re.match(r"ncmpi_m?(put|get)_", name))}
    assert passed_by == set()
    assert ours <= set(re.findall(r"\b(ncmpi_\w+)\(", header))


def test_a_profiler_sees_what_is_written_wherever_it_is_preloaded(run, with_dropin, tmp_path):
    (tmp_path / "profiler.c").write_text("""
        #include <mpi.h>
        #include <stdio.h>
        int MPI_File_write_at(MPI_File file, MPI_Offset at, const void* data, int count, MPI_Datatype type, MPI_Status* status) {
          int bytes; MPI_Type_size(type, &bytes); printf("%d bytes\\n", bytes * count); fflush(stdout);
          return PMPI_File_write_at(file, at, data, count, type, status);
        }""")
    profiler = tmp_path / "profiler.so"
    compiled("mpicc", tmp_path / "profiler.c", "-shared", "-fPIC", "-o", profiler)
    for libraries in ([profiler, library], [library, profiler]):
        done = with_dropin("pnetcdf_cases", ["again", tmp_path / "a"], 1, preload=libraries)
        assert done.returncode == 0 and by_plan(done) == 24, done.stderr
        assert sum(int(line.split()[0]) for line in done.stdout.splitlines()) >= 24 * 20 * 4


def native_library():
    return re.search(r"PnetCDF_LIBRARY:FILEPATH=(.*)", (built / "CMakeCache.txt").read_text())[1]


def with_pnetcdf():
    """Flags to link a program that finds it wherever it is."""
    return [native_library(), f"-Wl,-rpath,{pathlib.Path(native_library()).parent}"]


def compiled(compiler, source, *flags):
    """A program of this folder that is built here, as users build theirs; its folder has what `flags` name."""
    done = subprocess.run([compiler, pathlib.Path(__file__).parent / source, *flags], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def fortran(tmp_path_factory):
    """A program in Fortran 77 and 90."""
    if not shutil.which("mpif90") or subprocess.run(["mpif90", "--version"], capture_output=True).returncode:
        pytest.skip("no Fortran compiler (gfortran)")
    places = [*pathlib.Path(native_library()).parent.glob("fortran/*"), pathlib.Path("/usr/include")]
    modules = [place for place in places if (place / "pnetcdf.mod").exists()]
    if not modules:
        pytest.skip("PnetCDF's module for Fortran is not here (pnetcdf.mod)")
    folder = tmp_path_factory.mktemp("fortran")
    compiled("mpif90", "pnetcdf_records.f90", f"-I{modules[0]}", f"-J{folder}", "-o", folder / "program", *with_pnetcdf())
    return Fortran(folder / "program", modules[0])


class Fortran(typing.NamedTuple):
    program: pathlib.Path
    modules: pathlib.Path


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_program_in_fortran_has_it_too(run, with_dropin, fortran, tmp_path, ranks):
    done = run(fortran.program, [tmp_path / "a"], ranks=ranks, launch=True)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = sorted(f"rank {rank}: 0 wrong" for rank in range(ranks))
    assert sorted(done.stdout.splitlines()) == expected
    done = with_dropin(fortran.program, [tmp_path / "b"], ranks)
    assert sorted(done.stdout.splitlines()) == expected, done.stderr
    if by_plan(done) == 0:
        refused = run("slabmark", ["apply", "--", fortran.program, tmp_path / "c"])
        assert refused.returncode == 2 and "-Bsymbolic-functions" in refused.stderr, done.stderr
        pytest.skip("this PnetCDF binds its calls from Fortran inside, which slabmark apply says")
    assert by_plan(done) == 4, done.stderr
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_module_of_python_that_loads_pnetcdf_later_has_it_too(with_dropin, tmp_path):
    compiled("mpicc", "pnetcdf_cases.c", "-shared", "-fPIC", "-Dmain=run_case", "-o", tmp_path / "cases.so", *with_pnetcdf())
    script = "import ctypes, sys; cases = ctypes.CDLL(sys.argv[1]); words = [b'', b'later', sys.argv[2].encode(), None]; "
    script += "sys.exit(cases.run_case(3, (ctypes.c_char_p * 4)(*words)))"
    done = with_dropin(sys.executable, ["-c", script, tmp_path / "cases.so", tmp_path / "a"], 2)
    assert done.returncode == 0 and by_plan(done) > 0, done.stderr
    pending, values = done.stdout.splitlines()
    assert pending == "3 pending"
    assert values.split() == 2 * [*3 * ["10"], "20", "20", "30", "20", *3 * ["10"]], "of a rank the later request wins"


@pytest.fixture(scope="session")
def archive():
    """What a program adds to its link that has PnetCDF as an archive."""
    found = re.search(r"PnetCDF_STATIC_LIBRARY:FILEPATH=(.*)", (built / "CMakeCache.txt").read_text())
    if not found or found[1].endswith("NOTFOUND") or sanitized or other_pnetcdf:
        pytest.skip("no archive of the drop-in: no libpnetcdf.a, or a build with sanitizers")
    return [f"@{built}/lib/slabmark_pnetcdf_wrap.rsp", f"-L{built}/lib", found[1]]


def test_a_program_that_links_pnetcdf_statically_has_it_by_an_archive(run, with_dropin, archive, tmp_path):
    compiled("mpicc", "pnetcdf_cases.c", "-o", tmp_path / "program", *archive)
    libraries = subprocess.run(["ldd", tmp_path / "program"], capture_output=True, text=True, check=True).stdout
    assert "libpnetcdf" not in libraries and "libslabmark" not in libraries
    for case in ("records", "later", "range"):
        expected = with_dropin("pnetcdf_cases_linked", [case, tmp_path / "a"], 2, preload=False)
        done = with_dropin(tmp_path / "program", [case, tmp_path / "b"], 2, preload=False)
        assert done.returncode == 0 and sorted(done.stdout) == sorted(expected.stdout), done.stderr
        assert by_plan(done) == by_plan(expected) > 0 or case == "range", done.stderr
    done = run("slabmark", ["apply", "--", tmp_path / "program"])
    assert done.returncode == 2 and "already" in done.stderr


def test_so_has_one_in_fortran(with_dropin, fortran, archive, tmp_path):
    flags = [f"-I{fortran.modules}", f"-J{tmp_path}"]
    compiled("mpif90", "pnetcdf_records.f90", *flags, "-o", tmp_path / "program", *archive)
    done = with_dropin(tmp_path / "program", [tmp_path / "a"], 2, preload=False)
    assert sorted(done.stdout.splitlines()) == ["rank 0: 0 wrong", "rank 1: 0 wrong"], done.stderr
    assert by_plan(done) == 4, done.stderr


def test_it_is_installed(tmp_path):
    subprocess.run([os.environ["SLABMARK_CMAKE"], "--install", built, "--prefix", tmp_path, "--component",
                    "slabmark_pnetcdf"], check=True, capture_output=True)
    files = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    archive = {"libslabmark_pnetcdf_wrap.a", "slabmark_pnetcdf_wrap.rsp"}
    assert files - archive == {"libslabmark_pnetcdf.so"} and files & archive in (set(), archive)
