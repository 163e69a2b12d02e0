"""slabmark probe: messages between nodes, a file from each, many small files. A rank stands for a node here."""

import itertools
import json
import statistics

import pytest
from conftest import long

pytestmark = pytest.mark.long

NODES = ["nodes", "--ranks-per-node", "1", "--pair-bytes", "100K", "--request-size", "8K", "--node-bytes", "50001", "--trials", "2"]
FILES = ["files", "--files-per-rank", "5", "--file-size", "1001", "--trials", "2"]


def probe(run, folder, words, ranks):
    records = folder / "records.jsonl"
    done = run("slabmark probe", [*words, "-d", folder / "out", "--json", records], ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["records.jsonl"], "all that was made is gone"
    return done.stdout, {one["method"]: one for one in map(json.loads, records.read_text().splitlines())}


@pytest.mark.parametrize("ranks", [4, 5])
def test_each_node_meets_each_other_one_once_a_trial(run, tmp_path, ranks):
    table, found = probe(run, tmp_path, NODES, ranks)
    assert list(found) == ["messages", "file-a-node"] and table.count("MiB/s") == 2 * ranks
    pairs = list(itertools.combinations(range(ranks), 2))
    for record in found.values():
        assert record["verified"]["state"] == "yes" and len(record["trials"]) == 3
        of_nodes = record["effective"]["of_nodes"]
        assert len(set(of_nodes["hosts"])) == ranks and len(of_nodes["seconds"]) == 2
        assert all(len(trial) == ranks and min(trial) > 0 for trial in of_nodes["seconds"])
    of_nodes = found["messages"]["effective"]["of_nodes"]
    for trial, seconds in zip(of_nodes["meetings"], of_nodes["seconds"], strict=True):
        assert sorted(tuple(sorted(meeting[:2])) for meeting in trial) == pairs
        for node in range(ranks):  # the lower median of the slower ways
            own = sorted(max(meeting[2:]) for meeting in trial if node in meeting[:2])
            assert seconds[node] == own[(len(own) - 1) // 2]
    assert found["messages"]["pattern"]["bytes"] == 2 * 102400 * len(pairs)


def test_a_trial_on_many_nodes_need_not_be_longer_than_on_few(run, tmp_path):
    _, found = probe(run, tmp_path, [*NODES, "--meetings", "1", "--writers", "1"], 4)
    assert [len(trial) for trial in found["messages"]["effective"]["of_nodes"]["meetings"]] == [2, 2]


@pytest.mark.fast
def test_ranks_of_a_node_share_its_bytes_and_one_node_has_nothing_to_send_to(run, tmp_path):
    _, found = probe(run, tmp_path, ["nodes", "--trials", "1", "--node-bytes", "50001", "--sync"], 3)
    assert "one node only" in found["messages"]["unsupported"] and found["messages"]["trials"] == []
    assert found["file-a-node"]["verified"]["state"] == "yes" and found["file-a-node"]["sync"]
    assert len(found["file-a-node"]["effective"]["of_nodes"]["hosts"]) == 1


@pytest.mark.fast
@pytest.mark.parametrize("ranks, more", [long(1, []), (4, ["--folders", "each", "--sync"])])
def test_small_files_are_made_looked_at_read_and_removed(run, tmp_path, ranks, more):
    table, found = probe(run, tmp_path, [*FILES, *more], ranks)
    assert list(found) == ["create", "stat", "open-read", "remove"] and table.count("files/s") == 4
    for (method, record), line in zip(found.items(), table.splitlines()[-4:]):
        seconds = statistics.median(trial["open_to_close"] for trial in record["trials"] if not trial["warm_up"])
        assert line.split() == [method, f"{5 * ranks / seconds:.1f}", "files/s"]
        assert record["verified"]["state"] == "yes" and record["pattern"]["settings"]["files"] == str(5 * ranks)
        assert record["direction"] == ("read" if method in ("stat", "open-read") else "write")
        assert record["pattern"]["bytes"] == (5005 * ranks if method in ("create", "open-read") else 0)
        assert all(trial["open_to_close"] > 0 for trial in record["trials"])
    assert "create.write" in found["create"]["trials"][1]["spans"]
    assert found["create"]["sync"] == ("--sync" in more)


# Found before MPI starts, and by one rank afterwards. tests/programs has the other sentences.
@pytest.mark.parametrize("words, culprit, ranks", [(["nodes", "--pair-bytes", "0"], "--pair-bytes", 1), (["nodes", "--pair-bytes", "0"], "--pair-bytes", 4),
                                                   (["files", "-d", "file"], "file", 4)])
def test_what_cannot_be_meant_is_one_sentence_and_status_2(run, refused, tmp_path, words, culprit, ranks):
    (tmp_path / "file").write_text("mine")
    done = run("slabmark probe", words, ranks=ranks, cwd=tmp_path)
    assert culprit in refused(done, "slabmark probe")
    assert [path.name for path in tmp_path.iterdir()] == ["file"] and (tmp_path / "file").read_text() == "mine"


def test_the_folder_of_another_run_is_refused_and_only_taken_if_the_user_says_so(run, sentence, tmp_path):
    left = tmp_path / "slabmark-probe"
    left.mkdir()
    (left / "0-0").write_text("left")
    words = ["files", "--files-per-rank", "2", "-d", tmp_path]
    done = run("slabmark probe", words)
    assert done.returncode == 2 and str(left) in sentence(done, "slabmark probe") and (left / "0-0").exists()
    assert run("slabmark probe", [*words, "--overwrite"]).returncode == 0 and not left.exists()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    left.symlink_to(elsewhere)
    assert run("slabmark probe", [*words, "--overwrite"]).returncode == 2 and elsewhere.exists()


@pytest.mark.parametrize("words", [["nodes", "--node-bytes", "8388608T", "--ranks-per-node", "1", "--pair-bytes", "1K"],
                                   ["files", "--files-per-rank", "1000000", "--file-size", "1G"]], ids=["nodes", "files"])
def test_what_no_disk_holds_is_not_begun(run, sentence, tmp_path, words):
    done = run("slabmark probe", [*words, "--trials", "1", "-d", tmp_path], ranks=2)
    assert done.returncode == 1 and "its file system has only" in sentence(done, "slabmark probe")
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_one_sentence_and_status_1(run, sentence, file_size_limit, tmp_path):
    words = ["files", "--files-per-rank", "1", "--file-size", "16M", "-d", tmp_path]
    done = run("slabmark probe", words, preexec_fn=file_size_limit)
    assert done.returncode == 1 and "0-0" in sentence(done, "slabmark probe")
    assert not list(tmp_path.iterdir())
