"""A log that grew by one per cent: going on with it against reading it whole, with and without writing its tables.

    python bench/make_log.py /tmp/log200.out --megabytes 200
    python bench/growing.py /tmp/log200.out [--rounds 5]

The log is copied; of the copy all but the last per cent is read and kept, then the rest is added.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from measuring import Cost, measure, rounds, table, timed

SHARE = 0.99


def read(log: Path, store: str, *, goes_on: bool, writes: bool) -> None:
    """Read the log, from where the store's tables end or from the beginning; perhaps write its tables."""
    import pandas  # noqa: F401, PLC0415 - pyarrow imports it for the first array

    from rl_pipeline import pipeline  # noqa: PLC0415 - not in the process that compares
    from rl_pipeline.discovery import discover  # noqa: PLC0415
    from rl_pipeline.tables.store import TableStore  # noqa: PLC0415

    job, tables = discover([log]).only().jobs[0], TableStore(store)

    def work() -> None:
        earlier = pipeline.earlier_reading(tables, job.job_key) if goes_on else None
        parsed = pipeline.parse_job(job, earlier=earlier)
        if writes:
            tables.write_job(job.job_key, parsed.tables, parsed.provenance, state=parsed.state)

    timed(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        store, how = asked.work
        read(asked.log, store, goes_on="on" in how, writes="write" in how)
        return
    with tempfile.TemporaryDirectory() as folder:
        grown, store = Path(folder) / "grown_1.out", f"{folder}/store"
        whole = asked.log.read_bytes()
        grown.write_bytes(whole[: int(SHARE * len(whole))])
        measure([__file__, str(grown), "--work", store, "write"])
        with grown.open("ab") as file:
            file.write(whole[int(SHARE * len(whole)) :])

        def kept(how: str) -> Cost:
            """Each time with the tables of the shorter log in the store."""
            copy = f"{folder}/copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(store, copy)
            return measure([__file__, str(grown), "--work", copy, how])

        candidates = {
            "read whole": lambda: kept("whole"),
            "go on": lambda: kept("on"),
            "read whole and write": lambda: kept("whole, write"),
            "go on and write": lambda: kept("on, write"),
        }
        costs = rounds(asked.rounds, candidates)
    print(table(costs, "read whole"), file=sys.stdout)


if __name__ == "__main__":
    main()
