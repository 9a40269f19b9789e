"""Programs of a comparison: how they are built, run and checked."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import statistics
import tempfile
from typing import ClassVar

from toolkit import ToolError, UsageError, need, run, say

FAILED = 1
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
OURS = "hpgmg-fv"
# Library: its package, a header, its pkg-config module, flags for systems without that, and how the
# names of its functions begin.
LIBRARIES = {
    "hypre": ("libhypre-dev", "HYPRE_struct_ls.h", None, "-I/usr/include/hypre -lHYPRE", "HYPRE_"),
    "petsc": ("petsc-dev", "petscksp.h", "PETSc", "-lpetsc", "Petsc|DM|KSP|PC|Mat|Vec"),
    "libhpgmg": ("libhpgmg.so of the build", "hpgmg.h", None, "", "hpgmg_"),
}
# Bound of the relative error of u, in units of the relative residual: max|A^-1| max|f| / max|u|. It
# is at most 60 for fv2 and 7pt, as -div(grad u) = 1 has max|u| < 1/8 in the cube, and beta >= 0.75.
# Where beta jumps, u is smaller: 120 for 7pt at 64^3.
CONDITION = {"variable": 100.0, "constant": 100.0, "jumps": 1e3, "anisotropic": 100.0}
FIRST_GUESS = 14  # iterations
# An h line of HPGMG-FV's summary.
SUMMARY = re.compile(
    r"^\s*h=(\S+)\s+DOF=(\S+)\s+time=(\S+)\s+DOF/s=(\S+)\s+MPI=(\d+)\s+OMP=(\d+)\s*$", re.M
)
COLUMNS = ["kind", "operator", "smoother", "n", "ranks", "threads", "program", "rounds"]
COLUMNS += ["iterations", "setup_s", "solve_s", "ratio", "ratio_low", "ratio_high", "setup_ratio"]
COLUMNS += ["relative", "u_max", "error", "beta", "boundary", "machine"]


# --- programs ------------------------------------------------------------------------------------


def environment(threads: int) -> dict:
    """As tests/lib/run_mpi.sh: root may start ranks, and ranks are not bound to cores."""
    settings = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
    }
    return {**settings, **os.environ, "OMP_NUM_THREADS": str(threads), "LC_ALL": "C"}


def execute(words: list[str], threads: int = 1) -> str:
    """Run a command and return its standard output."""
    done = run(words, env=environment(threads))
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr]
        raise ToolError(f"'{shlex.join(words)}' failed: {lines[0][:300]}", FAILED)
    return done.stdout


def on_ranks(ranks: int, words: list[str], threads: int = 1) -> str:
    launcher = shlex.split(os.environ.get("MPIEXEC") or "mpirun")
    return execute([*launcher, "-n", str(ranks), *words], threads)


def user_code(library: str) -> tuple[int, int]:
    """Lines of a library's program without blanks and comments, and functions that it calls."""
    path = os.path.join(HERE, f"{library}.c")
    with open(path, encoding="ascii") as file:
        code = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    code = re.sub(r'"[^"\n]*"', '""', code)
    calls = set(re.findall(rf"\b((?:{LIBRARIES[library][4]})\w*)\(", code))
    return sum(1 for line in code.splitlines() if line.strip()), len(calls)


def build_solver(library: str, folder: str, build: str) -> list[list[str]]:
    """Compile a library's program. Returns the command of each of its methods; none: no package."""
    package, header, module, flags, _ = LIBRARIES[library]
    if library == "libhpgmg":
        build = os.path.abspath(build)
        if not os.path.exists(os.path.join(build, "libhpgmg.so")):
            say(f"skip: {library} ({build} has no shared library)")
            return []
        flags = f"-I{TOP}/include -L{build} -Wl,-rpath,{build} -lhpgmg"
    compiler = shlex.split(os.environ.get("MPICC") or "mpicc")
    if module and shutil.which("pkg-config"):
        found = run(["pkg-config", "--cflags", "--libs", module])
        flags = found.stdout if found.returncode == 0 else flags
    flags = shlex.split(flags)
    includes = [flag for flag in flags if flag.startswith("-I")]
    probe = os.path.join(folder, "probe.c")
    with open(probe, "w", encoding="ascii") as file:
        file.write(f"#include <{header}>\n")
    try:
        execute([*compiler, "-E", *includes, probe, "-o", os.devnull])
    except ToolError as error:
        if error.code != FAILED:
            raise
        say(f"skip: {library} (package {package} is missing)")
        return []
    program = os.path.join(folder, library)
    sources = [os.path.join(HERE, name) for name in ("driver.c", f"{library}.c")]
    source_folder = os.path.join(TOP, "src")
    execute([*compiler, "-O2", "-I", source_folder, *sources, "-o", program, *flags, "-lm"])
    return [[program, method] for method in execute([program]).split()]


def boxes(n: int, ranks: int) -> list[str]:
    """LOG2_BOX_DIM and BOXES_PER_RANK of n^3 cells: the largest boxes that give each rank one."""
    side = n
    while (n // side) ** 3 < ranks and side > 16:
        side //= 2
    return [str(side.bit_length() - 1), str(-(-((n // side) ** 3) // ranks))]


# --- solves to a tolerance -----------------------------------------------------------------------


class Case:
    """One size on a number of ranks: the results of each program, one per round.

    `iterations` of each program start the search of the next case.
    """

    iterations: ClassVar[dict[str, int]] = {}

    def __init__(self, args, n: int, ranks: int, threads: int):
        self.args, self.n, self.ranks, self.threads = args, n, ranks, threads
        self.base = "libhpgmg auto" if args.has_other_problem else OURS
        self.results: dict[str, list[dict]] = {}
        self.failed: dict[str, str] = {}
        self.strips: set[int | None] = set()  # bytes that hpgmg-fv chose

    def add(self, program: str, result: dict) -> None:
        self.results.setdefault(program, []).append(result)

    def ours(self, more: list[str]) -> dict:
        """Run hpgmg-fv and return its JSON report."""
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            words = [os.path.join(self.args.build, OURS), *boxes(self.n, self.ranks)]
            words += ["--device=cpu", "--quiet", f"--json={report}"]
            words += [f"--operator={self.args.operator}", f"--smoother={self.args.smoother}", *more]
            on_ranks(self.ranks, words, self.threads)
            with open(report, encoding="utf-8") as file:
                data = json.load(file)
        if data["problem"]["dim"] != [self.n] * 3:
            raise ToolError(f"{OURS} solved another size than {self.n}^3", FAILED)
        self.strips.add(data["run"]["strip_bytes"])
        return data

    def timing(self, solves: int) -> list[str]:
        return ["--warmup=1", f"--min-solves={solves}", f"--min-time={self.args.min_time}"]

    def solve_ours(self) -> None:
        data = self.ours([f"--rtol={self.args.rtol}", *self.timing(1)])
        solve = data["solves"][0]
        result = {
            "setup_s": data["run"]["setup_seconds"],
            "solve_s": solve["seconds_mean"],
            "iterations": len(solve["norms"]),
            "relative": solve["rel"][-1],
        }
        self.add(OURS, result)

    def solve_other(self, library: str, command: list[str]) -> None:
        """Run a library's program. If it fails, it is left out of later rounds."""
        program, method = command
        name = f"{library} {method}"
        if name in self.failed:
            return
        words = [program, str(self.n), self.args.operator, str(self.args.rtol), method]
        words += [str(self.args.min_time), str(self.iterations.get(name, FIRST_GUESS))]
        words += [self.args.beta, self.args.boundary]
        if name not in self.results:
            words.append("search")
        try:
            self.add(name, json.loads(on_ranks(self.ranks, words)))
            self.iterations[name] = self.results[name][0]["iterations"]
        except ToolError as error:
            self.failed[name] = str(error)

    def solution_of_ours(self) -> None:
        """Add max|u| and the error of hpgmg-fv, from a dump. Does nothing without HDF5 or h5py."""
        try:
            h5py, numpy = need("h5py", "h5py"), need("numpy", "numpy")
        except UsageError:
            return
        version = execute([os.path.join(self.args.build, OURS), "--version"])
        if not re.search(r"^HDF5 (?!.*\bno\b)", version, re.M):
            return
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "u.hdf")
            options = [f"--dump={path}", "--dump-fields=u"]
            self.ours([f"--rtol={self.args.rtol}", "--verify-only", *options])
            with h5py.File(path) as file:
                u = file["VTKHDF/CellData/u"][...]
        # The exact solution of 7pt is X(x) X(y) X(z).
        t = (numpy.arange(self.n) + 0.5) / self.n
        x = ((2.0 * t - 6.0) * t + 5.0) * t**4 - t**2
        error = 0.0
        if self.args.operator == "7pt":
            error = max(abs(plane - xk * numpy.outer(x, x)).max() for plane, xk in zip(u, x))
        self.results[OURS][0] |= {"u_max": float(abs(u).max()), "error": float(error)}

    def failures(self) -> list[str]:
        """Programs that failed, missed the tolerance, or found another solution."""
        wrong = [f"{name}: {text}" for name, text in self.failed.items()]
        if self.base not in self.results:
            return [f"{self.n}^3, {self.ranks} ranks: {text}" for text in wrong]
        expected = self.results[self.base][0].get("u_max")
        for name, results in self.results.items():
            for result in results:
                if not result["relative"] < self.args.rtol:
                    wrong.append(f"{name}: relative residual {result['relative']}")
                u_max = result.get("u_max", expected)
                bound = CONDITION[self.args.beta] * self.args.rtol
                if expected and abs(u_max - expected) > bound * expected:
                    wrong.append(f"{name}: max|u| is {u_max}, not {expected}")
        return [f"{self.n}^3, {self.ranks} ranks: {text}" for text in dict.fromkeys(wrong)]

    # --- F-cycles ---

    def cycle_ours(self) -> None:
        data = self.ours(self.timing(5))
        self.add(OURS, {"solve_s": data["solves"][0]["seconds_mean"]})

    def cycle_hpgmg(self) -> None:
        path = os.path.abspath(self.args.hpgmg)
        printed = on_ranks(self.ranks, [path, *boxes(self.n, self.ranks)], self.threads)
        self.add("HPGMG-FV", {"solve_s": self.read_summary(printed)})

    def read_summary(self, printed: str) -> float:
        """Seconds of an F-cycle on the finest grid: the first h line."""
        found = SUMMARY.search(printed)
        try:
            h, dof, _, rate = (float(text) for text in found.groups()[:4])
            ranks, threads = (int(text) for text in found.groups()[4:])
            if rate <= 0.0:
                raise ValueError
        except (AttributeError, ValueError):
            raise ToolError(
                f"{self.args.hpgmg} printed no summary line 'h=... DOF/s=...'", FAILED
            ) from None
        if round(1.0 / h) != self.n or round(dof) != self.n**3:
            raise ToolError(f"{self.args.hpgmg} solved {dof:.0f} cells, not {self.n}^3", FAILED)
        if (ranks, threads) != (self.ranks, self.threads):
            raise ToolError(
                f"{self.args.hpgmg} ran on {ranks} ranks of {threads} threads, not {self.ranks} of "
                f"{self.threads}; build it with MPI and OpenMP",
                FAILED,
            )
        return dof / rate

    # --- results ---

    def rows(self, kind: str, machine: str) -> list[dict]:
        """One row per program: medians over the rounds, and the ratios of the rounds."""

        def median_of(name: str, key: str) -> float:
            return statistics.median(result[key] for result in self.results[name])

        rows = []
        for name, results in self.results.items() if self.base in self.results else ():
            first = results[0]
            base = self.results[self.base]
            ratios = [r["solve_s"] / o["solve_s"] for r, o in zip(results, base)]
            row = dict.fromkeys(COLUMNS, "")
            row |= {key: first[key] for key in COLUMNS if key in first}
            if "setup_s" in first:
                row["setup_s"] = median_of(name, "setup_s")
                row["setup_ratio"] = row["setup_s"] / median_of(self.base, "setup_s")
            if self.args.operator != "7pt" or self.args.has_other_problem:
                row["error"] = ""
            keys = ("operator", "beta", "boundary", "smoother")
            row |= {key: getattr(self.args, key) for key in keys}
            row |= {key: getattr(self, key) for key in ("n", "ranks", "threads")}
            row |= {"kind": kind, "program": name, "rounds": len(results), "machine": machine}
            row |= {"solve_s": median_of(name, "solve_s"), "ratio": statistics.median(ratios)}
            row |= {"ratio_low": min(ratios), "ratio_high": max(ratios)}
            rows.append(row)
        return rows
