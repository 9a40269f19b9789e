"""ReFrame tests of hpgmg-fv: verification, rules, norms equal to those of HPGMG-FV, and speed.

hpgmg_fv_built builds the source tree of this file; hpgmg_fv_installed uses an installed program.
Size, ranks, threads and further options are variables. Performance references are part of the
site's settings, such as cluster.py, or of a derived test. docs/packages.md has examples.
"""

import csv
import json
import math
import os
import re
import shlex
import shutil

import reframe as rfm
import reframe.utility.typecheck as typ
from reframe.core.builtins import (
    fixture,
    parameter,
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)
from reframe.core.exceptions import BuildError, SanityError

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
REPORT = "report.json"
SIZES = ("h", "2h", "4h")
# The last line of the text report (docs/rules.md).
FOM = re.compile(
    r"^FOM: (?P<rate>\S+) DOF/s (?P<validity>VALID|INVALID) class=(?P<class>\S+) "
    r"(?:.* reason: (?P<reason>.+))?",
    re.M,
)


class hpgmg_fv_build(rfm.CompileOnlyRegressionTest):
    """The program, built outside of the source tree."""

    descr = "build hpgmg-fv"
    source = variable(str, value=TOP)
    configure_options = variable(typ.List[str], value=[])
    jobs = variable(int, value=4)
    sourcesdir = None
    build_system = "Autotools"

    @run_before("compile")
    def set_up(self):
        scripts = [os.path.join(self.source, name) for name in ("configure", "autogen.sh")]
        there = [script for script in scripts if os.access(script, os.X_OK)]
        if not there:
            raise BuildError(f"neither configure nor autogen.sh is in {self.source}")
        # A clone has no configure yet.
        self.prebuild_cmds = [] if there[0] == scripts[0] else [shlex.quote(there[0])]
        self.build_system.configuredir = self.source
        self.build_system.builddir = "build"
        self.build_system.config_opts = [shlex.quote(option) for option in self.configure_options]
        self.build_system.max_concurrency = self.jobs

    @property
    def program(self):
        return os.path.join(self.stagedir, "build", "hpgmg-fv")

    @sanity_function
    def is_there(self):
        return os.access(self.program, os.X_OK)


class hpgmg_fv_base(rfm.RunOnlyRegressionTest):
    """One run of the program that a derived class sets."""

    operator = parameter(["fv2", "fv4"])
    device = parameter(["cpu", "cuda"])
    log2_box_dim = variable(int, value=6)
    boxes_per_rank = variable(int, value=8)
    min_time = variable(float, int, value=5.0)
    options = variable(typ.List[str], value=[])
    golden = variable(str, value=os.path.join(TOP, "tests", "golden", "golden.csv"))

    valid_prog_environs = ["*"]
    sourcesdir = None
    num_tasks = 1
    keep_files = [REPORT]

    @run_after("init")
    def choose_systems(self):
        self.descr = f"hpgmg-fv, {self.operator} on {self.device}"
        self.valid_systems = ["+gpu"] if self.device == "cuda" else ["*"]

    @run_before("run")
    def set_options(self):
        if self.num_cpus_per_task:
            self.env_vars["OMP_NUM_THREADS"] = self.num_cpus_per_task
        own = [
            str(self.log2_box_dim),
            str(self.boxes_per_rank),
            f"--operator={self.operator}",
            f"--device={self.device}",
            f"--min-time={self.min_time}",
            f"--json={REPORT}",
        ]
        self.executable_opts = own + [shlex.quote(option) for option in self.options]

    @property
    def report(self):
        """The JSON report of the run. Hooks and checks run in the stage directory."""
        try:
            with open(REPORT, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError) as error:
            raise SanityError(f"no report of hpgmg-fv: {error}") from None

    @property
    def fom(self):
        """The figure of merit, as the fields of its line."""
        with open(str(self.stdout), encoding="utf-8") as file:
            lines = list(FOM.finditer(file.read()))
        if len(lines) != 1:
            raise SanityError(f"{len(lines)} figures of merit in the output")
        return lines[0].groupdict()

    def golden_row(self, report):
        """The row of golden.csv for this problem, or None."""
        problem, finest = report["problem"], report["levels"][0]
        # Further options may change the cycle, and with it the norms.
        if self.options or not os.path.exists(self.golden):
            return None
        with open(self.golden, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                names = ("operator", "smoother", "equation", "boundary")
                if (
                    all(row[name] == problem[name] for name in names)
                    and finest["dim"] == [int(row["grid"])] * 3
                    and finest["box_dim"] == 1 << int(row["log2_box_dim"])
                ):
                    return row
        return None

    @sanity_function
    def is_right(self):
        report = self.report
        try:
            return self.judge(report)
        except (KeyError, IndexError, TypeError) as error:
            raise SanityError(f"{REPORT} is an incomplete report: {error!r}") from None

    def judge(self, report):
        if report["verification"] != "passed":
            raise SanityError(f"verification {report['verification']}: {report['reason']}")
        for part, name, wanted in (
            ("problem", "operator", self.operator),
            ("run", "backend", self.device),
            ("run", "ranks", self.num_tasks),
        ):
            if report[part][name] != wanted:
                raise SanityError(f"{part}.{name} is {report[part][name]}, not {wanted}")

        # The rules of the run's class (docs/rules.md). min_time=0 is for tests of this file.
        fom = self.fom
        if self.min_time > 0 and fom["validity"] != "VALID":
            raise SanityError(f"figure of merit invalid, class {fom['class']}: {fom['reason']}")

        row = self.golden_row(report)
        for i, size in enumerate(SIZES):
            solve = report["solves"][i]
            norm, rel = solve["norms"][0], solve["rel"][-1]
            if not (math.isfinite(norm) and 0 <= rel < 1):
                raise SanityError(f"at {size} the residual norm is {norm}, relative {rel}")
            # Tolerances of tests/golden/golden.sh: the spread of the original over compilers.
            golden = float(row[f"norm_{size}"]) if row else norm
            if not math.isclose(norm, golden, rel_tol=1e-9, abs_tol=1e-12):
                raise SanityError(f"at {size} the norm is {norm}, but {golden} in the original")
        return True

    @performance_function("DOF/s")
    def rate(self):
        return float(self.fom["rate"])

    @performance_function("DOF/s")
    def speed(self, solve=0):
        return self.report["solves"][solve]["dof_per_s"]

    @run_before("performance")
    def set_speeds(self):
        self.perf_variables = {size: self.speed(i) for i, size in enumerate(SIZES)}
        self.perf_variables["fom"] = self.rate()

    @run_before("performance")
    def set_reference(self):
        """The site's reference for this run: an entry of extras["hpgmg_fv"] of the partition."""
        partition = self.current_partition
        for entry in partition.extras.get("hpgmg_fv", []):
            conditions = {name: value for name, value in entry.items() if name != "fom"}
            if all(getattr(self, name) == value for name, value in conditions.items()):
                self.reference = {partition.fullname: {"fom": (*entry["fom"], "DOF/s")}}


@rfm.simple_test
class hpgmg_fv_built(hpgmg_fv_base):
    build = fixture(hpgmg_fv_build, scope="environment")
    tags = {"benchmark"}

    @run_before("run")
    def set_program(self):
        self.executable = self.build.program


@rfm.simple_test
class hpgmg_fv_installed(hpgmg_fv_base):
    program = variable(str, value="hpgmg-fv")
    tags = {"benchmark"}

    @run_after("setup")
    def set_program(self):
        # With modules, or on another host, the program cannot be checked here.
        elsewhere = self.modules or self.current_partition.scheduler.registered_name != "local"
        self.skip_if(
            not elsewhere and not shutil.which(self.program),
            f"{self.program} not found; load its module, or set -S program=PATH",
        )
        self.executable = shlex.quote(self.program)
