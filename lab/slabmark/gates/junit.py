"""JUnit XML, by junitparser."""

import collections
import io

import junitparser

from slabmark.errors import printable
from slabmark.gates import Case


class _Seconds(junitparser.FloatAttr):
    """JUnit's schema has no exponents, and trials may take microseconds."""

    def __set__(self, instance, value):
        junitparser.Attr.__set__(self, instance, f"{value:.9f}")


class _TestCase(junitparser.TestCase):
    time = _Seconds()


class _TestSuite(junitparser.TestSuite):
    testcase = _TestCase
    time = _Seconds()


class _Report(junitparser.JUnitXml):
    testsuite = _TestSuite
    time = _Seconds()


def xml(name: str, cases: list[Case]) -> bytes:
    """XML cannot hold control characters, so all text is made printable."""
    report = _Report(printable(f"slabmark {name}"))
    by_workload = collections.defaultdict(list)
    for case in cases:
        by_workload[case.workload].append(_test(name, case))
    for workload, tests in by_workload.items():
        suite = _TestSuite(printable(workload))
        suite.add_testcases(tests)
        report.add_testsuite(suite)
    report.update_statistics()
    for suite in report:  # whose sums the library rounds to milliseconds
        suite.time = sum(case.time for case in suite)
    report.time = sum(suite.time for suite in report)
    written = io.BytesIO()
    report.write(written, pretty=True)
    return written.getvalue()


def _test(name, case):
    made = _TestCase(printable(case.cell), printable(f"slabmark.{name}.{case.workload}"), case.seconds or 0)
    summary = printable(f"{case.verdict}: {case.words}")
    if case.outcome == "failed":
        failure = junitparser.Failure(summary, printable(case.verdict))
        failure.text = printable(case.words)
        made.result = failure
    elif case.outcome == "skipped":
        made.result = junitparser.Skipped(summary)
    else:
        made.system_out = summary
    return made
