"""packages_spack: check the Spack recipe for tests/scripts/packages.sh; Spack is not needed.

packages_spack.py options RECIPE CONFIGURE
    For every combination of variants, check that the recipe decides all options of configure with
    libraries that it depends on, and that configure accepts each option.
packages_spack.py args RECIPE SPEC NAME=DIR...
    Print the arguments of configure, one per line, if the package NAME is in DIR.
packages_spack.py phases RECIPE SOURCE PREFIX SPEC
    Run the other methods of the recipe. SOURCE is an empty folder; PREFIX has the program, built
    with the variants SPEC, and its scripts.

The names that a recipe imports from Spack are mocked below, in the modules of Spack 0.2x and in
those of 1.x. Versions and the concretizer are not modeled.
"""

import contextlib
import glob
import itertools
import os
import re
import subprocess
import sys
import types

ARCHS = ("70", "80", "90", "90a", "100", "100f")


class Bad(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Bad(text)


def run_file(path, modules, name, **scope):
    """Execute the file with the mocked modules and further names, and return its object `name`."""
    mocked = {}
    for full, contents in modules.items():
        mocked[full] = types.ModuleType(full)
        vars(mocked[full]).update(contents)
    require(not set(mocked) & set(sys.modules), f"{list(mocked)}: already imported")
    sys.modules.update(mocked)
    try:
        scope["__name__"] = "package"
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), scope)
    finally:
        for full in mocked:
            del sys.modules[full]
    return scope[name]


def constraints(text):
    """'+a~b c=d' as a list of (name, value), values True, False and strings."""
    found = []
    rest = re.sub(r"@[\w.:]+", "", text)
    for sign, name, key, value in re.findall(r"\s*(?:([+~])([\w-]+)|([\w-]+)=(\S+))", rest):
        found.append((name, sign == "+") if sign else (key, value))
    unknown = re.sub(r"\s*(?:[+~][\w-]+|[\w-]+=\S+)", "", rest).strip()
    require(not unknown, f"this test cannot parse '{text}'")
    return found


class Prefix(str):
    """A folder, whose attributes are folders in it."""

    def __getattr__(self, name):
        return Prefix(os.path.join(self, name))

    def join(self, name):
        return Prefix(os.path.join(self, name))


class Recipe:
    """The directives of the recipe, and its class."""

    def __init__(self, path, era):
        self.dependencies, self.variants, self.conflicts, self.versions = [], {}, [], []
        self.made = []
        self.package = run_file(path, self.mocks(era), "HpgmgFv", make=self.make)

    def make(self, *targets):
        """Spack adds make() to the module."""
        self.made.append((os.getcwd(), targets))

    def mocks(self, era):
        def version(name, *, branch=None, tag=None):
            self.versions.append(name)

        def license(name):
            pass

        def variant(name, *, default=None, description="", values=None, when=None):
            self.variants[name] = (values or (True, False), when)

        def depends_on(spec, *, when=None, type=("build", "link")):
            self.dependencies.append((spec, when))

        def conflicts(spec, *, when=None, msg=None):
            self.conflicts.append((spec, when))

        @contextlib.contextmanager
        def working_dir(folder):
            before = os.getcwd()
            os.chdir(folder)
            try:
                yield
            finally:
                os.chdir(before)

        class Executable:
            def __init__(self, path):
                self.path = path

            def __call__(self, *args, output=None, error=None):
                pipe = subprocess.PIPE if output is str.split else None
                run = subprocess.run([self.path, *args], check=True, text=True, stdout=pipe)
                return run.stdout

        def which(path, *, required=False):
            require(os.access(path, os.X_OK), f"there is no {path}")
            return Executable(path)

        def find(pattern, root, recursive):
            pattern = os.path.join("**", pattern) if recursive else pattern
            return glob.glob(os.path.join(root, pattern), recursive=recursive)

        def find_libraries(name, root, *, shared=True, recursive=False):
            return find(name + (".so" if shared else ".a"), root, recursive)

        def find_headers(name, root, *, recursive=False):
            return find(name + ".h", root, recursive)

        class AutotoolsPackage:
            def enable_or_disable(self, name):
                return [f"--{'enable' if self.spec.satisfies(f'+{name}') else 'disable'}-{name}"]

        class CudaPackage:
            cuda_arch_values = ARCHS
            variant("cuda", default=False)
            variant("cuda_arch", values=ARCHS, when="+cuda")
            depends_on("cuda", when="+cuda")

        things = (version, license, variant, depends_on, conflicts, working_dir, which)
        things += (Executable, find_libraries, find_headers)
        common = {thing.__name__: thing for thing in things}
        modules = {"spack": {}, "spack.package": common}
        systems = (AutotoolsPackage, CudaPackage)
        if era == "0.2x":
            common.update({part.__name__: part for part in systems})
            return modules
        for part in ("", ".builtin", ".builtin.build_systems"):
            modules[f"spack_repo{part}"] = {}
        for part in systems:
            name = f"spack_repo.builtin.build_systems.{part.__name__[:-7].lower()}"
            modules[name] = {part.__name__: part}
        return modules

    def instance(self, spec):
        package = self.package()
        package.spec = spec
        return package


class Spec:
    """A concrete spec: the values of all its variants."""

    def __init__(self, recipe, values, prefixes=None):
        self.recipe, self.values, self.prefixes = recipe, values, prefixes
        self.variants = {name: types.SimpleNamespace(value=v) for name, v in values.items()}

    def satisfies(self, text):
        for name, value in constraints(text or ""):
            require(name in self.recipe.variants, f"'{text}': there is no variant {name}")
            own = self.values.get(name)
            if not (value in own if isinstance(own, tuple) else value == own):
                return False
        return True

    def depends(self):
        """The packages that this spec depends on, with their constraints."""
        found = {}
        for spec, when in self.recipe.dependencies:
            if self.satisfies(when):
                name = re.match(r"[\w-]+", spec).group()
                found.setdefault(name, []).extend(constraints(spec[len(name) :]))
        return found

    def __getitem__(self, name):
        require(name in self.depends(), f"{self} does not depend on {name}")
        prefix = f"/prefix/of/{name}" if self.prefixes is None else self.prefixes.get(name)
        require(prefix is not None, f"where is {name}? add {name}=DIR")
        return types.SimpleNamespace(prefix=prefix, mpicc=os.path.join(prefix, "bin", "mpicc"))

    def __str__(self):
        words = []
        for name, value in self.values.items():
            sign = "+" if value is True else "~"
            words.append(sign + name if isinstance(value, bool) else f" {name}={','.join(value)}")
        return "hpgmg-fv" + "".join(words)


def specs(recipe):
    """Every combination of variants without conflicts."""
    flags = [name for name, (values, _) in recipe.variants.items() if values == (True, False)]
    archs = [("none",), ("80",), ("100", "80", "90"), ("100f", "90a")]
    for bits in itertools.product((False, True), repeat=len(flags)):
        for arch in archs:
            values = dict(zip(flags, bits))
            values["cuda_arch"] = arch
            # A conditional variant exists only if its condition holds.
            if any(
                when and values.get(name) and not Spec(recipe, values).satisfies(when)
                for name, (_, when) in recipe.variants.items()
                if name != "cuda_arch"
            ):
                continue
            if not values["cuda"]:
                if arch != archs[0]:
                    continue
                del values["cuda_arch"]
            spec = Spec(recipe, values)
            if not any(spec.satisfies(s) and spec.satisfies(w) for s, w in recipe.conflicts):
                yield spec


def configure_help(configure, *options):
    command = [configure, "--enable-option-checking=fatal", *options, "--help"]
    return subprocess.run(command, capture_output=True, text=True)


def judge(spec, args, names):
    """Check that all options of configure are decided according to the variants."""
    given = {}
    for arg in args:
        option = re.match(r"--(?:with|enable|disable)-([a-z0-9-]+)(?:=(.*))?$", arg)
        if option:
            given[option.group(1)] = option.group(2)
    missing = names - set(given) - (set() if spec.values["cuda"] else {"cuda-arch"})
    require(not missing, f"{spec}: the recipe does not decide {', '.join(sorted(missing))}")
    for name in ("mpi", "hdf5", "jansson", "cuda", "nccl", "nvrtc"):
        on = bool(spec.values.get(name))
        require((given[name] != "no") == on, f"{spec}: --with-{name}={given[name]}")
    for name in ("openmp", "shared"):
        require((f"--enable-{name}" in args) == spec.values[name], f"{spec}: {args}")
    if spec.values["hdf5"]:
        matches = ("mpi", spec.values["mpi"]) in spec.depends()["hdf5"]
        require(matches, f"{spec}: hdf5 has no matching constraint on mpi")
    if spec.values["cuda"]:
        archs = [int(re.match(r"\d+", arch).group()) for arch in given["cuda-arch"].split(",")]
        good = archs == sorted(archs) and len(archs) == len(spec.values["cuda_arch"])
        require(good, f"{spec}: --with-cuda-arch={given['cuda-arch']}")


def options(path, configure):
    text = configure_help(configure).stdout
    names = set(re.findall(r"^  --with-([a-z0-9-]+)=", text, re.M)) - {"PACKAGE"}
    variables = set(re.findall(r"^  ([A-Z]+) ", text, re.M))
    refused = configure_help(configure, "--with-hdf=no").returncode != 0
    require(names and refused, f"{configure} lists no options or accepts unknown ones")
    known, n = set(), 0
    for era in ("0.2x", "1.x"):
        recipe = Recipe(path, era)
        good = recipe.versions == ["develop"] and recipe.conflicts
        require(good, f"versions {recipe.versions}, {len(recipe.conflicts)} conflicts")
        for spec in specs(recipe):
            args = recipe.instance(spec).configure_args()
            judge(spec, args, names)
            known.update(args)
            n += 1
    for arg in sorted(known):
        name = arg.partition("=")[0]
        known_name = arg.startswith("--") or name in variables
        require(known_name, f"{arg}: configure has no variable {name}")
        run = configure_help(configure, arg)
        require(run.returncode == 0, f"{arg}: {run.stderr.strip()}")
    print(f"{n} specs, {len(known)} arguments accepted by configure")
    require(n >= 400 and len(known) >= 20, "too few specs or arguments")


def spec_of(recipe, text, prefixes=None):
    """The spec with the variants in `text` and no others."""
    values = {
        name: False
        for name, (v, when) in recipe.variants.items()
        if v == (True, False) and not when
    }
    values.update(constraints(text))
    return Spec(recipe, values, prefixes)


def print_args(path, text, prefixes):
    recipe = Recipe(path, "1.x")
    print("\n".join(recipe.instance(spec_of(recipe, text, prefixes)).configure_args()))


def phases(path, source, prefix, text):
    recipe = Recipe(path, "0.2x")
    package = recipe.instance(spec_of(recipe, text))
    package.stage = types.SimpleNamespace(source_path=source)
    package.prefix = Prefix(prefix)

    # autoreconf runs autogen.sh in a clone, but not in a release, which has configure.
    script = os.path.join(source, "autogen.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho made >>configure\n")
    os.chmod(script, 0o755)
    for _ in range(2):
        package.autoreconf(None, prefix)
    with open(os.path.join(source, "configure"), encoding="utf-8") as file:
        require(file.read() == "made\n", "autoreconf does not run autogen.sh exactly once")

    os.chdir(source)
    os.makedirs(package.build_directory)
    package.check()
    folder = os.path.join(os.path.realpath(source), package.build_directory)
    require(recipe.made == [(folder, ("check-fast",))], f"check runs make with {recipe.made}")

    package.test_verify()
    broken = os.path.join(source, "bin")
    os.makedirs(broken)
    package.prefix = Prefix(source)
    for verdict, validity in (("FAILED", "VALID"), ("PASSED", "INVALID")):
        with open(os.path.join(broken, "hpgmg-fv"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
            file.write(f"echo VERIFICATION: {verdict}\necho FOM: 1e9 DOF/s {validity} class=open\n")
        os.chmod(os.path.join(broken, "hpgmg-fv"), 0o755)
        try:
            package.test_verify()
            raise Bad(f"test_verify accepts {verdict}, {validity}")
        except AssertionError:
            pass

    for path in ("lib64/libhpgmg.so", "lib64/libhpgmg.a", "include/hpgmg.h"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").close()
    for shared, name in ((True, "libhpgmg.so"), (False, "libhpgmg.a")):
        package.spec = Spec(recipe, {"shared": shared})
        files = [os.path.relpath(file, source) for file in package.libs + package.headers]
        require(files == [f"lib64/{name}", "include/hpgmg.h"], f"libs and headers are {files}")


def main():
    command, path, *rest = sys.argv[1:]
    try:
        if command == "options":
            options(path, *rest)
        elif command == "args":
            print_args(path, rest[0], dict(word.split("=", 1) for word in rest[1:]))
        elif command == "phases":
            phases(path, *rest)
        else:
            raise Bad(f"unknown command '{command}'")
    except Bad as bad:
        sys.exit(f"packages_spack: {bad}")


if __name__ == "__main__":
    main()
