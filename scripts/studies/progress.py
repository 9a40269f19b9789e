"""States of the points, and submission of planned and failed ones."""

from __future__ import annotations

import contextlib
import os

from studies.folder import Folder, Lock, Point
from studies.systems import PENDING, RUNNING, SYSTEMS
from toolkit import ToolError, UsageError, plural

PLANNED, DONE, FAILED = "planned", "done", "failed"


def states_of(folder: Folder) -> dict[str, str]:
    """State of every point; a point has failed if its job ended without all reports."""
    jobs = folder.jobs()
    names = {point.name for point in folder.plan.points}
    mine = [job for name, job in jobs.items() if name in names]
    known = SYSTEMS[folder.plan.system].states(folder, mine) if mine else {}
    states = {}
    for point in folder.plan.points:
        if len(folder.results(point)) == folder.study.repeats:
            states[point.name] = DONE
        elif jobs.get(point.name) in known:
            states[point.name] = known[jobs[point.name]]
        elif point.name in jobs or folder.exit_codes(point) or folder.damaged(point):
            states[point.name] = FAILED
        else:
            states[point.name] = PLANNED
    return states


def why(folder: Folder, point: Point) -> str:
    """The reason for the failure of a point, from its files."""
    codes, damaged = folder.exit_codes(point), folder.damaged(point)
    n_done = len(folder.results(point))
    text = f"{n_done} of {plural(folder.study.repeats, 'repeat')}"
    if damaged:
        text += f", runs/{os.path.basename(damaged[0])} is damaged"
    elif codes and codes[0] == 0:
        text += ", the report of a successful run is missing"
    elif codes:
        text += f", exit code {codes[0]}: {folder.last_words(point)}"
    else:
        text += ", the job ended before the other repeats"
        if os.path.exists(folder.at("runs", f"{point.name}.out")):
            text += f": see runs/{point.name}.out"
    return text


def status_lines(folder: Folder) -> list[str]:
    """One line per point."""
    states, jobs = states_of(folder), folder.jobs()
    lines = []
    for point in folder.plan.points:
        state = states[point.name]
        line = f"{point.name:<9} {state:<8} {len(folder.results(point))} of {folder.study.repeats}"
        if state in (PENDING, RUNNING):
            line += f", job {jobs[point.name]}"
        elif state == FAILED:
            line = f"{point.name:<9} {state:<8} {why(folder, point)}"
        lines.append(line)
    return lines


def submit(folder: Folder, only: list[str] | None, again: bool, say) -> int:
    """Submit planned points and, with `again`, failed ones. Other points are skipped.

    Returns: number of points that have failed and are not submitted
    """
    folder.must_be_here()
    system = SYSTEMS[folder.plan.system]
    if system.name == "local":
        failed = submit_all(folder, only, again, say)
    else:
        # Lock the folder so that concurrent calls do not submit a point twice.
        with contextlib.closing(Lock(folder)):
            failed = submit_all(folder, only, again, say)
    if failed and not again:
        say("'scaling submit --again' repeats failed points")
    return failed


def submit_all(folder: Folder, only: list[str] | None, again: bool, say) -> int:
    """Submit point after point. Returns: as submit."""
    system, states, failed = SYSTEMS[folder.plan.system], states_of(folder), 0
    for point in folder.plan.points:
        if only is not None and point.name not in only:
            continue
        if is_skipped(folder, point, states[point.name], again, say):
            failed += states[point.name] == FAILED
            continue
        folder.put_damaged_aside(point)
        if system.name == "local":
            failed += not run_here(folder, point, say)
        else:
            submit_one(folder, system, point)
            say(f"{point.name}: submitted as job {folder.jobs()[point.name]}")
    return failed


def submit_one(folder: Folder, system, point: Point) -> None:
    """Submit and record one job. An unrecorded job would be submitted again."""
    folder.save_jobs(folder.jobs())  # fails before the submission if state.json is not writable
    job = system.submit(folder, point)
    try:
        folder.save_job(point, job)
    except ToolError as error:
        raise ToolError(
            f"{point.name} was submitted as job {job}, which was not recorded: {error}; cancel "
            "the job before submitting the point again",
            error.code,
        ) from None


def is_skipped(folder: Folder, point: Point, state: str, again: bool, say) -> bool:
    """True if the point is not to be submitted; prints the reason."""
    if state == DONE:
        say(f"{point.name}: done")
    elif state in (PENDING, RUNNING):
        say(f"{point.name}: {state}, job {folder.jobs()[point.name]}")
    elif state == FAILED and not again:
        say(f"{point.name}: failed, {why(folder, point)}")
    else:
        return False
    return True


def run_here(folder: Folder, point: Point, say) -> bool:
    """Run a point on this machine, unless another point is running.

    Returns: False if it failed
    """
    with contextlib.closing(Lock(folder)) as lock:
        # Another 'scaling submit' may have started points meanwhile.
        states = states_of(folder)
        busy = [name for name, state in states.items() if state == RUNNING]
        if busy:
            job = folder.jobs()[busy[0]]
            say(f"{point.name}: not started, {busy[0]} is running ({job}); submit it again later")
            return True
        if states[point.name] == DONE:
            say(f"{point.name}: done")
            return True
        say(f"{point.name}: {plural(point.ranks, 'rank')}, {point.shape} cells ...")
        SYSTEMS["local"].run(folder, point, lock.close, say)
    if states_of(folder)[point.name] != FAILED:
        return True
    say(f"{point.name}: failed, {why(folder, point)}")
    return False


def chosen_points(folder: Folder, text: str | None) -> list[str] | None:
    """The points of --only=n1,n2."""
    if text is None:
        return None
    names = [point.name for point in folder.plan.points]
    chosen = text.split(",")
    for name in chosen:
        if name not in names:
            raise UsageError(f"--only={text}: '{name}' is not one of {', '.join(names)}")
    return chosen
