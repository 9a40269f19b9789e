"""Turns a study into points: the program's --dry-run gives the size and memory of each."""

from __future__ import annotations

import json
import os
import shutil
import tempfile

from checks.report import Damaged, Result
from checks.rules import RULES, class_of
from gpus import visible_gpus
from studies.folder import Plan, Point
from studies.study import GIVEN, TAKEN, Study
from toolkit import USAGE, ToolError, UsageError, of_one_rank, plural, reason_of, run

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIND_REPORT = os.path.join(TOP, "scripts", "bind-report")
# Values of --device that use no GPU.
GPUS_KEY = "[node] gpus-per-rank = {}"
ON_CPU_INSTEAD = "remove gpus-per-rank to plan for the CPU"
# Folders to search for a program that is neither named nor in PATH; quickstart.sh uses the first.
BUILDS = ("build", ".")
# Warn if a point of a weak study has less than this share of the fullest point's work per rank.
LITTLE_WORK = 0.9
SMALLEST = 64  # cells per side of a grid that is no class "open"
# Warn if the fullest rank has more than this multiple of the mean.
MUCH_IMBALANCE = 1.1


def find_program(study: Study, named: str | None) -> str:
    """Absolute path of the program: named, of the study, in PATH, or built in this source tree."""
    for name, where in ((named, "--program"), (study.program, "[study] program")):
        if name is None:
            continue
        found = shutil.which(name if os.sep in name else os.path.join(".", name)) or shutil.which(
            name
        )
        if found is None:
            raise UsageError(f"{where}={name} is not an executable program; build it first")
        return os.path.abspath(found)
    found = shutil.which("hpgmg-fv")
    for build in BUILDS:
        found = found or shutil.which(os.path.join(TOP, build, "hpgmg-fv"))
    if found is None:
        raise UsageError(
            "hpgmg-fv is not in PATH; build it (scripts/quickstart.sh) or name it with --program"
        )
    return os.path.abspath(found)


def ask(program: str, words: list[str]) -> str:
    """Run the program and return its output. Raise its error line and exit code on failure."""
    with tempfile.TemporaryDirectory() as folder:
        done = run([program, *words], env=of_one_rank(folder))
    if done.returncode != 0:
        code = done.returncode if "hpgmg-fv: error: " in done.stderr else USAGE
        reason = reason_of(done.stderr, done.returncode)
        raise ToolError(f"{program} {' '.join(words)}: {reason}", code)
    return done.stdout


def boxes_of(study: Study, nodes: int) -> int:
    """Boxes per rank: as in the study; for strong scaling, enough for the first point's grid."""
    if study.kind == "weak":
        return study.boxes_per_rank
    total = study.boxes_per_rank * study.ranks(study.nodes[0])
    return -(-total // study.ranks(nodes))


def planned(study: Study, program: str, ranks: int, boxes: int, what: str, made_of):
    """A `what`: what `made_of` makes of the program's plan (--dry-run --json)."""
    words = [*study.option_words(), "--dry-run", f"--ranks={ranks}", "--json=-"]
    printed = ask(program, [*words, str(study.log2_box_dim), str(boxes)])
    try:
        return made_of(json.loads(printed))
    except (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError) as error:
        raise UsageError(
            f"{program} --dry-run --json lacks values that a {what} needs ({error}); use a program "
            "and scripts of one version"
        ) from None


def point_of(study: Study, program: str, nodes: int) -> tuple[Point, dict]:
    """The point of a number of nodes, and the program's plan of it."""
    ranks, boxes = study.ranks(nodes), boxes_of(study, nodes)

    def made_of(report: dict) -> tuple[Point, dict]:
        point = Point(
            name=f"n{nodes}",
            nodes=nodes,
            ranks=ranks,
            threads=study.threads,
            gpus=ranks * study.gpus_per_rank,
            boxes_per_rank=boxes,
            dim=[int(n) for n in report["problem"]["dim"]],
            imbalance=float(report["levels"][0]["imbalance"]),
            bytes_per_rank_max=int(report["memory"]["bytes_per_rank"]["max"]),
            patches=int(report["levels"][0]["patches_per_rank_max"]),
        )
        return point, {"problem": report["problem"]}

    return planned(study, program, ranks, boxes, "plan", made_of)


def check_device(study: Study) -> None:
    """Check that --device and the GPUs per rank agree."""
    device = study.options.get("device", "cuda" if study.gpus_per_rank else "cpu")
    if device != "cpu" and study.gpus_per_rank == 0:
        raise UsageError(f"[options] device = {device} needs GPUs: set [node] gpus-per-rank = 1")
    if device == "cpu" and study.gpus_per_rank > 0:
        raise UsageError(
            f"[options] device = {device} would leave the GPUs of [node] gpus-per-rank = "
            f"{study.gpus_per_rank} idle: remove one of the two lines"
        )


def missing_to_run(study: Study, program: str, built: str, local: bool) -> list[str]:
    """What the program or this machine lacks to run the study, one line each.

    A study can be planned all the same, for another machine or build. `built` is the output of
    the program's --version.
    """
    has = {words[0]: words[1:] for words in map(str.split, built.splitlines()[1:]) if words}
    most = max(study.ranks(nodes) for nodes in study.nodes)
    missing = []
    for wanted, part, why in (
        (most > 1, "MPI", plural(most, "rank")),
        (study.threads > 1, "OpenMP", f"[node] threads = {study.threads}"),
        (study.gpus_per_rank > 0, "CUDA", GPUS_KEY.format(study.gpus_per_rank)),
    ):
        if wanted and has.get(part, [])[:1] == ["no"]:
            instead = f", or {ON_CPU_INSTEAD}" if part == "CUDA" else ""
            missing.append(
                f"{program} was built without {part}, so it cannot run {why}: plan again with a "
                f"build with {part} (--program){instead}"
            )
    if local and most > 1 and shutil.which("mpirun") is None:
        missing.append(
            f"{plural(most, 'rank')} need mpirun, which is not in PATH: 'apt-get install "
            "openmpi-bin'"
        )
    if local and study.gpus_per_rank > 0 and not gpus_of(study):
        missing.append(
            f"{GPUS_KEY.format(1)} needs a GPU to run, but this machine has none that CUDA can "
            f"use: select a batch system with --system, or {ON_CPU_INSTEAD}"
        )
    return missing


def must_run_here(study: Study, plan: Plan) -> None:
    """Refuse to submit a study that was planned for another machine."""
    built = ask(plan.program, ["--version"])
    for text in missing_to_run(study, plan.program, built, plan.system == "local"):
        raise UsageError(text)


def gpus_of(study: Study) -> list:
    """The GPUs of this machine that ranks of the study can use."""
    return visible_gpus({**os.environ, **study.environment})


class Planned(Result):
    """A plan (--dry-run --json) as a report whose class can be determined."""

    def __init__(self, report: dict, official: bool):
        self.reasons = []
        self.data = {"problem": report["problem"], "run": {"restart": None}}
        self.data["timing"] = {"official": official}


def check_rules(study: Study, program: str, report: dict, points: list[Point]) -> list[str]:
    """Warn of runs that their class will not accept (docs/rules.md). `report`: plan of a point.

    Returns: warnings, one line each
    """
    settings = settings_of(study, program)
    try:
        name = class_of(Planned(report, settings["official"] == "yes"))
        solves, seconds = int(settings["min-solves"]), float(settings["min-time"])
    except (Damaged, KeyError, ValueError):
        return []  # of another version
    least_solves, least_seconds = RULES[name][:2]
    warnings = []
    if solves < least_solves or seconds < least_seconds:
        warnings.append(
            f"all points will be INVALID: class {name} requires {least_solves} timed solves and "
            f"{least_seconds:g} s of each grid, but [options] min-solves is {solves} and min-time "
            f"{seconds:g}"
        )
    small = [point.name for point in points if min(point.dim) < SMALLEST]
    if name != "open" and small:
        warnings.append(
            f"{', '.join(small)} will be INVALID: class {name} requires a grid of at least "
            f"{SMALLEST}^3"
        )
    return warnings


def settings_of(study: Study, program: str) -> dict[str, str]:
    """All settings of the program for a study, including a deck and defaults."""
    size = [str(study.log2_box_dim), str(study.boxes_per_rank)]
    printed = ask(program, [*study.option_words(), "--print-config", *size])
    pairs = (line.partition("=") for line in printed.splitlines())
    # Keys of comments contain '#' and match no setting.
    return {key.strip(): value.strip() for key, equals, value in pairs if equals}


def check_deck(study: Study, program: str) -> None:
    """Refuse a deck ([options] input) that sets options reserved for the study."""
    if "input" not in study.options:
        return
    for key, value in settings_of(study, program).items():
        # Options on the command line override the deck.
        if key in TAKEN and key not in GIVEN and value != "no":
            raise UsageError(
                f"{study.options['input']} sets {key} = {value[:60]}, which a study's deck must "
                f"not set: {TAKEN[key]}"
            )


def available_gb() -> float | None:
    """Available memory of this machine in GB; None if unknown."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        return float(lines["MemAvailable"].split()[0]) * 1024e-9
    except (OSError, KeyError, ValueError, IndexError):
        return None


def check_memory(study: Study, points: list[Point], local: bool) -> list[str]:
    """Refuse points that do not fit into memory. Warn if the available memory is unknown.

    Returns: warnings, one line each
    """
    on_gpu, unknown = study.gpus_per_rank > 0, 0.0
    for point in points:
        need = 1e-9 * point.bytes_per_rank_max
        have, where = study.memory_per_gpu, "a GPU has {:.3g} GB ([node] gpu-memory)"
        if not on_gpu:
            # A local study has all ranks of a point on this machine.
            need *= point.ranks if local else study.ranks_per_node
            have, where = study.memory_per_node, "a node has {:.3g} GB ([node] memory)"
            if have is None and local:
                have, where = available_gb(), "this machine has {:.3g} GB available"
        if have is None:
            unknown = max(unknown, need)
        elif need > have:
            raise ToolError(
                f"{point.name}: {point.shape} cells on {plural(point.ranks, 'rank')} need "
                f"{need:.3g} GB, but {where.format(have)}; use fewer [problem] boxes-per-rank",
                4,
            )
    if unknown == 0.0:
        return []
    key, each = ("gpu-memory", "GPU") if on_gpu else ("memory", "node")
    return [
        f"up to {unknown:.3g} GB per {each} are needed, which was not checked: set [node] {key}"
    ]


def check_work(study: Study, points: list[Point]) -> list[str]:
    """Check that points have equal grids (strong scaling) or similar work per rank (weak)."""
    warnings = []
    if study.kind == "strong":
        for point in points:
            if point.dim != points[0].dim:
                raise UsageError(
                    f"{point.name} would solve {point.shape} cells, not the "
                    f"{points[0].shape} of {points[0].name}: {plural(point.ranks, 'rank')} with "
                    f"{point.boxes_per_rank} boxes each form another cube; use a number of nodes "
                    "that divides the boxes"
                )
    most = max(point.cells / point.ranks for point in points)
    for point in points:
        share = point.cells / point.ranks / most
        if study.kind == "weak" and share < LITTLE_WORK:
            warnings.append(
                f"{point.name} has {100 * share:.0f} % of the fullest point's cells per rank: "
                f"{point.shape} is the largest cube of boxes that "
                f"{plural(point.ranks, 'rank')} can hold"
            )
        if point.gpus and point.patches > 1:
            warnings.append(
                f"{point.name}: a rank's boxes form {point.patches} cuboids, and a GPU launches "
                "every operation once per cuboid; smaller boxes divide more evenly"
            )
        if point.imbalance > MUCH_IMBALANCE:
            warnings.append(
                f"{point.name}: the fullest rank has {point.imbalance:.2f} times the mean of cells"
            )
    return warnings


def check_gpus(study: Study, points: list[Point], local: bool, launcher: str) -> list[str]:
    """Warn if ranks share a GPU, if they have no core for NCCL's threads between nodes, or if they
    may run on another socket than their GPU."""
    if study.gpus_per_rank == 0:
        return []
    have, most = len(gpus_of(study)) if local else 0, points[-1].ranks
    warnings = (
        (
            0 < have < most,
            f"this machine has {plural(have, 'GPU')} for up to {plural(most, 'rank')}: ranks that "
            "share a GPU run alternately and do not scale; use fewer [study] nodes",
        ),
        (
            not local and study.threads == 1 and points[-1].nodes > 1,
            "each rank with a GPU has one core, which it shares with NCCL's threads for messages "
            "between nodes; reserve more cores with [node] threads",
        ),
        (
            study.numa > 1 and launcher == "srun",
            "with [node] numa, srun distributes ranks cyclically over sockets, but ranks use GPUs "
            "in order, which on most nodes is socket by socket; use launcher = mpirun, or remove "
            "numa and fill the node with [node] threads",
        ),
    )
    return [text for holds, text in warnings if holds]


def make_plan(study: Study, program: str, system: str, launcher: str) -> tuple[Plan, list[str]]:
    """Plan and check every point. Nothing is written.

    Returns: the plan, and warnings, one line each
    """
    local = system == "local"
    built = ask(program, ["--version"])
    check_device(study)
    warnings = missing_to_run(study, program, built, local)
    check_deck(study, program)
    points, report = [], {}
    for nodes in study.nodes:
        point, report = point_of(study, program, nodes)
        points.append(point)
        # Check memory before the next, larger point: planning one that cannot fit takes minutes.
        check_memory(study, points[-1:], local)
    warnings += check_work(study, points) + check_gpus(study, points, local, launcher)
    warnings += check_rules(study, program, report, points)
    warnings += check_memory(study, points, local)
    plan = Plan(
        program=program,
        version=built.partition("\n")[0],
        system=system,
        launcher=launcher,
        bind_report=BIND_REPORT,
        points=points,
    )
    return plan, warnings


def plan_table(points: list[Point]) -> list[str]:
    """The plan as a table."""
    lines = ["point      nodes     ranks  threads   GPUs      grid  cells/rank  fullest   GB/rank"]
    for p in points:
        lines.append(
            f"{p.name:<9} {p.nodes:6d} {p.ranks:9d} {p.threads:8d} {p.gpus:6d} {p.shape:>9} "
            f"{p.cells / p.ranks:11.4g} {p.imbalance:8.2f} {1e-9 * p.bytes_per_rank_max:9.3f}"
        )
    return lines
