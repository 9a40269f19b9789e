"""Reader of dumps: attributes, and planes of fields (docs/format.md)."""

from __future__ import annotations

import contextlib
import os
import stat

from plots.common import shape_of
from toolkit import FileError, ToolError, UsageError, late_interrupts, need, plural

SIGNATURE = b"\x89HDF\r\n\x1a\n"
FORMAT_VERSION = 3
AXES = "xyz"
# Words and formula for the labels of a field. Other fields are labeled with their name.
FIELDS = {
    "u": ("solution u", "u"),
    "f": ("right-hand side f", "f"),
    "residual": ("residual f − Au", "f − Au"),
    "beta_i": ("coefficient β of the lower faces in x", "β"),
    "beta_j": ("coefficient β of the lower faces in y", "β"),
    "beta_k": ("coefficient β of the lower faces in z", "β"),
    "dinv": ("1 / diagonal of A", "1/diag A"),
    "alpha": ("coefficient α", "α"),
}
# Exceptions that h5py and this reader raise for a file that is damaged or not a dump.
WRONG = (
    *(OSError, KeyError, IndexError, ValueError, TypeError, AttributeError),
    *(OverflowError, RuntimeError),
)
# Required attributes of the group HPGMG.
ATTRIBUTES = {
    **dict.fromkeys(("operator", "equation", "boundary", "smoother", "cycle"), str),
    **dict.fromkeys(("cells", "ranks", "threads", "cycles"), int),
    "f_norm": float,
}


def is_dump(path: str) -> bool:
    """Check the HDF5 signature. A pipe is never a dump: its first bytes could not be read again."""
    if os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None


class Plane:
    """One plane of cells of a level, normal to an axis.

    faces: positions of the faces of the level along each axis, one more than cells.
    is_cube: of 1 x 1 x 1."""

    def __init__(self, field: str, level: int, axis: str, faces: dict, index: int, values, is_cube):
        self.field, self.level, self.axis = field, level, axis
        self.faces, self.index, self.values, self.is_cube = faces, index, values, is_cube
        self.n = len(faces[axis]) - 1
        self.words, self.formula = FIELDS.get(field, (f"field {field}", field))
        self.across = [a for a in AXES if a != axis]  # axis of the columns, then of the rows

    def of_face(self, axis: str) -> bool:
        """Whether values belong to faces normal to the axis, the lower ones of each cell."""
        return self.field == f"beta_{'ijk'[AXES.index(axis)]}"

    def edges(self, axis: str):
        """Edges between the values: a value of a face is drawn centered on the face."""
        numpy = need("numpy", "numpy")
        faces = self.faces[axis]
        if not self.of_face(axis):
            return faces
        middle = 0.5 * (faces[1:] + faces[:-1])
        return numpy.concatenate([[2.0 * faces[0] - middle[0]], middle])

    def position(self, axis: str, index: int) -> float:
        faces = self.faces[axis]
        return faces[index] if self.of_face(axis) else 0.5 * (faces[index] + faces[index + 1])

    def is_even(self, axis: str) -> bool:
        numpy = need("numpy", "numpy")
        widths = numpy.diff(self.faces[axis])
        return bool(numpy.allclose(widths, widths[0], rtol=1e-9, atol=0.0))

    def size(self) -> str:
        """Cells of the level in words."""
        return f"{shape_of([len(self.faces[axis]) - 1 for axis in AXES])} cells"

    def where(self) -> str:
        place = f"{self.axis} = {self.position(self.axis, self.index):.7g}"
        return f"{place} (plane {self.index} of 0 to {self.n - 1})"


class Dump:
    """An open dump; use it in a `with` statement."""

    def __init__(self, path: str):
        self.path = path

    def __enter__(self) -> Dump:
        if not is_dump(self.path):
            raise FileError(f"{self.path} is not an HDF5 file; use a file written by --dump")
        with self.reading():
            self.file = need("h5py", "h5py").File(self.path, "r")
        try:
            self.about = self._about()
        except BaseException:
            self.file.close()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.file.close()

    @contextlib.contextmanager
    def reading(self):
        """Turn every error of the HDF5 library into one line."""
        try:
            with late_interrupts():
                yield
        except ToolError:
            raise
        except WRONG as error:
            raise FileError(
                f"{self.path} cannot be read as a dump ({str(error)[:120]}); dump it again"
            ) from None

    def _about(self) -> dict:
        with self.reading():
            if "HPGMG" not in self.file:
                raise FileError(f"{self.path} is not a dump of hpgmg-fv: no group HPGMG")
            found = {}
            for key, value in self.file["HPGMG"].attrs.items():
                if key == "residual_norms":
                    found[key] = [float(v) for v in value.flat]
                elif isinstance(value, bytes):
                    found[key] = value.decode("utf-8", "replace")
                else:
                    found[key] = value if isinstance(value, str) else value.flat[0]
            version = found.get("format_version")
            if version != FORMAT_VERSION:
                raise FileError(
                    f"{self.path} has format_version {version}, but this plot.py reads "
                    f"{FORMAT_VERSION}: use the plot.py of the program's release"
                )
            if found.get("complete") != 1:
                raise FileError(f"{self.path} is incomplete; dump it again")
            for key, kind in ATTRIBUTES.items():
                if key not in found:
                    raise FileError(f"{self.path} has no attribute HPGMG/{key}")
                if (kind is str) != isinstance(found[key], str):
                    raise FileError(f"{self.path}: HPGMG/{key} is {found[key]}")
                found[key] = kind(found[key])
            for key in ("coefficients", "rhs", "krylov"):
                if key in found:
                    found[key] = str(found[key])
            # The attribute `precision` is that of the stored values.
            found["precision"] = str(found.get("solver_precision", "double"))
            # Of the finest level. `cells` and `box_cells` are along x.
            shape = self.file["HPGMG"].attrs.get("cells_ijk", [found["cells"]] * 3)
            found["dim"] = [int(n) for n in shape]
            return found

    def _faces(self, group, level: int, shape: tuple) -> dict:
        """Positions of a level's faces: stored if cells differ in width."""
        numpy = need("numpy", "numpy")
        stored = self.file.get("grid") if level == 0 else group
        if stored is not None and "x" in stored:
            return {axis: stored[axis][...] for axis in AXES}
        lengths = [float(v) for v in self.about.get("lengths", "1,1,1").split(",")]
        return {
            axis: length * numpy.arange(n + 1) / n
            for axis, length, n in zip(AXES, lengths, reversed(shape))
        }

    def _levels(self) -> dict[int, str]:
        """Map each dumped level to its HDF5 group."""
        groups = {}
        for data in ("CellData", "PointData"):
            if len(self.file.get(f"VTKHDF/{data}", ())) > 0:
                groups[0] = f"VTKHDF/{data}"
        for name in self.file.get("HPGMG/levels", ()):
            groups[int(name.rpartition("_")[2])] = f"HPGMG/levels/{name}"
        return dict(sorted(groups.items()))

    def _group(self, level: int):
        groups = self._levels()
        if level not in groups:
            raise UsageError(
                f"--level={level}: {self.path} has only level {', '.join(map(str, groups))}; "
                "dump more with --dump-levels"
            )
        return self.file[groups[level]]

    def fields(self, level: int) -> list[str]:
        with self.reading():
            return [name for name in self._group(level) if name not in AXES]

    def plane(self, field: str, level: int, axis: str, at: float) -> Plane:
        """Read only one plane of a field."""
        with self.reading():
            group = self._group(level)
            if field not in list(group):
                raise UsageError(
                    f"--field={field}: level {level} of {self.path} has only {', '.join(group)}; "
                    "dump more with --dump-fields"
                )
            data = group[field]
            if len(data.shape) != 3 or data.dtype.kind != "f":
                raise FileError(f"{self.path}: {data.name} is not an array of cells of floats")
            faces = self._faces(group, level, data.shape)
            if any(len(faces[a]) != n + 1 for a, n in zip(AXES, reversed(data.shape))):
                raise FileError(f"{self.path}: the positions of faces do not fit {data.name}")
            index = self._cell_at(faces[axis], at)
            cut = [slice(None)] * 3
            cut[2 - AXES.index(axis)] = index
            is_cube = "lengths" not in self.about
            return Plane(field, level, axis, faces, index, data[tuple(cut)], is_cube)

    @staticmethod
    def _cell_at(faces, at: float) -> int:
        """The cell at a part of the length of an axis."""
        numpy = need("numpy", "numpy")
        place = faces[0] + at * (faces[-1] - faces[0])
        return int(min(max(numpy.searchsorted(faces, place, "right") - 1, 0), len(faces) - 2))

    def history(self) -> tuple[list[float], float]:
        """The residual norm after each cycle, and the norm that --rtol is relative to."""
        reference = self.about.get("reference_norm", self.about["f_norm"])
        return self.about.get("residual_norms", []), reference

    def after(self) -> str:
        return f"after {plural(self.about['cycles'], 'cycle')}"
