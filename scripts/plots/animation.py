"""Animation of a plane of one field over several dumps."""

from __future__ import annotations

import os
import subprocess
import tempfile

from plots.common import figure, save_table, shape_of
from plots.dump import Dump, Plane
from plots.fields import SIZE, beyond, check_limits, draw_plane, limits_of, rows_of
from toolkit import FileError, UsageError, need, plural, say, write_atomically

RESIDUAL = "residual"  # shrinks by orders of magnitude, so its scale is logarithmic
# All dumps of an animation must agree in these.
PROBLEM = ("operator", "equation", "boundary", "coefficients", "rhs")


def in_order(paths: list[str]) -> list[str]:
    """Sort dumps of one problem by their number of cycles; keep one dump of each state."""
    states, problem = {}, None
    for path in paths:
        with Dump(path) as dump:
            about = dump.about
        one = {key: str(about[key]) for key in PROBLEM if key in about}
        one["dim"] = shape_of(about["dim"])
        if problem is not None and one != problem[1]:
            raise UsageError(
                f"an animation shows one problem, but {path} has {', '.join(one.values())} cells "
                f"and {problem[0]} has {', '.join(problem[1].values())}"
            )
        problem = problem or (path, one)
        cycles = about["cycles"]
        if cycles in states:
            say(f"{path}: skipped, {states[cycles]} also is after {plural(cycles, 'cycle')}")
        else:
            states[cycles] = path
    return [states[cycles] for cycles in sorted(states)]


def plane_of(dump: Dump, args) -> Plane:
    fields = dump.fields(args.level)
    if args.field == RESIDUAL and RESIDUAL not in fields:
        raise UsageError(
            f"{dump.path} has no field residual, the default of animate: dump it with "
            f"hpgmg-fv --dump-fields=residual, or set --field to one of {', '.join(fields)}"
        )
    return dump.plane(args.field, args.level, args.axis, args.at)


def draw_animation(args) -> str:
    need("PIL.Image", "pillow")
    paths, planes = in_order(args.files), []
    args.log = args.field == RESIDUAL if args.log is None else args.log
    for path in paths:
        with Dump(path) as dump:
            planes.append(plane_of(dump, args))
    limits = args.limits or limits_of(planes, args.log)
    check_limits(limits, args.log)
    extend = beyond(planes, limits, args.log)  # the same in all frames

    fig = figure(*SIZE, args.dpi)
    writer = writer_for(args)
    with tempfile.TemporaryDirectory() as folder:
        film = os.path.join(folder, f"film{os.path.splitext(args.output)[1].lower()}")
        try:
            with writer.saving(fig, film, args.dpi):
                for path, plane in zip(paths, planes):
                    fig.clear()
                    with Dump(path) as dump:
                        draw_plane(fig, plane, dump, limits, extend, args)
                    writer.grab_frame()
        except subprocess.CalledProcessError as error:
            raise FileError(f"ffmpeg failed with exit code {error.returncode}") from None
        with open(film, "rb") as file:
            write_atomically(args.output, file.read())
    rows = ([p, *row] for p, plane in zip(paths, planes) for row in rows_of(plane))
    save_table(args.data, ["file", *planes[0].across, args.field], rows)
    return f"{plural(len(paths), 'frame')} of {args.field} at {planes[0].where()}"


def writer_for(args):
    """Matplotlib's writer of GIF or MP4 files. Without date and version, MP4 is reproducible."""
    animation = need("matplotlib.animation", "matplotlib")
    if args.output.lower().endswith(".gif"):
        return animation.PillowWriter(args.fps)
    if not animation.FFMpegWriter.isAvailable():
        raise UsageError("an .mp4 needs ffmpeg ('apt-get install ffmpeg'); or write a .gif")
    exact = ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
    return animation.FFMpegWriter(args.fps, extra_args=exact)
