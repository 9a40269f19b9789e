"""Collects the reports of a study into one CSV and prints the efficiency table."""

from __future__ import annotations

import math
import statistics

from checks.report import grid
from checks.rules import RULES
from plots.common import save_table
from plots.report import Report
from studies.folder import Folder, Point
from toolkit import FileError

VALID, INVALID = "valid", "invalid"


def report_of(point: Point, path: str) -> Report:
    """Read a report and check that it matches the plan."""
    report = Report(path)
    about = report.about
    for what, has, planned in (
        ("ranks", about["ranks"], point.ranks),
        ("threads", about["threads"], point.threads),
        ("cells", grid(about["dim"]), point.shape),
    ):
        if has != planned:
            raise FileError(f"{path} has {has} {what}, the plan has {planned}; remove it")
    return report


def fom_of(report: Report) -> tuple[str, str, str]:
    """Class, validity and reason of the figure of merit; empty in reports of older versions."""
    if "fom" not in report.data:
        return "", "", ""
    found = tuple(report.get(f"fom.{key}", str) for key in ("class", "validity", "reason"))
    if found[0] not in RULES:
        report.wrong("fom.class", found[0])
    if found[1] not in (VALID, INVALID):
        report.wrong("fom.validity", found[1])
    return found


def row_of(folder: Folder, point: Point, repeat: int) -> dict:
    """Values of one report for a line of the CSV, by column."""
    report = report_of(point, folder.result(point, repeat))
    about = report.about
    seconds = report.positive("solves.0.seconds_mean")
    name, validity, reason = fom_of(report)
    rate = report.positive("solves.0.dof_per_s")
    return {
        "study": folder.study.name,
        "kind": folder.study.kind,
        "point": point.name,
        "repeat": repeat,
        "nodes": point.nodes,
        "ranks": point.ranks,
        "threads": point.threads,
        "gpus": point.gpus,
        "grid": grid(about["dim"]),
        "dof": report.get("solves.0.dof", int),
        "seconds_min": report.positive("solves.0.seconds_min"),
        "seconds_mean": seconds,
        "dof_per_s": math.nan if validity == INVALID else rate,
        "class": name,
        "validity": validity,
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
        "reason": reason,
    }


def rows_of(folder: Folder) -> list[dict]:
    """All existing reports, ordered by point and repeat."""
    rows = []
    for point in folder.plan.points:
        for path in folder.results(point):
            rows.append(row_of(folder, point, int(path.rsplit(".", 2)[1])))
    if not rows:
        raise FileError(f"{folder.path} has no results yet; see 'scaling status'")
    return rows


def write_csv(folder: Folder, rows: list[dict]) -> str:
    """Write results.csv with full precision. NaN becomes an empty value."""
    path = folder.at("results.csv")
    known = ([v if v == v else "" for v in row.values()] for row in rows)
    save_table(path, list(rows[0]), known, may_follow=False)
    return path


def differing_results(rows: list[dict]) -> list[str]:
    """Report runs whose norm, error or order is not bit-identical to another run of the grid."""
    first: dict[str, dict] = {}
    wrong = []
    for row in rows:
        other = first.setdefault(row["grid"], row)
        # Compare as text: error and order of a user's problem are NaN.
        differ = [k for k in ("norm", "error", "order") if repr(row[k]) != repr(other[k])]
        if differ:
            key = differ[0]
            wrong.append(
                f"results of {row['point']}.{row['repeat']} and {other['point']}."
                f"{other['repeat']} at {row['grid']} differ: {key} {row[key]!r} and {other[key]!r}"
            )
    return wrong


def efficiency_table(folder: Folder, rows: list[dict]) -> list[str]:
    """Medians and spread over repeats, and the efficiency.

    Efficiency is DOF/s per unit relative to the first point. A unit is a GPU or a thread. A point
    with an invalid run has no DOF/s.
    """
    head = "point      nodes     ranks      grid  runs   seconds      min      max     MDOF/s"
    lines = [f"{head}  efficiency  class"]
    base, without, invalid = None, [], {}
    for point in folder.plan.points:
        mine = [row for row in rows if row["point"] == point.name]
        if not mine:
            lines.append(
                f"{point.name:<9} {point.nodes:6d} {point.ranks:9d} {point.shape:>9}     0"
            )
            without += [] if base else [point.name]
            continue
        seconds = [row["seconds_mean"] for row in mine]
        rate = mine[0]["dof"] / statistics.median(seconds)
        each = rate / (point.gpus or point.ranks * point.threads)
        if without and not base:
            lines.append(
                f"no result of {', '.join(without)}: efficiency is relative to {point.name}"
            )
        base = base or each
        shown = f"{1e-6 * rate:.4g}"
        if reasons := [row["reason"] for row in mine if row["validity"] == INVALID]:
            shown = INVALID
            invalid.setdefault(reasons[0], []).append(point.name)
        classes = sorted({row["class"] for row in mine} - {""}) or ["unknown"]
        lines.append(
            f"{point.name:<9} {point.nodes:6d} {point.ranks:9d} {point.shape:>9} {len(mine):5d} "
            f"{statistics.median(seconds):9.3g} {min(seconds):8.3g} {max(seconds):8.3g} "
            f"{shown:>10} {100.0 * each / base:9.1f} %  {', '.join(classes)}"
        )
    lines += [f"invalid: {', '.join(names)}: {reason}" for reason, names in invalid.items()]
    return lines
