"""Solve with the Python package, and check results and errors."""

import gc
import threading

import hpgmg
import numpy as np


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), f"{error} lacks {text}"
        return error
    raise AssertionError(f"no {kind.__name__}: {text}")


def residual_of(u, f, beta, h):
    """f - A u of the 7-point operator with periodic sides and a = alpha = b = 1."""
    flux = np.zeros_like(u)
    for axis in range(3):
        b = beta[2 - axis]
        below = np.take(b, range(b.shape[axis] - 1), axis) * (u - np.roll(u, 1, axis))
        above = np.take(b, range(1, b.shape[axis]), axis) * (np.roll(u, -1, axis) - u)
        flux += above - below
    return f - (u - flux / h**2)


def faces(draw, shape, axis):
    """Random values on the faces normal to an axis; the last plane is the first one's period."""
    b = 1.0 + draw.random(shape)
    return np.concatenate([b, np.take(b, [0], axis)], axis)


def check_variable_coefficients():
    """Norms, several solves, new coefficients, and arrays in any order in memory."""
    draw = np.random.default_rng(1)
    shape, h = (12, 16, 20), 0.125
    lines = []
    words = f"--operator=7pt --equation=helmholtz --boundary=periodic --spacing={h},{h},{h}"
    with hpgmg.Solver(shape[::-1], words + " --rtol=1e-11", log=lines.append) as solver:
        assert abs(solver.solve(1.0).u - 1.0).max() < 1e-9
        for order in "C", "F":
            beta = [np.asarray(faces(draw, shape, 2 - d), order=order) for d in range(3)]
            f = draw.random(shape)
            solver.set_coefficients(beta)
            u = np.empty(shape, order=order)
            result = solver.solve(f, u)
            assert result.u is u and result.reason == "converged"
            largest = np.abs(residual_of(u, f, beta, h)).max()
            assert abs(largest - result.residual) < 1e-13 * np.abs(u).max() / h**2
            assert largest <= 1.01e-11 * np.abs(f).max()
        beta[1] = beta[1].copy()
        beta[1][3, 5, 7] = np.nan
        raises(hpgmg.Error, "beta[1] has nan at (7, 5, 3)", lambda: solver.set_coefficients(beta))
        assert lines == [f"hpgmg: error: {lines[0][14:]}"], lines
        raises(ValueError, "f has the shape (2,)", lambda: solver.solve([1.0, 2.0]))
        raises(ValueError, "writeable", lambda: solver.solve(f, np.zeros(shape, np.float32)))
        raises(ValueError, "expected 3", lambda: solver.set_coefficients(beta[:2]))
        planes = [np.zeros(shape[1:]) for _ in range(shape[0])]
        raises(ValueError, "writeable", lambda: solver.solve(f, planes))
        raises(ValueError, "beta is missing", lambda: solver.set_coefficients())
    raises(hpgmg.Error, "closed", lambda: solver.solve(1.0))


def check_ends():
    raises(hpgmg.Error, "magic", lambda: hpgmg.Solver((16, 16, 16), "--smoother=magic"))
    raises(ValueError, "cells has 2 numbers", lambda: hpgmg.Solver((16, 16)))
    with hpgmg.Solver((16, 16, 16), "--rtol=1e-12 --max-cycles=2") as solver:
        error = raises(hpgmg.NotConverged, "after 2 cycles", lambda: solver.solve(1.0))
        assert error.result.cycles == 2 and error.result.reason == "max cycles"
        assert error.result.u.max() > 0.05
    with hpgmg.Solver((16, 16, 16), cycles=3) as solver:
        assert sum(solver.memory) > 5 * 16**3 * 8
        assert "--krylov=none" in solver.method
        with hpgmg.Solver((16, 16, 16), "--dry-run", cycles=3) as planned:
            assert planned.memory == solver.memory
        assert solver.solve(1.0).reason == "cycles done" and solver.solve(1.0).cycles == 3
    with hpgmg.Solver((16, 16, 16), "--equation=helmholtz", varying_alpha=True) as solver:
        solver.set_coefficients(alpha=3.0)
        assert solver.solve(1.0).u.max() < 0.1
        solver.set_coefficients(cell_beta=2.0, alpha=3.0)
        raises(ValueError, "beta is missing", lambda: solver.set_coefficients(alpha=2.0))
        raises(ValueError, "alpha is missing", lambda: solver.set_coefficients(cell_beta=2.0))
        both = {"beta": [1.0] * 3, "cell_beta": 1.0, "alpha": 1.0}
        raises(ValueError, "give one of them", lambda: solver.set_coefficients(**both))


def check_numbers():
    """Numbers and arrays count as they are, or are errors."""
    words = "--operator=7pt --rtol=1e-9"
    for bad in 7.9999999, 2**32 + 8, True, "8", None:
        raises(ValueError, "cells is ", lambda n=bad: hpgmg.Solver((n, 8, 8), words))
    raises(ValueError, "lo is 0.5", lambda: hpgmg.Solver((8, 8, 8), boxes=((0, 0, 0.5), (8, 8, 8))))
    raises(ValueError, "cycles is 4294967299", lambda: hpgmg.Solver((8, 8, 8), cycles=2**32 + 3))
    raises(ValueError, "stream is -1", lambda: hpgmg.Solver((8, 8, 8), stream=-1))
    raises(ValueError, "guess is 'no'", lambda: hpgmg.Solver((8, 8, 8), guess="no"))
    raises(ValueError, "null", lambda: hpgmg.Solver((8, 8, 8), "--rtol=1e-9\0--operator=7pt"))
    raises(hpgmg.Error, "options.cells is 8x8x8", lambda: hpgmg.Solver((8, 8, 8), "--cells=9x9x9"))
    f = np.random.default_rng(3).random((8, 8, 8))
    with hpgmg.Solver(np.array([8, 8, 8], np.uint8), words) as solver:
        u = solver.solve(f).u
        for same in np.ma.array(f), f.astype(">f8"), f.tolist(), f[::-1, ::-1][::-1, ::-1]:
            assert (solver.solve(same).u == u).all()
        hidden = np.ma.array(f, mask=f > 0.9)
        for bad in hidden, list(hidden):
            raises(ValueError, "f has masked values", lambda f=bad: solver.solve(f))
        raises(ValueError, "masked", lambda: solver.set_coefficients(cell_beta=hidden + 1))
        for kind in complex, object, "U9":
            raises(ValueError, "values of the type", lambda k=kind: solver.solve(f.astype(k)))
        raises(hpgmg.Error, "f has nan", lambda: solver.solve(np.where(f > 0.9, np.nan, f)))
        raw = np.zeros(8 * f.size + 4, np.uint8)[4:].view(np.float64)
        raises(ValueError, "multiples of 8", lambda: solver.solve(f, raw.reshape(f.shape)))
        locked = np.zeros(f.shape)
        locked.flags.writeable = False
        for bad in locked, np.zeros(f.shape, ">f8"), np.zeros(f.shape, int), hidden.copy():
            raises(ValueError, "u ", lambda u=bad: solver.solve(f, u))
    x = np.linspace(0, 1, 9)
    hidden = np.ma.array(x, mask=x > 0.9)
    raises(ValueError, "faces[2] has m", lambda: hpgmg.Solver((8, 8, 8), faces=(x, x, hidden)))


def check_dropped():
    """A solver without a communicator is freed with its object, on its own thread."""
    solver = hpgmg.Solver((8, 8, 8))
    handle = solver._handle
    assert handle
    del solver
    gc.collect()
    assert not handle
    solver = [hpgmg.Solver((8, 8, 8))]
    handle = solver[0]._handle
    thread = threading.Thread(target=solver.clear)
    thread.start()
    thread.join()
    assert handle
    hpgmg.Solver((8, 8, 8)).close()
    assert not handle
    # At the end of the program, objects of modules may be gone.
    globals()["forgotten"] = hpgmg.Solver((8, 8, 8))


def check_sides():
    """Values of sides: u = x + 2 y is the solution without f; words with the same
    values have the same results."""
    n, words = 16, "--operator=7pt --rtol=1e-11"
    x = (np.arange(n) + 0.5) / n
    x, y = x[np.newaxis, np.newaxis, :], x[np.newaxis, :, np.newaxis]
    xy = np.broadcast_to(x + 2.0 * y, (n, n, n))
    low_j, high_j = (np.broadcast_to(x + 2.0 * at, (n, 1, n)) for at in (0.0, 1.0))
    with hpgmg.Solver((n, n, n), words + " --boundary=neumann,dirichlet,neumann") as solver:
        solver.set_sides(((-1.0, 1.0), (low_j, high_j), (None, 0.0)))
        assert abs(solver.solve(0.0).u - xy).max() < 1e-8
        message = "values[0][0] has the shape (2,)"
        raises(ValueError, message, lambda: solver.set_sides((([0, 1], 1), (0, 0), (0, 0))))
        raises(ValueError, "three pairs", lambda: solver.set_sides(((1, 2), (0, 0))))
        raises(hpgmg.Error, "inf", lambda: solver.set_sides(((np.inf, 1), (0, 0), (0, 0))))
    with hpgmg.Solver((n, n, n), words) as solver:
        solver.set_sides(((None, 3.0), (None, None), (None, None)))
        solver.set_sides(((None, None), (None, None), (None, 2.0)))
        u = solver.solve(1.0).u
    sides = "--boundary=dirichlet,dirichlet:3,dirichlet,dirichlet,dirichlet,dirichlet:2"
    with hpgmg.Solver((n, n, n), f"{words} {sides}") as solver:
        assert (solver.solve(1.0).u == u).all()


class Device:
    """The interface of CuPy's and PyTorch's arrays, for the memory of a NumPy array."""

    def __init__(self, array, typestr="<f8"):
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "strides": None if array.flags.c_contiguous else array.strides,
            "typestr": typestr,
            "data": (array.ctypes.data, not array.flags.writeable),
            "version": 3,
        }


class Other:
    """An array of another package, in host memory."""

    def __init__(self, array):
        self._array = array
        self.__dlpack_device__ = array.__dlpack_device__

    def __dlpack__(self, **settings):
        return self._array.__dlpack__(**settings)


def check_boxes():
    """Two boxes, cell_beta and a guess give the u of one box; __cuda_array_interface__ too."""
    draw = np.random.default_rng(2)
    cells, words = (20, 16, 12), "--operator=7pt --rtol=1e-9 --device=cpu"
    f, beta = draw.random((12, 16, 20)), np.exp(draw.random((12, 16, 20)))
    boxes = [((0, 0, 0), (9, 16, 12)), ((9, 0, 0), (11, 16, 12))]

    def split(x):
        return [x[:, :, :9], x[:, :, 9:]]

    with hpgmg.Solver(cells, words) as solver:
        solver.set_coefficients(cell_beta=beta)
        whole = solver.solve(f)
        for device in f, np.asfortranarray(f):
            u = np.empty_like(device)
            solver.solve(Device(device), Device(u))
            assert (u == whole.u).all()
        assert solver.boxes == [((0, 0, 0), cells)]
        own_f, own_u = solver.storage
        own_f[:] = f
        assert solver.solve(own_f, own_u).u is own_u and (own_u == whole.u).all()
        u = np.empty_like(f)
        solver.solve(Other(f), Other(u))
        assert (u == whole.u).all()
        raises(ValueError, "must be writeable", lambda: solver.solve(f, [[[1.0]]]))
        raises(ValueError, "values of the type <f4", lambda: solver.solve(Device(f, "<f4")))
        other = Device(f)
        other.__cuda_array_interface__["stream"] = 7
        raises(ValueError, "give the solver stream=7", lambda: solver.solve(other))
    with hpgmg.Solver(cells, words) as solver:
        mask = np.ones(f.shape)
        mask[4, 5:9, 6:10], mask[8, 3, 3] = 0, 2
        solver.set_coefficients(cell_beta=beta, mask=mask)
        raises(ValueError, "u is None", lambda: solver.solve(f))
        u = np.full(f.shape, 7.0)
        solver.solve(f, u)
        assert (u[mask != 1] == 7).all() and (u[mask == 1] != 7).all()
        assert u[8, 3, 4] > 10 * whole.u.max() > 0
        raises(ValueError, "mask is missing", lambda: solver.set_coefficients(cell_beta=beta))
        solver.set_coefficients(cell_beta=beta, mask=1.0)
        solver.solve(f, u)
        assert abs(u - whole.u).max() < 1e-6
    with hpgmg.Solver(cells, words, boxes=boxes, guess=True) as solver:
        solver.set_coefficients(cell_beta=split(beta))
        assert solver.solve(split(f), split(whole.u)).cycles == 0
        u = np.zeros_like(f)
        assert solver.solve(split(f), split(u)).cycles > 0
        assert abs(u - whole.u).max() < 1e-6
        raises(ValueError, "u is None", lambda: solver.solve(1.0))
        raises(ValueError, "f has 1 arrays; expected 2", lambda: solver.solve([f], split(u)))
        raises(ValueError, "u must be a list", lambda: solver.solve(split(f), u))
    x = [np.linspace(0.0, n / 16, n + 1) for n in cells]
    with (
        hpgmg.Solver(cells, words, faces=x) as even,
        hpgmg.Solver(cells, words + " --spacing=0.0625,0.0625,0.0625") as same,
    ):
        assert (even.solve(f).u == same.solve(f).u).all()
    x[1] = x[1] ** 1.3
    with hpgmg.Solver(cells, words, faces=x) as solver:
        assert solver.solve(f).reason == "converged"
    raises(ValueError, "faces have the shapes", lambda: hpgmg.Solver(cells, words, faces=x[::-1]))
    raises(hpgmg.Error, "but the grid has", lambda: hpgmg.Solver(cells, words, boxes=boxes[:1]))
    raises(ValueError, "boxes is empty", lambda: hpgmg.Solver(cells, words, boxes=[]))
    raises(ValueError, "a box has 3 parts", lambda: hpgmg.Solver(cells, words, boxes=(0, 0, 0)))


check_variable_coefficients()
check_boxes()
check_sides()
check_ends()
check_numbers()
check_dropped()
assert hpgmg.version().count(".") == 2
