"""Reader of dumps: attributes, and planes of fields (docs/format.md)."""

from __future__ import annotations

import contextlib
import os
import stat

from toolkit import FileError, ToolError, UsageError, late_interrupts, need, plural

SIGNATURE = b"\x89HDF\r\n\x1a\n"
FORMAT_VERSION = 2
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
    "operator": str,
    "equation": str,
    "boundary": str,
    "smoother": str,
    "cycle": str,
    "cells": int,
    "ranks": int,
    "threads": int,
    "cycles": int,
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
    """One plane of cells of a level, normal to an axis."""

    def __init__(self, field: str, level: int, axis: str, n: int, index: int, values):
        self.field, self.level, self.axis = field, level, axis
        self.n, self.index, self.values = n, index, values
        self.words, self.formula = FIELDS.get(field, (f"field {field}", field))
        self.across = [a for a in AXES if a != axis]  # axis of the columns, then of the rows

    def start(self, axis: str) -> float:
        """Lower edge of the first value: a value of a face is drawn centered on the face."""
        of_face = self.field == f"beta_{'ijk'[AXES.index(axis)]}"
        return -0.5 / self.n if of_face else 0.0

    def position(self, axis: str, index: int) -> float:
        return self.start(axis) + (index + 0.5) / self.n

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
            found["n"] = found["cells"]
            return found

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
            return list(self._group(level))

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
            n = data.shape[0]
            if data.shape != (n, n, n) or data.dtype.kind != "f":
                raise FileError(f"{self.path}: {data.name} is not a cubic array of floats")
            index = min(int(at * n), n - 1)
            cut = [slice(None)] * 3
            cut[2 - AXES.index(axis)] = index
            return Plane(field, level, axis, n, index, data[tuple(cut)])

    def history(self) -> tuple[list[float], float]:
        """The residual norm after each cycle, and the norm of f."""
        return self.about.get("residual_norms", []), self.about["f_norm"]

    def after(self) -> str:
        return f"after {plural(self.about['cycles'], 'cycle')}"
