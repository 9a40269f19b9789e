"""plots: checks of pictures and tables for tests/scripts/plot.sh, independent of scripts/plot.py.

plots.py slice DUMP CSV FIELD LEVEL AXIS AT   every value and its position
plots.py film CSV FIELD DUMP...               every value of every frame, in this order
plots.py convergence CSV FILE...              norms of dumps and of all grids of reports
plots.py printed CSV OUT                      norms equal those that the program printed
plots.py levels CSV JSON...                   seconds per level and operation
plots.py scaling CSV JSON...                  medians, spread, rates and efficiency
plots.py bench CSV JSON LADDER,... [TABLES]   every row of the first tables of ladders
plots.py fused JSON                           write a report whose faster row has a lower percentage
plots.py roofs JSON                           add tables of a roofline to a report
plots.py faster PNG                           the first bar of the second row is 1.62 times as long
plots.py panels CSV JSON                      every row of all ladders
plots.py roofline CSV JSON                    flops per byte and GFLOP/s of every kernel with flops
plots.py png FILE WIDTH HEIGHT                the PNG has this size and is not empty
plots.py gif FILE WIDTH HEIGHT FRAMES         so has each frame, and all frames differ
plots.py mark DUMP                            set u = 1 where x > 1/2 and y < 1/4, else 0
plots.py marked FILE                          that block is at the lower right of the picture
plots.py damage DUMP PLANE                    overwrite the compressed plane of u
"""

import csv
import json
import re
import statistics
import sys

import h5py
import numpy as np
from PIL import Image


def report_of(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def bench_rows(path, ladders, n_tables=100):
    tables = report_of(path)["tables"]
    chosen = [[t for t in tables if t["ladder"] == name][:n_tables] for name in ladders.split(",")]
    return [(t["table"], row) for of_ladder in chosen for t in of_ladder for row in t["rows"]]


def bench(path, report, ladders, n_tables=100):
    drawn, rows = table(path), bench_rows(report, ladders, int(n_tables))
    assert len(drawn) == len(rows) > 1, (len(drawn), len(rows))
    for got, (title, want) in zip(drawn, rows):
        assert (got["table"], got["variant"]) == (title, want["variant"]), got
        assert float(got["of_copy"]) == want["of_copy"], (got, want)
        ns = 1e9 * want["seconds"] / want["elements"]
        assert abs(float(got["ns_per_element"]) / ns - 1) < 1e-12, (got, want)
        assert float(got["speed_up"]) == want["speed_up"], (got, want)


def fused(path):
    names, seconds = ("one step", "three steps in a pass"), (1.62, 1.0)
    rows = [
        {
            "variant": name,
            "elements": 1000000000,
            "seconds": s,
            "useful_bytes": useful,
            "flops": 35,
            "gb_per_s": useful / s,
            "of_copy": useful / s / 40.0,
            "speed_up": seconds[0] / s,
        }
        for name, s, useful in zip(names, seconds, (56.0, 64.0 / 3))
    ]
    assert rows[1]["of_copy"] < 0.65 * rows[0]["of_copy"]
    report = {
        "program": "hpgmg-bench",
        "machine": {"name": "none"},
        "copy_gb_per_s": 40.0,
        "tables": [{"ladder": "smooth", "table": "steps", "rows": rows}],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file)


def roofs(path):
    """Titles and kernels as of hpgmg-bench roofline; rows without flops are not drawn."""
    report = report_of(path)
    for title, kernels in (
        ("arithmetic, double", [("fma in registers", 8, 640, 0.5)]),
        ("fv2, gsrb, 64^3 cells", [("residual", 48, 17, 20), ("fill", 8, 0, 40)]),
        ("fv2, gsrb, alpha varies, 64^3 cells", [("residual", 56, 19, 16)]),
        ("fv4, gsrb, float, 64^3 cells", [("GSRB, a half sweep", 28, 119, 8)]),
        (
            "fv2, gsrb, 128^3 cells",
            # Two points at almost one place.
            [("residual", 48, 17, 10), ("GSRB, a half sweep", 48, 17, 10.1), ("fill", 8, 0, 20)],
        ),
        ("fv4, gsrb, float, 128^3 cells", [("GSRB, a half sweep", 28, 119, 4)]),
    ):
        cells = int((re.findall(r"(\d+)\^3", title) or [64])[0]) ** 3
        rows = [
            {
                "variant": kernel,
                "elements": cells,
                "seconds": 1e-9 * cells * useful / rate,
                "useful_bytes": useful,
                "flops": flops,
                "gb_per_s": rate,
                "of_copy": rate / report["copy_gb_per_s"],
                "speed_up": 0,
                "in_cache": False,
            }
            for kernel, useful, flops, rate in kernels
        ]
        report["tables"].append({"ladder": "roofline", "table": title, "rows": rows})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)


def faster(path):
    """Bars have the color of the first table."""
    image = np.asarray(Image.open(path).convert("RGB")).astype(int)
    of_bar = (abs(image - (0, 0x72, 0xB2)) <= 8).all(axis=2)
    widths = []  # width of the first bar in each line of pixels
    for line in of_bar:
        at = np.flatnonzero(line)
        ends = np.flatnonzero(np.diff(at) > 1)
        widths.append(0 if at.size == 0 else (ends[0] if ends.size else at.size - 1) + 1)
    bars = [w for w, before in zip(widths[1:], widths) if w > 0 and before == 0]
    assert len(bars) == 2 and abs(bars[1] / bars[0] / 1.62 - 1) < 0.03, bars


def panels(path, report):
    want = [
        (t["ladder"], t["table"], r["variant"], r["of_copy"])
        for t in report_of(report)["tables"]
        for r in t["rows"]
    ]
    drawn = [(r["ladder"], r["table"], r["variant"], float(r["of_copy"])) for r in table(path)]
    assert len({ladder for ladder, _, _, _ in want}) > 1 and drawn == want, "rows differ"


def roofline(path, report):
    drawn = table(path)
    rows = [(t, row) for t, row in bench_rows(report, "roofline") if row["flops"] > 0]
    assert len(drawn) == len(rows) > 1, (len(drawn), len(rows))
    for got, (title, want) in zip(drawn, rows):
        assert (got["table"], got["kernel"]) == (title, want["variant"]), got
        per_byte = want["flops"] / want["useful_bytes"]
        rate = 1e-9 * want["flops"] * want["elements"] / want["seconds"]
        assert abs(float(got["flops_per_byte"]) / per_byte - 1) < 1e-12, got
        assert abs(float(got["gflop_per_s"]) / rate - 1) < 1e-9, (got, rate)


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def field_of(file, field, level):
    for group in (
        ("VTKHDF/CellData", "VTKHDF/PointData") if level == 0 else (f"HPGMG/levels/level_{level}",)
    ):
        if group in file and field in file[group]:
            return file[group][field][...]
    raise SystemExit(f"no {field} of level {level}")


def faces_of(file, level, shape):
    """Positions of the faces of a level along x, y and z."""
    stored = file.get("grid" if level == 0 else f"HPGMG/levels/level_{level}")
    if stored is not None and "x" in stored:
        return {axis: stored[axis][...] for axis in "xyz"}
    lengths = file["HPGMG"].attrs.get("lengths", b"1,1,1").decode().split(",")
    return {a: float(x) * np.arange(n + 1) / n for a, x, n in zip("xyz", lengths, shape[::-1])}


def places(field, axis, faces):
    """Centers of cells, or of their lower faces."""
    of_face = field == {"x": "beta_i", "y": "beta_j", "z": "beta_k"}[axis]
    return faces[:-1] if of_face else 0.5 * (faces[:-1] + faces[1:])


def compare_plane(rows, path, field, level, axis, at):
    with h5py.File(path) as file:
        values = field_of(file, field, level)
        faces = faces_of(file, level, values.shape)
    # The last cell that begins at or before the place.
    k = int((faces[axis][:-1] <= at * faces[axis][-1]).sum()) - 1
    plane = {"z": values[k], "y": values[:, k], "x": values[:, :, k]}[axis]
    across, up = [a for a in "xyz" if a != axis]
    assert len(rows) == plane.size, f"{len(rows)} rows"
    drawn = np.array([[float(row[c]) for c in (across, up, field)] for row in rows])
    drawn = drawn.reshape(*plane.shape, 3)
    assert np.array_equal(drawn[..., 2], plane.astype(float)), "values differ"
    for column, name in enumerate((across, up)):
        want = np.expand_dims(places(field, name, faces[name]), column)
        assert np.allclose(drawn[..., column], want, rtol=0, atol=1e-14), name


def slice_(dump, path, field, level, axis, at):
    compare_plane(table(path), dump, field, int(level), axis, float(at))


def film(path, field, *dumps):
    rows = table(path)
    frames = list(dict.fromkeys(row["file"] for row in rows))
    assert frames == list(dumps), f"{frames} instead of {dumps}"
    for dump in dumps:
        compare_plane([row for row in rows if row["file"] == dump], dump, field, 0, "z", 0.25)


def histories(path):
    """[cells along x, y and z, norms, relative norms] for a dump, or for each grid of a report."""
    if path.endswith(".json"):
        report = report_of(path)
        return [
            [level["dim"], s["norms"], s["rel"]]
            for level, s in zip(report["levels"], report["solves"])
        ]
    with h5py.File(path) as file:
        about = file["HPGMG"].attrs
        norms = about["residual_norms"]
        dim = [int(n) for n in about.get("cells_ijk", list(about["cells"]) * 3)]
        return [[dim, list(norms), list(norms / about["f_norm"][0])]]


def cells_of(row):
    return [int(row[column]) for column in ("nx", "ny", "nz")]


def convergence(path, *files):
    rows = [[cells_of(r), float(r["norm"]), float(r["relative"])] for r in table(path)]
    want = [[n, *v] for file in files for n, norms, rel in histories(file) for v in zip(norms, rel)]
    assert rows == want, f"{rows} instead of {want}"
    cycles = [int(r["cycle"]) for r in table(path)]
    assert cycles == [c for f in files for h in histories(f) for c in range(1, len(h[1]) + 1)]


def printed(path, out):
    with open(out) as file:
        found = re.findall(
            r"(\d+)\^3  cycle +(\d+)  max\|f-Au\| (\S+)  relative (\S+)", file.read()
        )
    rows = [
        (r["nx"], r["cycle"], f"{float(r['norm']):.15e}", f"{float(r['relative']):.15e}")
        for r in table(path)
    ]
    assert len(found) > 3 and rows == found, f"{rows} instead of {found}"


def levels(path, *files):
    want = {}
    for name in files:
        report = report_of(name)
        for i, level in enumerate(report["levels"]):
            for operation, seconds in level["seconds"].items():
                want[(name, i, *level["dim"], operation)] = seconds
        # Operations of the bottom solve count only there. Interpolation exchanges halos, too.
        last = set(report["levels"][-1]["seconds"])
        assert "bottom_solve" in last and last <= {"bottom_solve", "halo_exchange"}, last
        # With one rank, all times are parts of the solve's.
        mean = sum(s[1] for level in report["levels"] for s in level["seconds"].values())
        assert report["run"]["ranks"] > 1 or mean <= report["solves"][0]["seconds_mean"], name
    columns = ("seconds_min", "seconds_mean", "seconds_max")
    rows = {
        (r["file"], int(r["level"]), *cells_of(r), r["operation"]): [float(r[c]) for c in columns]
        for r in table(path)
    }
    assert len(want) > 3 and rows == want, "seconds differ"


def scaling(path, *files):
    points = {}
    for name in files:
        report = report_of(name)
        units = report["run"]["ranks"] * report["run"]["threads"]
        solve = report["solves"][0]
        points.setdefault(units, []).append((solve["seconds_mean"], solve["dof"]))
    rows = table(path)
    assert [int(r["units"]) for r in rows] == sorted(points), "numbers of ranks differ"
    first = None
    for row in rows:
        seconds = [s for s, _ in points[int(row["units"])]]
        dof = points[int(row["units"])][0][1]
        middle = statistics.median(seconds)
        each = dof / middle / int(row["units"])
        first = first or each
        got = [float(row[c]) for c in ("dof", "repeats", "seconds", "seconds_min", "seconds_max")]
        assert got == [dof, len(seconds), middle, min(seconds), max(seconds)], row
        assert np.isclose(float(row["dof_per_s"]), dof / middle, rtol=1e-12), row
        assert np.isclose(float(row["efficiency"]), each / first, rtol=1e-12), row


def something_on(picture, width, height):
    """The picture has this size, no dominant color, and more colors than text alone has."""
    assert picture.size == (int(width), int(height)), f"{picture.size} pixels"
    pixels = np.asarray(picture.convert("RGB")).astype(np.uint32)
    colors, counts = np.unique(pixels @ (1 << 16, 1 << 8, 1), return_counts=True)
    most = counts.max() / counts.sum()
    assert len(colors) > 20 and most < 0.97, f"{len(colors)} colors, one fills {most:.2f}"


def png(path, width, height):
    with Image.open(path) as picture:
        assert picture.format == "PNG", picture.format
        picture.load()  # reads everything and verifies checksums
        something_on(picture, width, height)


def gif(path, width, height, n_frames):
    with Image.open(path) as picture:
        assert picture.format == "GIF", picture.format
        assert getattr(picture, "n_frames", 1) == int(n_frames), f"{picture.n_frames} frames"
        seen = set()
        for i in range(int(n_frames)):
            picture.seek(i)
            something_on(picture.convert("RGB"), width, height)
            seen.add(picture.convert("RGB").tobytes())
        assert len(seen) == int(n_frames), "two frames are equal"


def mark(dump):
    with h5py.File(dump, "r+") as file:
        data = file["VTKHDF/CellData/u"]
        n = len(data)
        values = np.zeros((n, n, n))
        values[:, : n // 4, n // 2 :] = 1.0
        data[...] = values


def marked(path):
    """Yellow is the largest value, dark the smallest; the color bar is cut off."""
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)[:, : int(0.8 * picture.width)]
    yellow = (pixels[..., 0] > 230) & (pixels[..., 1] > 210) & (pixels[..., 2] < 80)
    dark = (pixels[..., 0] < 80) & (pixels[..., 1] < 20) & (pixels[..., 2] > 70)
    both = np.argwhere(yellow | dark)
    (top, left), (bottom, right) = both.min(axis=0), both.max(axis=0)
    rows, columns = np.argwhere(yellow).T
    height, width = bottom - top, right - left
    assert abs((rows.min() - top) / height - 0.75) < 0.02, "the block is not the lower quarter"
    assert abs((columns.min() - left) / width - 0.5) < 0.02, "the block is not the right half"
    assert abs(yellow.sum() / len(both) - 0.125) < 0.01, "the block is not an eighth"


def damage(dump, plane):
    with h5py.File(dump) as file:
        data = file["VTKHDF/CellData/u"]
        chunk = data.id.get_chunk_info_by_coord((int(plane), 0, 0))
        assert data.chunks[0] == 1, "a chunk holds several planes"
    with open(dump, "r+b") as file:
        file.seek(chunk.byte_offset)
        file.write(b"\0" * chunk.size)


if __name__ == "__main__":
    name = sys.argv[1]
    {"slice": slice_}.get(name, globals().get(name))(*sys.argv[2:])
