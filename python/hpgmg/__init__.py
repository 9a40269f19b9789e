"""Geometric multigrid for a alpha u - b div(beta grad u) = f on structured grids: libhpgmg.

>>> import hpgmg
>>> with hpgmg.Solver((64, 64, 64), "--rtol=1e-10") as solver:
...     result = solver.solve(1.0)
>>> print(result.u.max(), result.cycles)

Arrays are indexed [k, j, i], as in the dumps of hpgmg-fv, and have float64 values; any strides are
used without a copy. Inputs of other real types are converted. A number stands for an array of this
value. Anything that numpy.asarray takes, or with __dlpack__ (PyTorch), is an array in host memory,
and anything with __cuda_array_interface__ (CuPy, PyTorch, Numba) one in GPU memory. Masked, complex
and object arrays are errors. include/hpgmg.h documents the library, docs/usage.md the
words.

The library is that of the environment variable HPGMG_LIBRARY, or the one that the system finds.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import operator
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Error", "NotConverged", "Result", "Solver", "version"]

REASONS = ("cycles done", "converged", "max cycles", "diverged", "stagnated")
OK, NOT_CONVERGED = 0, 1


class Error(Exception):
    """A call failed. The message is that of the first rank that reports one."""


@dataclass
class Result:
    """What a solve did.

    u: this rank's box, [k, j, i], or a list if there are several; residual: max|f - A u|; relative:
    the same / max|f - A c|, where c is the least, middle or greatest u on the sides."""

    u: object
    reason: str
    cycles: int
    residual: float
    relative: float


class NotConverged(Error):
    """The solve ended without convergence; `result` has its last cycle."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


_Cells = ctypes.c_int32 * 3


class _Array(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("stride", ctypes.c_ssize_t * 3),
        ("n", _Cells),
    )


class _Coefficients(ctypes.Structure):
    _fields_ = (
        ("beta", ctypes.POINTER(_Array) * 3),
        ("alpha", ctypes.POINTER(_Array)),
        ("cell_beta", ctypes.POINTER(_Array)),
        ("mask", ctypes.POINTER(_Array)),
    )


class _Info(ctypes.Structure):
    _fields_ = (
        ("reason", ctypes.c_int),
        ("cycles", ctypes.c_int),
        ("residual", ctypes.c_double),
        ("relative", ctypes.c_double),
    )


class _Sides(ctypes.Structure):
    _fields_ = (("values", ctypes.POINTER(_Array) * 6),)


_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class _Box(ctypes.Structure):
    _fields_ = (("lo", _Cells), ("n", _Cells))


class _Options(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("cells", _Cells),
        ("faces", ctypes.POINTER(ctypes.c_double) * 3),
        ("n_boxes", ctypes.c_int32),
        ("boxes", ctypes.POINTER(_Box)),
        ("words", ctypes.c_char_p),
        ("varying_alpha", ctypes.c_int),
        ("guess", ctypes.c_int),
        ("cycles", ctypes.c_int32),
        ("comm", ctypes.c_void_p),
        ("comm_f", ctypes.POINTER(ctypes.c_int32)),
        ("stream", ctypes.c_void_p),
        ("log", _LOG),
        ("log_data", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("memory_data", ctypes.c_void_p),
    )


def _load() -> ctypes.CDLL:
    name = os.environ.get("HPGMG_LIBRARY") or ctypes.util.find_library("hpgmg")
    if not name:
        raise ImportError("libhpgmg.so was not found; set HPGMG_LIBRARY to its path")
    library = ctypes.CDLL(name)
    handle, array = ctypes.c_void_p, ctypes.POINTER(_Array)
    library.hpgmg_version.restype = ctypes.c_char_p
    for text in (library.hpgmg_error, library.hpgmg_method):
        text.restype = ctypes.c_char_p
        text.argtypes = (handle,)
    library.hpgmg_status_text.restype = ctypes.c_char_p
    library.hpgmg_create.argtypes = (ctypes.POINTER(_Options), ctypes.POINTER(handle))
    library.hpgmg_set_coefficients.argtypes = (handle, ctypes.POINTER(_Coefficients))
    library.hpgmg_set_sides.argtypes = (handle, ctypes.POINTER(_Sides))
    library.hpgmg_solve.argtypes = (handle, array, array, ctypes.POINTER(_Info))
    library.hpgmg_boxes.restype = ctypes.c_int32
    library.hpgmg_boxes.argtypes = (handle, ctypes.POINTER(_Box), ctypes.c_int32)
    library.hpgmg_storage.restype = None
    library.hpgmg_storage.argtypes = (handle, array, array)
    library.hpgmg_memory.restype = None
    library.hpgmg_memory.argtypes = (handle, ctypes.POINTER(ctypes.c_int64))
    library.hpgmg_destroy.restype = None
    library.hpgmg_destroy.argtypes = (ctypes.POINTER(handle),)
    return library


_library = _load()


def version() -> str:
    """Version of the library."""
    return _library.hpgmg_version().decode()


def _as_array(
    x: object, shape: tuple[int, ...], what: str, stream: int | None
) -> tuple[_Array, object]:
    """The array as an argument, and its owner."""
    device = getattr(x, "__cuda_array_interface__", None)
    if device is not None:
        if device["typestr"] != "<f8":
            raise ValueError(f"{what} has values of the type {device['typestr']}; expected float64")
        if device.get("mask") is not None:
            raise ValueError(f"{what} has a mask; give an array without one")
        # 1 is the default stream.
        if (device.get("stream") or 1) != (stream or 1):
            raise ValueError(
                f"{what} is used on the CUDA stream {device['stream']}, the solver follows "
                f"{stream or 'the default one'}; give the solver stream={device['stream']}"
            )
        strides = device.get("strides") or [8 * math.prod(shape[d + 1 :]) for d in range(3)]
        return _argument(x, device["data"][0], tuple(device["shape"]), strides, shape, what)
    array = _float64(x, what)
    if array.ndim == 0:
        array = np.broadcast_to(array, shape)
    return _argument(array, array.ctypes.data, array.shape, array.strides, shape, what)


def _float64(x: object, what: str) -> np.ndarray:
    x = _host_array(x)
    if np.ma.is_masked(np.ma.array(x) if isinstance(x, (list, tuple)) else x):
        raise ValueError(f"{what} has masked values; give values for them, as by filled()")
    array = np.asarray(x)
    if not np.can_cast(array.dtype, np.float64, "same_kind"):
        raise ValueError(f"{what} has values of the type {array.dtype}; expected float64")
    return np.asarray(array, dtype=np.float64)


def _host_array(x: object) -> object:
    """An array of another package as one of NumPy, in the same memory (DLPack)."""
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
        return x
    return np.from_dlpack(x)


def _argument(
    owner: object,
    address: int,
    has: tuple[int, ...],
    strides: Sequence[int],
    shape: tuple[int, ...],
    what: str,
) -> tuple[_Array, object]:
    if has != shape:
        raise ValueError(f"{what} has the shape {has}; expected {shape}, or a number")
    if any(s % 8 for s in (address, *strides)):
        raise ValueError(
            f"{what} has the strides {tuple(strides)} and the address {address}; "
            "expected multiples of 8 bytes"
        )
    steps = (ctypes.c_ssize_t * 3)(*(s // 8 for s in reversed(strides)))
    return _Array(address if math.prod(shape) else None, steps, _Cells(*reversed(shape))), owner


def _integer(x: object, what: str, low: int = -(2**31), high: int = 2**31 - 1) -> int:
    if isinstance(x, (bool, np.bool_)) or not hasattr(x, "__index__"):
        raise ValueError(f"{what} is {x!r}; expected an integer")
    n = operator.index(x)
    if not low <= n <= high:
        raise ValueError(f"{what} is {n}; expected an integer from {low} to {high}")
    return n


def _flag(x: object, what: str) -> bool:
    if not isinstance(x, (bool, np.bool_)):
        raise ValueError(f"{what} is {x!r}; expected True or False")
    return bool(x)


def _three(numbers: Sequence[int], what: str) -> tuple[int, ...]:
    three = tuple(_integer(x, what) for x in numbers)
    if len(three) != 3:
        raise ValueError(f"{what} has {len(three)} numbers; expected 3")
    return three


# Solvers that the garbage collector dropped on another thread than theirs, which may not call MPI.
_dropped: list[tuple[ctypes.c_void_p, int]] = []


def _drop(handle: ctypes.c_void_p, thread: int) -> None:
    if thread == threading.get_ident():
        _library.hpgmg_destroy(ctypes.byref(handle))
    elif handle:
        _dropped.append((handle, thread))


def _free_dropped() -> None:
    for _ in range(len(_dropped)):
        _drop(*_dropped.pop(0))


class Solver:
    """A solver for one grid, boundary conditions and method.

    cells: of the grid in i, j and k; None: the words have the size of a cube.
    words: options of hpgmg-fv, such as "--operator=7pt --boundary=neumann".
    faces: increasing positions of the faces in x, y and z, for cells of any widths; instead of
        --lengths.
    boxes: a pair (first cell, cells) in i, j and k, or a list of such pairs, for this rank; None:
        the whole grid, on one rank. With a list, each f, u, alpha, and beta of a direction is a
        list of arrays too, or a number.
    comm: an mpi4py communicator; None: this process alone.
    guess: solve() starts from the values of u.
    cycles: of each solve(), for any residual; 0: cycles until --rtol.
    stream: address of a CUDA stream, after whose work arrays in GPU memory are used; None: the
        default stream. Calls wait until they have finished.
    log: gets errors and warnings.

    Collective over the communicator, like all methods. Raises Error.

    close() frees the solver. Without comm, the garbage collector also does. With comm, all ranks
    must call close(): a solver dropped without it is not freed, and gives a ResourceWarning."""

    def __init__(
        self,
        cells: Sequence[int] | None,
        words: str = "",
        *,
        faces: Sequence[object] | None = None,
        boxes: Sequence | None = None,
        comm: object = None,
        varying_alpha: bool = False,
        guess: bool = False,
        cycles: int = 0,
        stream: int | None = None,
        log: Callable[[str], None] | None = None,
    ) -> None:
        self._handle = ctypes.c_void_p()
        self._comm = comm
        if comm is None:
            _free_dropped()
            weakref.finalize(self, _drop, self._handle, threading.get_ident()).atexit = False
        self._listed = isinstance(boxes, list)
        grid = (0, 0, 0) if cells is None else _three(cells, "cells")
        if boxes is None:
            if cells is None:
                raise ValueError("cells is None; so boxes must be given")
            boxes = ((0, 0, 0), grid)
        boxes = [_box(b) for b in (boxes if self._listed else [boxes])]
        if not boxes and comm is None:
            raise ValueError("boxes is empty; without comm, the boxes of this rank are the grid")
        axes = _axes(faces, grid)
        self._shapes = [tuple(reversed(b.n)) for b in boxes]
        self._guess = _flag(guess, "guess")
        self._varying_alpha = _flag(varying_alpha, "varying_alpha")
        self._is_set = {"beta": False, "alpha": False, "mask": False}
        self._stream = None if stream is None else _integer(stream, "stream", 0, 2**64 - 1)
        if "\0" in words:
            raise ValueError("words has a null character")
        self._log = _LOG(lambda _, text: log(text.decode())) if log else _LOG()
        options = _Options(
            ctypes.sizeof(_Options),
            _Cells(*grid),
            _pointers(axes),
            len(boxes),
            (_Box * len(boxes))(*boxes),
            words.encode(),
            self._varying_alpha,
            self._guess,
            _integer(cycles, "cycles"),
            _address_of(comm),
            None,
            self._stream,
            self._log,
            None,
        )
        status = _library.hpgmg_create(ctypes.byref(options), ctypes.byref(self._handle))
        if status != OK:
            message = self._message(status)
            self.close()
            raise Error(message)

    def _arrays(
        self, x: object, what: str, faces: int | None = None, side: int | None = None
    ) -> tuple:
        """Arguments for an array of each box, and the owners of their memory."""
        listed = self._listed and isinstance(x, (list, tuple))
        if self._listed and not listed and np.ndim(x) > 0:
            raise ValueError(f"{what} must be a list of {len(self._shapes)} arrays, or a number")
        each = list(x) if listed else [x] * len(self._shapes)
        if len(each) != len(self._shapes):
            raise ValueError(f"{what} has {len(each)} arrays; expected {len(self._shapes)}")
        pairs = []
        for array, shape in zip(each, self._shapes):
            if faces is not None and all(shape):
                shape = tuple(n + (d == 2 - faces) for d, n in enumerate(shape))
            if side is not None and all(shape):
                shape = tuple(1 if d == 2 - side else n for d, n in enumerate(shape))
            pairs.append(_as_array(array, shape, what, self._stream))
        return (_Array * len(pairs))(*(p[0] for p in pairs)), [p[1] for p in pairs]

    def _message(self, status: int) -> str:
        text = _library.hpgmg_error(self._handle).decode(errors="replace")
        return text or _library.hpgmg_status_text(status).decode()

    def close(self) -> None:
        """Free the solver. Called at the end of a `with` block."""
        _library.hpgmg_destroy(ctypes.byref(self._handle))

    def __del__(self) -> None:
        if getattr(self, "_comm", None) is not None and self._handle:
            text = "a Solver with a communicator was dropped without close() on all ranks"
            warnings.warn(text, ResourceWarning, stacklevel=2, source=self)

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def memory(self) -> tuple[int, int]:
        """Bytes of the levels on this rank: of the host, and of the GPU."""
        two = (ctypes.c_int64 * 2)()
        _library.hpgmg_memory(self._handle, two)
        return two[0], two[1]

    @property
    def method(self) -> str:
        """Smoother, cycle and solvers as words, and why `--method=auto` chose them."""
        return _library.hpgmg_method(self._handle).decode()

    @property
    def boxes(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """This rank's boxes as the solver divides the grid, as the argument `boxes` takes them.
        Arrays with these boxes need no messages between ranks."""
        n = _library.hpgmg_boxes(self._handle, None, 0)
        boxes = (_Box * n)()
        _library.hpgmg_boxes(self._handle, boxes, n)
        return [(tuple(b.lo), tuple(b.n)) for b in boxes]

    @property
    def storage(self) -> tuple[object, object]:
        """f and u in the solver's own memory, which solve() uses without a copy, until the solver
        is closed: arrays of NumPy, or on a GPU objects with __cuda_array_interface__. solve() may
        change this f, and other calls both. None for a box that is not one of the solver's."""
        self._check_open()
        f, u = (_Array * len(self._shapes))(), (_Array * len(self._shapes))()
        _library.hpgmg_storage(self._handle, f, u)
        on_gpu = self.memory[1] > 0
        both = [[_view(a, s, on_gpu) for a, s in zip(x, self._shapes)] for x in (f, u)]
        return tuple(x if self._listed else x[0] for x in both)

    def _check_open(self) -> None:
        if not self._handle:
            raise Error("this solver is closed")

    def set_coefficients(
        self,
        beta: Sequence[object] | None = None,
        alpha: object = None,
        *,
        cell_beta: object = None,
        mask: object = None,
    ) -> None:
        """Replace beta, on the faces normal to i, j and k, or in cells, alpha, and the mask of
        cells: 0 solid, 1 solved, 2 given (solve() takes u of these cells from its u); set up the
        levels.

        The array of faces normal to a direction has one more element in it than the box has
        cells. A coefficient that is left out is 1; once set, it must be given in each call."""
        self._check_open()
        if beta is not None and cell_beta is not None:
            raise ValueError("beta and cell_beta are given; give one of them")
        has = {
            "beta": beta is not None or cell_beta is not None,
            "alpha": alpha is not None,
            "mask": mask is not None,
        }
        for name, was_set in self._is_set.items():
            if was_set and not has[name]:
                raise ValueError(f"{name} is missing; it was set before, so give it again")
        beta = (1.0, 1.0, 1.0) if beta is None else beta
        alpha = 1.0 if alpha is None and self._varying_alpha else alpha
        given, owners = _Coefficients(), []

        def take(x: object, what: str, faces: int | None = None) -> ctypes.Array:
            arrays, owner = self._arrays(x, what, faces)
            owners.append((arrays, owner))
            return arrays

        if cell_beta is not None:
            given.cell_beta = take(cell_beta, "cell_beta")
        elif len(beta) != 3:
            raise ValueError(f"beta has {len(beta)} arrays; expected 3")
        else:
            for d, faces in enumerate(beta):
                given.beta[d] = take(faces, f"beta[{d}]", d)
        if alpha is not None:
            given.alpha = take(alpha, "alpha")
        if mask is not None:
            given.mask = take(mask, "mask")
        status = _library.hpgmg_set_coefficients(self._handle, ctypes.byref(given))
        if status != OK:
            raise Error(self._message(status))
        self._is_set = has

    def set_sides(self, values: Sequence[Sequence[object]]) -> None:
        """Replace the values of the conditions on the sides of the grid.

        values: a pair for the low and the high side in i, j and k. A side has a number, an array
        with the shape of the box and one element normal to the side, or None, to keep its value:
        that of an earlier call, or of the words."""
        self._check_open()
        pairs = [list(pair) for pair in values]
        if [len(pair) for pair in pairs] != [2, 2, 2]:
            raise ValueError("values must be three pairs: low and high side in i, j and k")
        given, owners = _Sides(), []
        for n, value in enumerate(pairs[0] + pairs[1] + pairs[2]):
            if value is None:
                continue
            arrays, owner = self._arrays(value, f"values[{n // 2}][{n % 2}]", side=n // 2)
            owners.append((arrays, owner))
            given.values[n] = arrays
        status = _library.hpgmg_set_sides(self._handle, ctypes.byref(given))
        if status != OK:
            raise Error(self._message(status))

    def solve(self, f: object, u: object = None) -> Result:
        """Solve A u = f; into u if it is given. Raises NotConverged and Error."""
        self._check_open()
        f, f_owner = self._arrays(f, "f")
        if u is None:
            if self._guess:
                raise ValueError("u is None, but the solver starts from its values")
            if self._is_set["mask"]:
                raise ValueError("u is None, but it has the values of cells that are not solved")
            u = [np.empty(shape) for shape in self._shapes]
            u = u if self._listed else u[0]
        for x in u if self._listed and isinstance(u, (list, tuple)) else [u]:
            if not _is_writable(x):
                raise ValueError("u must be writeable arrays of float64")
        arrays, _ = self._arrays(u, "u")
        info = _Info()
        status = _library.hpgmg_solve(self._handle, f, arrays, ctypes.byref(info))
        if status not in (OK, NOT_CONVERGED):
            raise Error(self._message(status))
        result = Result(u, REASONS[info.reason], info.cycles, info.residual, info.relative)
        if status == NOT_CONVERGED:
            raise NotConverged(self._message(status), result)
        return result


class _GpuArray:
    def __init__(self, interface: dict) -> None:
        self.__cuda_array_interface__ = interface


def _view(array: _Array, shape: tuple[int, ...], on_gpu: bool) -> object:
    if not array.data:
        return None
    interface = {
        "shape": shape,
        "strides": tuple(8 * s for s in reversed(array.stride)),
        "typestr": "<f8",
        "data": (array.data, False),
        "version": 3,
    }
    if on_gpu:
        return _GpuArray(interface)
    values = 1 + sum((n - 1) * s for n, s in zip(shape, reversed(array.stride)))
    memory = np.ctypeslib.as_array(
        ctypes.cast(array.data, ctypes.POINTER(ctypes.c_double)), (values,)
    )
    return np.lib.stride_tricks.as_strided(memory, shape, interface["strides"])


def _is_writable(x: object) -> bool:
    """Whether results are stored into x itself, not a converted copy."""
    device = getattr(x, "__cuda_array_interface__", None)
    if device is not None:
        return not device["data"][1]
    array = _host_array(x)
    # NumPy marks arrays from DLPack as read-only.
    writeable = array is not x or (isinstance(x, np.ndarray) and x.flags.writeable)
    return writeable and array.dtype == np.float64


def _axes(faces: Sequence[object] | None, cells: tuple[int, ...]) -> list[np.ndarray]:
    if faces is None:
        return []
    axes = [np.ascontiguousarray(_float64(x, f"faces[{d}]")) for d, x in enumerate(faces)]
    want = [(n + 1,) for n in cells]
    if [a.shape for a in axes] != want:
        raise ValueError(f"faces have the shapes {[a.shape for a in axes]}; expected {want}")
    return axes


def _pointers(axes: list[np.ndarray]) -> ctypes.Array:
    pointer = ctypes.POINTER(ctypes.c_double)
    return (pointer * 3)(*(a.ctypes.data_as(pointer) for a in axes))


def _box(pair: Sequence) -> _Box:
    if len(pair) != 2:
        raise ValueError(f"a box has {len(pair)} parts; expected its first cell and its cells")
    return _Box(_Cells(*_three(pair[0], "lo")), _Cells(*_three(pair[1], "n")))


def _address_of(comm: object) -> int | None:
    """Address of the MPI_Comm of an mpi4py communicator."""
    if comm is None:
        return None
    from mpi4py import MPI

    theirs, ours = MPI.Get_library_version().strip("\0 \n"), _mpi_version()
    if ours and ours != theirs:
        raise Error(
            f"comm is one of {theirs.splitlines()[0]}, but libhpgmg uses {ours.splitlines()[0]}; "
            "build mpi4py and libhpgmg with the same MPI library"
        )
    return MPI._addressof(comm)


def _mpi_version() -> str:
    """The MPI library of libhpgmg; "" if it was built without one."""
    text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
    try:
        _library.MPI_Get_library_version(text, ctypes.byref(length))
    except AttributeError:
        return ""
    return text.value.decode(errors="replace").strip("\0 \n")
