"""Geometric multigrid for a alpha u - b div(beta grad u) = f on structured grids: libhpgmg.

>>> import hpgmg
>>> with hpgmg.Solver((64, 64, 64), "--rtol=1e-10") as solver:
...     result = solver.solve(1.0)
>>> print(result.u.max(), result.cycles)

Arrays are indexed [k, j, i], as in the dumps of hpgmg-fv, and have float64 values in host memory;
any strides are used without a copy. A number stands for an array of this value. Anything that
numpy.asarray accepts is an array. include/hpgmg.h documents the library, docs/usage.md the words.

The library is that of the environment variable HPGMG_LIBRARY, or the one that the system finds.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Error", "NotConverged", "Result", "Solver", "version"]

REASONS = ("cycles done", "converged", "max cycles", "diverged")
OK, NOT_CONVERGED = 0, 1


class Error(Exception):
    """A call failed. The message is that of the first rank that reports one."""


@dataclass
class Result:
    """What a solve did.

    u: this rank's box, [k, j, i]; residual: max|f - A u|; relative: the same by max|f|."""

    u: np.ndarray
    reason: str
    cycles: int
    residual: float
    relative: float


class NotConverged(Error):
    """The solve ended without convergence; `result` has its last cycle."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


class _Array(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("stride", ctypes.c_ssize_t * 3))


class _Coefficients(ctypes.Structure):
    _fields_ = (("beta", _Array * 3), ("alpha", _Array))


class _Info(ctypes.Structure):
    _fields_ = (
        ("reason", ctypes.c_int),
        ("cycles", ctypes.c_int),
        ("residual", ctypes.c_double),
        ("relative", ctypes.c_double),
    )


_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
_Cells = ctypes.c_int32 * 3


class _Options(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("cells", _Cells),
        ("lo", _Cells),
        ("n", _Cells),
        ("words", ctypes.c_char_p),
        ("varying_alpha", ctypes.c_int),
        ("comm", ctypes.c_void_p),
        ("log", _LOG),
        ("log_data", ctypes.c_void_p),
    )


def _load() -> ctypes.CDLL:
    name = os.environ.get("HPGMG_LIBRARY") or ctypes.util.find_library("hpgmg")
    if not name:
        raise ImportError("libhpgmg.so was not found; set HPGMG_LIBRARY to its path")
    # Open MPI's components look for its symbols among the global ones.
    library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    handle, array = ctypes.c_void_p, ctypes.POINTER(_Array)
    library.hpgmg_version.restype = ctypes.c_char_p
    library.hpgmg_error.restype = ctypes.c_char_p
    library.hpgmg_error.argtypes = (handle,)
    library.hpgmg_status_text.restype = ctypes.c_char_p
    library.hpgmg_create.argtypes = (ctypes.POINTER(_Options), ctypes.POINTER(handle))
    library.hpgmg_set_coefficients.argtypes = (handle, ctypes.POINTER(_Coefficients))
    library.hpgmg_solve.argtypes = (handle, array, array, ctypes.POINTER(_Info))
    library.hpgmg_destroy.restype = None
    library.hpgmg_destroy.argtypes = (ctypes.POINTER(handle),)
    return library


_library = _load()


def version() -> str:
    """Version of the library."""
    return _library.hpgmg_version().decode()


def _as_array(x: object, shape: tuple[int, ...], what: str) -> np.ndarray:
    array = np.asarray(x, dtype=np.float64)
    if array.ndim and array.shape != shape:
        raise ValueError(f"{what} has the shape {array.shape}; expected {shape}, or a number")
    return np.broadcast_to(array, shape) if array.ndim == 0 else array


def _struct(array: np.ndarray) -> _Array:
    if any(s % array.itemsize for s in array.strides):
        raise ValueError(f"strides of {array.strides} bytes are no multiples of {array.itemsize}")
    strides = (s // array.itemsize for s in reversed(array.strides))
    data = array.ctypes.data if array.size else None
    return _Array(data, (ctypes.c_ssize_t * 3)(*strides))


def _three(numbers: Sequence[int] | None, what: str) -> tuple[int, ...]:
    three = (0, 0, 0) if numbers is None else tuple(int(x) for x in numbers)
    if len(three) != 3:
        raise ValueError(f"{what} has {len(three)} numbers; expected 3")
    return three


class Solver:
    """A solver for one grid, boundary conditions and method.

    cells: of the grid in i, j and k; None: the words have the size of a cube.
    words: options of hpgmg-fv, such as "--operator=7pt --boundary=neumann".
    lo, n: first cell, and cells, of this rank's box; None: the whole grid, on one rank.
    comm: an mpi4py communicator; None: this process alone.
    log: gets errors and warnings.

    Collective over the communicator, like all methods. Raises Error."""

    def __init__(
        self,
        cells: Sequence[int] | None,
        words: str = "",
        *,
        lo: Sequence[int] | None = None,
        n: Sequence[int] | None = None,
        comm: object = None,
        varying_alpha: bool = False,
        log: Callable[[str], None] | None = None,
    ) -> None:
        self._handle = ctypes.c_void_p()
        grid = _three(cells, "cells")
        size = _three(cells if n is None else n, "n")
        if n is None and cells is None:
            raise ValueError("cells is None; so n must give the box")
        self._shape = (size[2], size[1], size[0])
        self._log = _LOG(lambda _, text: log(text.decode())) if log else _LOG()
        options = _Options(
            ctypes.sizeof(_Options),
            _Cells(*grid),
            _Cells(*_three(lo, "lo")),
            _Cells(*size),
            words.encode(),
            varying_alpha,
            _address_of(comm),
            self._log,
            None,
        )
        status = _library.hpgmg_create(ctypes.byref(options), ctypes.byref(self._handle))
        if status != OK:
            message = self._message(status)
            self.close()
            raise Error(message)

    def _message(self, status: int) -> str:
        text = _library.hpgmg_error(self._handle).decode(errors="replace")
        return text or _library.hpgmg_status_text(status).decode()

    def close(self) -> None:
        """Free the solver. Called at the end of a `with` block."""
        _library.hpgmg_destroy(ctypes.byref(self._handle))

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if not self._handle:
            raise Error("this solver is closed")

    def set_coefficients(
        self, beta: Sequence[object] = (1.0, 1.0, 1.0), alpha: object = None
    ) -> None:
        """Replace beta, on the faces normal to i, j and k, and alpha, and set up the levels.

        The array of faces normal to a direction has one more element in it than the box has
        cells."""
        self._check_open()
        if len(beta) != 3:
            raise ValueError(f"beta has {len(beta)} arrays; expected 3")
        arrays = []
        for d, faces in enumerate(beta):
            shape = list(self._shape)
            shape[2 - d] += all(shape)
            arrays.append(_as_array(faces, tuple(shape), f"beta[{d}]"))
        coefficients = _Coefficients((_Array * 3)(*(_struct(a) for a in arrays)))
        if alpha is not None:
            arrays.append(_as_array(alpha, self._shape, "alpha"))
            coefficients.alpha = _struct(arrays[-1])
        status = _library.hpgmg_set_coefficients(self._handle, ctypes.byref(coefficients))
        if status != OK:
            raise Error(self._message(status))

    def solve(self, f: object, u: np.ndarray | None = None) -> Result:
        """Solve A u = f; into u if it is given. Raises NotConverged and Error."""
        self._check_open()
        f = _as_array(f, self._shape, "f")
        if u is None:
            u = np.empty(self._shape)
        if (
            not isinstance(u, np.ndarray)
            or u.shape != self._shape
            or u.dtype != np.float64
            or not u.flags.writeable
        ):
            raise ValueError(f"u must be writeable float64 of the shape {self._shape}")
        info = _Info()
        status = _library.hpgmg_solve(
            self._handle, ctypes.byref(_struct(f)), ctypes.byref(_struct(u)), ctypes.byref(info)
        )
        if status not in (OK, NOT_CONVERGED):
            raise Error(self._message(status))
        result = Result(u, REASONS[info.reason], info.cycles, info.residual, info.relative)
        if status == NOT_CONVERGED:
            raise NotConverged(self._message(status), result)
        return result


def _address_of(comm: object) -> int | None:
    """Address of the MPI_Comm of an mpi4py communicator."""
    if comm is None:
        return None
    from mpi4py import MPI

    return MPI._addressof(comm)
