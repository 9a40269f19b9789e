"""packages_ramble: check the Ramble application and the Benchpark experiment for
tests/scripts/packages_fom.sh; neither tool is needed.

packages_ramble.py ramble APPLICATION PROGRAM
    Run the commands of APPLICATION on small problems with PROGRAM. The figures of merit found in
    the output must be those of the JSON report, and only a valid run is a success.
packages_ramble.py benchpark EXPERIMENT APPLICATION RECIPE PROGRAM
    For each programming model, mode and scaling: EXPERIMENT sets what Benchpark requires and
    APPLICATION uses, PROGRAM accepts the problems, they have the size that EXPERIMENT claims, and
    the Spack RECIPE has the variants.

The names that both import are mocked below, with the arguments that the documents of Ramble 0.5 and
of Benchpark (2026) give them.
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import types

from packages_spack import Bad, Recipe, require, run_file


class Application:
    """The directives of a Ramble application."""

    def __init__(self, path):
        self.executables, self.workloads, self.figures, self.criteria = {}, {}, {}, []
        self.packages = []

        def tags(*values):
            pass

        def software_spec(name, pkg_spec, compiler_spec=None, compiler=None, package_manager="*"):
            self.packages.append(pkg_spec)

        def required_package(name, package_manager="*"):
            pass

        def executable(name, template, *, use_mpi=False):
            self.executables[name] = template

        def workload(name, *, executables):
            self.workloads[name] = ([self.executables[e] for e in executables], {})

        def workload_variable(name, default, description, values=None, *, workloads):
            for workload in workloads:
                variables = self.workloads[workload][1]
                require(name not in variables, f"{workload} has {name} twice")
                variables[name] = default

        def figure_of_merit(name, fom_regex, group_name, log_file="{log_file}", units=""):
            require(name not in self.figures, f"two figures of merit {name}")
            self.figures[name] = (re.compile(fom_regex), group_name)

        def success_criteria(name, mode, match, file):
            require((mode, file) == ("string", "{log_file}"), f"criterion {name}")
            self.criteria.append(re.compile(match))

        directives = (tags, software_spec, required_package, executable, workload)
        directives += (workload_variable, figure_of_merit, success_criteria)
        names = {directive.__name__: directive for directive in directives}
        names["ExecutableApplication"] = object
        modules = {"ramble": {}, "ramble.appkit": names}
        require(run_file(path, modules, "HpgmgFv").name == "hpgmg-fv", "name of the application")
        for name, (commands, variables) in self.workloads.items():
            used = set(re.findall(r"\{(\w+)\}", " ".join(commands))) - {"experiment_run_dir"}
            require(used == set(variables), f"{name} uses {used}, has {set(variables)}")

    def run(self, program, workload, **values):
        """Run a workload in a new folder: exit code, output, report."""
        (command,), variables = self.workloads[workload]
        require(set(values) <= set(variables), f"{workload} has no {values}")
        with tempfile.TemporaryDirectory() as folder:
            text = command.format(experiment_run_dir=folder, **{**variables, **values})
            words = text.split()
            require(words[0] == "hpgmg-fv", f"{workload} runs {words[0]}")
            run = subprocess.run([program, *words[1:]], stdout=subprocess.PIPE, text=True)
            report = os.path.join(folder, "report.json")
            require(os.path.exists(report), f"{text}: exit code {run.returncode}, no report")
            with open(report, encoding="utf-8") as file:
                return run.returncode, run.stdout, json.load(file)

    def analyze(self, output):
        """Like Ramble: match each line from its start, and keep the last value of each figure."""
        found, met = {}, set()
        for line in output.splitlines():
            for name, (regex, group) in self.figures.items():
                match = regex.match(line)
                if match:
                    found[name] = match[group]
            met |= {criterion for criterion in self.criteria if criterion.match(line)}
        return found, len(met) == len(self.criteria) > 0


def check_ramble(path, program):
    application = Application(path)
    small = {"log2_box_dim": 5, "boxes_per_rank": 1, "min_time": 0}
    always = set(application.figures) - {"FOM", "reason"}

    rc, output, report = application.run(program, "double", **small, options="--rtol=1e-8")
    found, success = application.analyze(output)
    require(rc == 0 and success, f"a valid run is no success: {output}")
    require(set(found) == always | {"FOM"}, f"figures of merit: {found}")
    # Precision of the text.
    numbers = {"FOM": (report["fom"]["dof_per_s"], 5.1e-4, 0)}
    for solve, size in zip(report["solves"], ("h", "2h", "4h")):
        numbers[f"DOF/s at {size}"] = (solve["dof_per_s"], 5.1e-4, 0)
    numbers["error"] = (report["error"], 1e-15, 0)
    numbers["order"] = (report["order"], 0, 5.1e-4)
    numbers["set-up"] = (report["run"]["setup_seconds"], 0, 5.1e-4)
    for name, (value, relative, absolute) in numbers.items():
        same = math.isclose(float(found[name]), value, rel_tol=relative, abs_tol=absolute)
        require(same, f"{name} is {found[name]}, but {value} in the report")
    problem, words = report["problem"], {"validity": "VALID", "class": "open", "grid": "32^3"}
    words.update({key: problem[key] for key in ("operator", "smoother", "precision")})
    words.update({key: str(report["run"][key]) for key in ("ranks", "threads", "backend")})
    for name, value in words.items():
        require(found[name] == value, f"{name} is {found[name]}, not {value}")

    rc, output, report = application.run(program, "double", **small)
    found, success = application.analyze(output)
    require(rc == 0 and not success, f"an invalid run is a success: {output}")
    require(set(found) == always | {"reason"}, f"figures of merit: {found}")
    require(found["reason"] == report["fom"]["reason"], f"reason {found['reason']}")
    require(found["validity"] == "INVALID" and found["class"] == "double", f"found {found}")

    failing = {**small, "options": "--rtol=1e-30 --max-cycles=1"}
    rc, output, report = application.run(program, "double", **failing)
    found, success = application.analyze(output)
    require(rc == 1 and not success, f"a failed run is a success: {output}")
    require(found["validity"] == "INVALID" and "FOM" not in found, f"found {found}")

    rc, output, report = application.run(program, "official", options="--dry-run")
    require(rc == 0 and report["problem"]["operator"] == "fv4", f"official: {output}")
    print(f"{len(application.figures)} figures of merit")


class Variable:
    """The values of one variable over the scaled experiments."""

    def __init__(self, value):
        self.values = [value]

    def val(self, dim):
        return self.values[-1]


class Experiment:
    """Benchpark's base class, with the spec of one experiment."""

    required = {"n_resources", "process_problem_size", "total_problem_size"}

    def prepare(self, models, mode, scaling, variants):
        self.name, self.variables, self.named, self.packages = "hpgmg-fv", {}, [], {}
        self.models, self.mode, self.scaling = models, mode, scaling
        self.spec = types.SimpleNamespace(satisfies=self.satisfies, variants=variants)

    def satisfies(self, text):
        if text.startswith("exec_mode="):
            return text == f"exec_mode={self.mode}"
        require(text[0] == "+" and text[1:] in self.known_models, f"condition {text}")
        return text[1:] in self.models

    def add_experiment_variable(self, name, values, named=False, matrixed=False):
        self.variables[name] = Variable(values)

    def set_required_variables(self, **values):
        require(set(values) == self.required, f"required variables {set(values)}")
        for name, value in values.items():
            self.add_experiment_variable(name, value)

    def register_scaling_config(self, config):
        require(set(config) == self.scaling_modes, f"scaling {set(config)}")
        self.config = config

    def determine_version(self):
        return f"@{self.spec.variants['version'][0]}"

    def add_package_spec(self, name, spec):
        self.packages[name] = spec[0]

    def scale(self, factor, n):
        for i in range(n - 1):
            for name, function in self.config[self.scaling].items():
                variable = self.variables[name]
                variable.values.append(function(variable, i, name, factor))

    def values(self, i):
        """The variables of experiment i, expanded as Ramble does: text, or arithmetic if it is."""
        values = {name: v.values[min(i, len(v.values) - 1)] for name, v in self.variables.items()}
        for _ in range(3):
            values = {
                name: value.format(**values) if isinstance(value, str) else value
                for name, value in values.items()
            }
        for name, value in values.items():
            if isinstance(value, str) and re.fullmatch(r"[\d*/() ]+", value):
                values[name] = eval(value)
        return values


def load_experiment(path):
    """The experiment's class, with what it declares."""
    variants, modes = (
        {},
        types.SimpleNamespace(Strong="strong", Weak="weak", Throughput="throughput"),
    )
    types_ = types.SimpleNamespace(Mpionly="mpi", Openmp="openmp", Cuda="cuda", Rocm="rocm")

    def variant(name, default=None, description="", values=None, multi=None, when=None):
        require(default in values, f"variant {name}: {default}")
        variants[name] = values

    def programming_model(*models):
        return type("Models", (), {"known_models": models})

    def scaling(*all_modes):
        return type("Scaling", (), {"scaling_modes": set(all_modes)})

    found = run_file(
        path,
        {
            "benchpark": {},
            "benchpark.directives": {"variant": variant},
            "benchpark.experiment": {"Experiment": Experiment},
            "benchpark.programming_model": {
                "ProgrammingModel": programming_model,
                "ProgrammingModelType": types_,
            },
            "benchpark.scaling": {"Scaling": scaling, "ScalingMode": modes},
        },
        "HpgmgFv",
    )
    return found, variants


def cells_of(program, values):
    """The cells of the grid that the program would solve on."""
    resources = values["n_resources"]
    command = [program, "--dry-run", f"--ranks={resources}", f"--operator={values['operator']}"]
    command += [str(values["log2_box_dim"]), str(values["boxes_per_rank"])]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return int(re.search(r"^ +grid .* = (\d+) cells", output, re.M)[1])


def check_benchpark(path, application_path, recipe_path, program):
    application, recipe = Application(application_path), Recipe(recipe_path, "1.x")
    known = set().union(*(variables for _, variables in application.workloads.values()))
    # What Benchpark itself uses.
    known |= Experiment.required | {"n_ranks", "n_gpus", "n_threads_per_proc", "resources"}
    loaded, variants = load_experiment(path)
    require(set(variants["workload"]) == set(application.workloads), f"variants {variants}")
    n = 0
    for models in ({"mpi"}, {"mpi", "openmp"}, {"mpi", "cuda"}):
        for mode in ("test", "perf"):
            # Only some numbers of ranks keep the cells per rank: powers of 8.
            for scaling, factor in (("strong", 2), ("weak", 8), ("throughput", 8), (None, 1)):
                for operator in variants["operator"]:
                    experiment = loaded()
                    concrete = {"version": ["develop"], "operator": [operator]}
                    experiment.prepare(models, mode, scaling, concrete)
                    experiment.compute_applications_section()
                    experiment.compute_package_section()
                    if scaling:
                        experiment.scale(factor, 3)
                    for i in range(3 if scaling else 1):
                        values = experiment.values(i)
                        check_values(experiment, values, known)
                        n += 1
                    if models == {"mpi"} and operator == "fv2":
                        cells, total = cells_of(program, values), values["total_problem_size"]
                        require(cells == total, f"{scaling}: {cells} cells, not {total}")
                    spec = experiment.packages["hpgmg-fv"]
                    name, *words = spec.split()
                    require(name == "hpgmg-fv@develop" and spec.endswith(" "), f"spec '{spec}'")
                    for word in words + ["+openmp", "~cuda"]:
                        require(word[1:] in recipe.variants, f"the recipe has no variant {word}")
    print(f"{n} experiments")


def check_values(experiment, values, known):
    require(set(values) <= known, f"unknown variables {set(values) - known}")
    gpus = "cuda" in experiment.models
    require(values["device"] == ("cuda" if gpus else "cpu"), f"device {values['device']}")
    resource = "n_gpus" if gpus else "n_ranks"
    require(values[resource] == values["n_resources"] >= 1, f"{values} have no {resource}")
    require(values["boxes_per_rank"] >= 1, f"{values} have no boxes")
    total = values["process_problem_size"] * values["n_resources"]
    require(values["total_problem_size"] == total, f"{values}: total is not {total}")


def main():
    command, *arguments = sys.argv[1:]
    checks = {"ramble": check_ramble, "benchpark": check_benchpark}
    try:
        checks[command](*arguments)
    except Bad as bad:
        sys.exit(f"packages_ramble: {bad}")


main()
