"""Animation of a plane of one field over several dumps."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile

from plots.common import save_table, shape_of
from plots.dump import Dump, Plane
from plots.fields import beyond, check_limits, colors_for, draw_plane, limits_of, rows_of
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
    image = need("PIL.Image", "pillow")
    paths, planes = in_order(args.files), []
    args.log = args.field == RESIDUAL if args.log is None else args.log
    for path in paths:
        with Dump(path) as dump:
            planes.append(plane_of(dump, args))
    limits = args.limits or limits_of(planes, args.log)
    check_limits(limits, args.log)
    extend = beyond(planes, limits, args.log)  # the same in all frames

    def frames():
        for path, plane in zip(paths, planes):
            with Dump(path) as dump:
                fig = draw_plane(plane, dump, limits, extend, args)
            picture = io.BytesIO()
            fig.savefig(picture, format="png")
            yield image.open(picture).convert("RGB")

    if args.output.lower().endswith(".mp4"):
        write_atomically(args.output, mp4(frames(), args.fps))
    else:
        write_atomically(args.output, gif(frames(), args.fps, colors_for(limits, args.log)))
    rows = ([p, *row] for p, plane in zip(paths, planes) for row in rows_of(plane))
    save_table(args.data, ["file", *planes[0].across, args.field], rows)
    return f"{plural(len(paths), 'frame')} of {args.field} at {planes[0].where()}"


def gif(frames, fps: float, colors: str) -> bytes:
    """Encode a GIF with one palette of 256 colors: the color map, and greys for the text."""
    numpy = need("numpy", "numpy")
    cmap = need("matplotlib", "matplotlib").colormaps[colors]
    n_greys = 40
    field = cmap(numpy.linspace(0.0, 1.0, 256 - n_greys), bytes=True)[:, :3]
    greys = numpy.linspace(0, 255, n_greys).astype(numpy.uint8)
    palette = numpy.concatenate([field, numpy.stack([greys] * 3, axis=1)])
    few = (with_palette(frame, palette) for frame in frames)
    content = io.BytesIO()
    next(few).save(
        content,
        format="GIF",
        save_all=True,
        append_images=few,
        duration=round(1000.0 / fps),
        loop=0,
        disposal=1,
    )
    return content.getvalue()


def with_palette(frame, palette):
    """Map each pixel to the nearest color of the palette. Pillow's own search turns white grey."""
    numpy = need("numpy", "numpy")
    pixels = numpy.asarray(frame).astype(numpy.int32)
    packed = (pixels[..., 0] << 16) | (pixels[..., 1] << 8) | pixels[..., 2]
    found, which = numpy.unique(packed, return_inverse=True)
    colors = numpy.stack([found >> 16, found >> 8 & 255, found & 255], axis=1)
    distances = ((colors[:, None, :] - palette[None].astype(numpy.int32)) ** 2).sum(axis=2)
    nearest = distances.argmin(axis=1).astype(numpy.uint8)[which].reshape(packed.shape)
    picture = need("PIL.Image", "pillow").fromarray(nearest, mode="P")
    picture.putpalette(palette.ravel().tolist())
    return picture


def mp4(frames, fps: float) -> bytes:
    """Encode an MP4 with ffmpeg, without date and version, so that it is reproducible."""
    if shutil.which("ffmpeg") is None:
        raise UsageError("an .mp4 needs ffmpeg ('apt-get install ffmpeg'); or write a .gif")
    with tempfile.TemporaryDirectory() as folder:
        for i, frame in enumerate(frames):
            frame.save(os.path.join(folder, f"{i:06d}.png"))
        out = os.path.join(folder, "out.mp4")
        # H.264 needs even sizes: pad the frames.
        command = ["ffmpeg", "-loglevel", "error", "-framerate", f"{fps:g}"]
        command += ["-i", os.path.join(folder, "%06d.png"), "-pix_fmt", "yuv420p"]
        command += ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-map_metadata", "-1"]
        command += ["-fflags", "+bitexact", "-flags:v", "+bitexact", out]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise FileError(f"ffmpeg failed: {done.stderr.strip()[-120:]}")
        with open(out, "rb") as file:
            return file.read()
