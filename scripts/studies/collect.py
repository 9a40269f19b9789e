"""Results of a study: every report as a line of one CSV, and the efficiency table."""

from __future__ import annotations

import csv
import io
import statistics

from plots.report import Report
from studies.folder import Folder, Point
from toolkit import FILE, ToolError, write_whole

COLUMNS = (
    *("study", "kind", "point", "repeat", "nodes", "ranks", "threads", "gpus", "n", "dof"),
    *("seconds_min", "seconds_mean", "dof_per_s", "cycles", "norm", "error", "order"),
    *("verification", "bytes_per_rank_max", "backend", "transport", "host", "version"),
)


def report_of(point: Point, path: str) -> Report:
    """One report, which must be of what the plan says."""
    report = Report(path)
    about = report.about
    for what, has, wants in (
        ("ranks", about["ranks"], point.ranks),
        ("threads", about["threads"], point.threads),
        ("cells a side", about["n"], point.dim[0]),
    ):
        if has != wants:
            raise ToolError(f"{path} has {has} {what} where the plan has {wants}; remove it", FILE)
    return report


def row_of(folder: Folder, point: Point, repeat: int) -> dict:
    """One report as a line."""
    report = report_of(point, folder.result(point, repeat))
    about = report.about
    seconds = report.positive("solves.0.seconds_mean")
    return {
        "study": folder.study.name,
        "kind": folder.study.kind,
        "point": point.name,
        "repeat": repeat,
        "nodes": point.nodes,
        "ranks": point.ranks,
        "threads": point.threads,
        "gpus": point.gpus,
        "n": about["n"],
        "dof": report.get("solves.0.dof", int),
        "seconds_min": report.positive("solves.0.seconds_min"),
        "seconds_mean": seconds,
        "dof_per_s": report.positive("solves.0.dof_per_s"),
        "cycles": report.get("solves.0.cycles", int),
        "norm": report.numbers("solves.0.norms")[-1],
        "error": report.get("error", float),
        "order": report.get("order", float),
        "verification": report.get("verification", str),
        "bytes_per_rank_max": report.get("memory.bytes_per_rank_max", int),
        "backend": about["backend"],
        "transport": report.get("run.transport", str),
        "host": about["host"],
        "version": report.get("version", str),
    }


def rows_of(folder: Folder) -> list[dict]:
    """All reports that are there, in the order of points and repeats."""
    rows = []
    for point in folder.plan.points:
        for path in folder.results(point):
            rows.append(row_of(folder, point, int(path.rsplit(".", 2)[1])))
    if not rows:
        raise ToolError(
            f"{folder.path} has no results yet; 'scaling status' says what is missing", 3
        )
    return rows


def write_csv(folder: Folder, rows: list[dict]) -> str:
    """All digits; a number that is none is left empty."""
    content = io.StringIO()
    table = csv.writer(content, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in rows:
        values = [repr(v) if isinstance(v, float) else v for v in (row[c] for c in COLUMNS)]
        table.writerow(["" if v == "nan" else v for v in values])
    path = folder.at("results.csv")
    write_whole(path, content.getvalue().encode())
    return path


def digits_agree(rows: list[dict]) -> list[str]:
    """Runs of one grid have the same norm, error and order, to the last bit, on any ranks."""
    first: dict[int, dict] = {}
    wrong = []
    for row in rows:
        other = first.setdefault(row["n"], row)
        # As text, since error and order of one's own problem are NaN.
        differ = [k for k in ("norm", "error", "order") if repr(row[k]) != repr(other[k])]
        if differ:
            key = differ[0]
            wrong.append(
                f"{row['point']}.{row['repeat']} has other digits than {other['point']}."
                f"{other['repeat']} at {row['n']}^3: {key} {row[key]!r}, not {other[key]!r}"
            )
    return wrong


def efficiency_table(folder: Folder, rows: list[dict]) -> list[str]:
    """Medians over repeats, their spread, and DOF/s of each unit against the first point's.

    A unit is a GPU, or a thread of a rank.
    """
    head = "point      nodes     ranks      grid  runs   seconds      min      max     MDOF/s"
    lines = [f"{head}  efficiency"]
    base, without = None, []
    for point in folder.plan.points:
        mine = [row for row in rows if row["point"] == point.name]
        if not mine:
            lines.append(
                f"{point.name:<9} {point.nodes:6d} {point.ranks:9d} {point.dim[0]:7d}^3     0"
            )
            without += [] if base else [point.name]
            continue
        seconds = [row["seconds_mean"] for row in mine]
        rate = mine[0]["dof"] / statistics.median(seconds)
        each = rate / (point.gpus or point.ranks * point.threads)
        if without and not base:
            lines.append(f"no result of {', '.join(without)}: efficiency is against {point.name}")
        base = base or each
        lines.append(
            f"{point.name:<9} {point.nodes:6d} {point.ranks:9d} {point.dim[0]:7d}^3 {len(mine):5d} "
            f"{statistics.median(seconds):9.3g} {min(seconds):8.3g} {max(seconds):8.3g} "
            f"{1e-6 * rate:10.4g} {100.0 * each / base:9.1f} %"
        )
    return lines
