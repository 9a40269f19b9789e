"""Synthetic reports for tests/scripts/scaling_model.sh, whose times are sums of known costs.

    scaling_model.py make FOLDER PROGRAM NOISE  write a report for each point and repeat of a study
    scaling_model.py truth FOLDER PROGRAM RANKS [OPTION...]  seconds of a solve, one rank per host
    scaling_model.py costs FOLDER               print each cost in its unit, to compare a model with

Amounts of work come from the program's plan. The cost model is implemented here independently of
scripts/, from its description in docs/scaling.md.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

CACHE = 96e6
CPU = {
    "cell": (20e-9, 1e9),
    "far": (10e-9, 1e9),
    "patch": (15e-6, 1e6),
    "exchange": (30e-6, 1e6),
    "message": (4e-6, 1e6),
    "double": (12e-9, 1e9),
    "gather": (50e-6, 1e6),
    "solve": (200e-6, 1e6),
}
GPU = {
    "cell": (0.17e-9, 1e9),
    "patch": (60e-6, 1e6),
    "tail": (40e-6, 1e6),
    "exchange": (5e-6, 1e6),
    "message": (1e-6, 1e6),
    "double": (0.1e-9, 1e9),
    "gather": (90e-6, 1e6),
    "solve": (150e-6, 1e6),
}
# Costs of levels with fused sweeps; other costs are as above.
PASSES = {"cell.passes": (0.1e-9, 1e9), "patch.passes": (150e-6, 1e6)}
# Per visit: exchanges of faces only and with edges and corners; ghost layers of each.
EXCHANGES = (9, 1), (9, 2)
IN_PASSES = (2, 5), (2, 15)
TAIL = 1000  # cells
CORES = 2


def plan_of(program, words):
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "OMPI_MCA_ess_singleton_isolated": "1"}
        env["OMPI_MCA_orte_tmpdir_base"] = folder
        done = subprocess.run(
            [program, *words], capture_output=True, text=True, check=True, env=env
        )
        return json.loads(done.stdout)


def words_of(study, ranks, boxes, more=()):
    size = f"--ranks={ranks} {study['log2_box_dim']} {boxes}"
    where = f"--device={'cuda' if study['gpu'] else 'cpu'} --cpu-below=0"
    plan = f"--steps-per-pass={study['steps']} --dry-run --quiet --json=-"
    return f"{size} {where} {plan}".split() + list(more)


def study_of(folder):
    with open(os.path.join(folder, "study.ini"), encoding="utf-8") as file:
        lines = [line.split("#")[0].split("=") for line in file if "=" in line]
    keys = {key.strip(): value.strip() for key, value in lines}
    return {
        "gpu": "gpus-per-rank" in keys,
        "log2_box_dim": int(keys["log2-box-dim"]),
        "boxes": int(keys["boxes-per-rank"]),
        "repeats": int(keys["repeats"]),
        "steps": int(keys.get("steps-per-pass", 3)),
    }


def sent(level):
    """Exchanges, messages and doubles per visit of a level."""
    (faces, both), layers = IN_PASSES if level["steps_per_pass"] > 1 else EXCHANGES
    of = ("per_face_exchange_max", "per_exchange_max")
    messages, doubles = (
        [level[f"{what}_{kind}"] for kind in of] for what in ("messages", "message_doubles")
    )
    return (
        faces + both,
        faces * messages[0] + both * messages[1],
        layers[0] * doubles[0] + layers[1] * doubles[1],
    )


def seconds(levels, gpu, on_host):
    """Seconds of each level in an F-cycle on levels; levels[0] includes the cost per solve."""
    cost = {name: value for name, (value, _) in ({**GPU, **PASSES} if gpu else CPU).items()}
    all_share = max(1.0, on_host / CORES)
    of_level, ranks_before, tail = [], levels[0]["ranks"], False
    for visits, level in enumerate(levels, 1):
        cells = level["boxes_per_rank_max"] * level["box_dim"] ** 3
        patches, (exchanges, messages, doubles) = level["patches_per_rank_max"], sent(level)
        total = cost["solve"] * all_share if visits == 1 else 0.0
        if gpu and level["ranks"] == 1 and patches == 1 and cells <= TAIL:
            total += 0.0 if tail else visits * cost["tail"]
            tail = True
        elif gpu:
            kind = ".passes" if level["steps_per_pass"] > 1 else ""
            total += visits * (cells * cost["cell" + kind] + patches * cost["patch" + kind])
        else:
            here = min(on_host, level["ranks"])
            held = min(1.0, CACHE / (here * level["bytes_per_rank"]["max"]))
            each = cells * (cost["cell"] + (1.0 - held) * cost["far"]) + patches * cost["patch"]
            total += visits * max(1.0, here / CORES) * each
        if messages:
            each = exchanges * cost["exchange"] + (messages - exchanges) * cost["message"]
            total += visits * all_share * (each + doubles * cost["double"])
        if level["ranks"] < ranks_before:
            parts = -(-ranks_before // level["ranks"]) - 1
            total += visits * all_share * (cost["gather"] + (parts - 1) * cost["message"])
        ranks_before = level["ranks"]
        of_level.append(total)
    return of_level


def make(folder, program, noise):
    study, draw = study_of(folder), random.Random(2)
    with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
        points = json.load(file)["points"]
    for point in points:
        ranks = point["ranks"]
        plan = plan_of(program, words_of(study, ranks, point["boxes_per_rank"]))
        on_host = 1 if study["gpu"] else ranks
        host = "host{}" if study["gpu"] else "host"
        rows = [f"{r} {host.format(r)} 0 0-1 {CORES} 0 0 1 - - - - -\n" for r in range(ranks)]
        with open(os.path.join(folder, "runs", f"{point['name']}.bind"), "w") as file:
            file.writelines(rows)
        for repeat in range(1, study["repeats"] + 1):
            on_levels = seconds(plan["levels"], study["gpu"], on_host)
            report = report_of(plan, study["gpu"], ranks, on_levels)
            for grid in range(3):
                time = sum(seconds(plan["levels"][grid:], study["gpu"], on_host))
                time *= 1.0 + noise * draw.uniform(-1.0, 1.0)
                report["solves"].append(solve_of(plan["levels"][grid]["dim"][0], time))
            path = os.path.join(folder, "runs", f"{point['name']}.{repeat}.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(report, file)


def report_of(plan, gpu, ranks, on_levels):
    levels = []
    for visits, about in enumerate(plan["levels"], 1):
        _, messages, doubles = sent(about)
        count, size = visits * messages, 8 * visits * doubles
        cells = about["boxes_per_rank_max"] * about["box_dim"] ** 3
        small = gpu and about["ranks"] == 1 and cells <= TAIL
        # The mean over all ranks, including those without cells; half of it is for messages.
        mean = 0.5 * on_levels[visits - 1] * about["ranks"] / ranks
        took = {"coarse_levels" if small else "smooth": [0.0, mean, 1.0]}
        took["halo_exchange"] = [0.0, mean, 1.0]
        levels.append(
            {
                **{key: about[key] for key in ("dim", "boxes", "box_dim", "ranks", "backend")},
                "bytes": 1,
                "seconds": took,
                "messages": [count, float(count), count],
                "message_bytes": [size, float(size), size],
            }
        )
    return {
        "program": "hpgmg-fv",
        "version": "0",
        "problem": plan["problem"],
        "run": {
            "ranks": ranks,
            "threads": 1,
            "backend": "cuda" if gpu else "cpu",
            "transport": "host",
            "cpu_below": 0,
            "host": "host",
        },
        "levels": levels,
        "solves": [],
        "error": 1.0,
        "order": 2.0,
        "verification": "passed",
        "memory": {"bytes_per_rank_max": 1},
    }


def solve_of(n, time):
    dof = n**3
    numbers = {"seconds_min": time, "seconds_mean": time, "dof_per_s": dof / time}
    return {"h": 1.0 / n, "dof": dof, "norms": [1.0], "cycles": 1, "solves": 1, **numbers}


def main():
    command, folder, *rest = sys.argv[1:]
    study = study_of(folder)
    if command == "make":
        make(folder, rest[0], float(rest[1]))
    elif command == "truth":
        ranks = int(rest[1])
        plan = plan_of(rest[0], words_of(study, ranks, study["boxes"], rest[2:]))
        print(repr(sum(seconds(plan["levels"], study["gpu"], 1))))
    elif command == "costs":
        known = {**GPU, **(PASSES if study["steps"] > 1 else {})} if study["gpu"] else CPU
        for name, (value, unit) in known.items():
            print(name, value * unit)


main()
