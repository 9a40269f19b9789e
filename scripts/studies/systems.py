"""Batch systems: directives and launch commands of jobs, submission, and job states.

Every rank sees all GPUs of its node, which peer stores need; the program selects one by local rank.
Sources: the manuals sbatch(1), srun(1) and squeue(1) of Slurm 22.05; PBS Professional 2021.1,
reference guide; IBM Spectrum LSF 10.1, bsub and jsrun; flux-batch(1) and flux-run(1) of Flux 0.60;
mpirun(1) of Open MPI 4.1.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

from studies import process
from studies.folder import Folder, Point
from studies.study import Study
from toolkit import FileError, UsageError, run

PENDING, RUNNING = "pending", "running"


class Raw(str):
    """A word of a job script that the shell expands; never a string of the user."""


def seconds_of(time: str) -> int:
    total = 0
    for part in time.split(":"):
        total = 60 * total + int(part)
    return total


def run_tool(words: list[str], folder: Folder, stdin: str | None = None, fine=(0,)) -> str:
    """Run a command of the batch system and return its output. `fine`: exit codes of success."""
    try:
        with open(stdin or os.devnull, encoding="utf-8") as source:
            done = run(words, FileError, cwd=folder.path, stdin=source)
    except OSError as error:
        raise FileError(f"{words[0]} cannot be run: {error.strerror}") from None
    if done.returncode not in fine:
        why = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
        raise FileError(f"{words[0]} failed (exit code {done.returncode}): {why[:200]}")
    return done.stdout


def siblings_of(cpu: int) -> str:
    """List of the hardware threads on the core of a CPU; the CPU alone if unknown."""
    try:
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except (OSError, ValueError):
        return str(cpu)


def usable_cores() -> int:
    """Number of cores, not hardware threads, in the affinity of this process."""
    try:
        cpus = os.sched_getaffinity(0)
    except (AttributeError, OSError):
        return os.cpu_count() or 1
    return len({siblings_of(cpu) for cpu in cpus})


def passed_on(study: Study) -> list[str]:
    """Options of mpirun that export the job's variables; Open MPI always exports its own."""
    names = ["OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND", *study.environment]
    own = ("OMPI_", "PMIX_", "PRTE_")
    names = [name for name in dict.fromkeys(names) if not name.startswith(own)]
    words = [word for name in names for word in ("-x", name)]
    if study.modules and "LD_LIBRARY_PATH" not in names:
        words.append(Raw("${LD_LIBRARY_PATH:+-x LD_LIBRARY_PATH}"))
    return words


def mpirun(study: Study, point: Point, *more: str) -> list[str]:
    """Open MPI's mpirun: the study's ranks per node, each bound to one core per thread."""
    where, each = ("numa", study.numa) if study.numa > 1 else ("node", 1)
    ppr = f"ppr:{study.ranks_per_node // each}:{where}:PE={study.threads}"
    words = ["mpirun", "-n", str(point.ranks), *more, "--map-by", ppr, "--bind-to", "core"]
    return words + passed_on(study) + study.launcher_options


class System:
    """Base of all batch systems."""

    name: str
    command: str  # submits jobs
    submission: tuple[str, ...]  # the words before a script
    probe: tuple[str, ...] = ()  # command that succeeds only if the system is running
    launchers: tuple[str, ...]
    directive: str  # begins each line of a header
    keys: tuple[str, ...]  # directives of account, partition and time
    query: tuple[str, ...]  # prints jobs and their states
    fine: tuple[int, ...] = (0,)  # its exit codes, other than 0 if jobs have left the queue
    waiting: tuple[str, ...]  # states of jobs
    running: tuple[str, ...]

    def directives(self, study: Study, point: Point) -> list[str]:
        raise NotImplementedError

    def time(self, text: str) -> str:
        return text

    def header(self, study: Study, point: Point) -> list[str]:
        asked = (study.account, study.partition, self.time(study.time) if study.time else None)
        asked = [f"{key}{value}" for key, value in zip(self.keys, asked) if value]
        return [f"{self.directive} {line}" for line in [*self.directives(study, point), *asked]]

    def launch(self, study: Study, point: Point, launcher: str) -> list[str]:
        return mpirun(study, point)

    def check_folder(self, path: str) -> None:
        """Refuse a folder in which jobs cannot run."""

    def submit(self, folder: Folder, point: Point) -> str:
        """The id of the job, a single word, that the submit command prints."""
        printed = run_tool([*self.submission, self.script(point)], folder)
        job = printed.strip().partition(";")[0]
        if len(job.split()) != 1:
            raise FileError(
                f"{self.command} printed no job id: {job[:200]!r}; check the queue for a job"
            )
        return job

    def known(self, folder: Folder, jobs: list[str]) -> dict[str, str]:
        """Jobs and their states in the system's words: two words on each line of the query."""
        printed = run_tool([*self.query, *jobs], folder, fine=self.fine)
        return dict(line.split() for line in printed.splitlines() if len(line.split()) == 2)

    def states(self, folder: Folder, jobs: list[str]) -> dict[str, str]:
        """States of those jobs that the batch system still lists."""
        place = {**dict.fromkeys(self.waiting, PENDING), **dict.fromkeys(self.running, RUNNING)}
        known = self.known(folder, jobs)
        return {job: place[known[job]] for job in jobs if known.get(job) in place}

    @staticmethod
    def script(point: Point) -> str:
        return f"jobs/{point.name}.sh"


class Slurm(System):
    name, command, launchers = "slurm", "sbatch", ("srun", "mpirun")
    submission, probe = ("sbatch", "--parsable"), ("sinfo", "--noheader")
    directive, keys = "#SBATCH", ("--account=", "--partition=", "--time=")
    waiting = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SUSPENDED")

    def check_folder(self, path):
        # Slurm expands these in the path of the output file, and a job without one fails.
        if "%" in path or "\\" in path:
            raise UsageError(
                f"{path} contains % or \\, which Slurm expands in file names; use another folder "
                "(--folder)"
            )

    def directives(self, study, point):
        lines = [
            f"--job-name={study.name}-{point.name}",
            f"--nodes={point.nodes}",
            f"--ntasks-per-node={study.ranks_per_node}",
            f"--cpus-per-task={study.threads}",
            "--threads-per-core=1",  # one core per thread, not one hardware thread
        ]
        if point.gpus:
            lines.append(f"--gpus-per-node={study.ranks_per_node * study.gpus_per_rank}")
        # --mem=0 requests all memory of a node; a site's default per core may be less.
        return [*lines, "--exclusive", "--mem=0", f"--output=runs/{point.name}.out"]

    def launch(self, study, point, launcher):
        if launcher == "mpirun":
            return mpirun(study, point)
        words = ["srun", "--mpi=pmix", f"--nodes={point.nodes}", f"--ntasks={point.ranks}"]
        words += [f"--cpus-per-task={study.threads}", "--threads-per-core=1"]
        words.append("--cpu-bind=cores")
        # Cyclic over sockets if ranks do not fill a node; --ntasks-per-socket would share cores.
        words.append(f"--distribution=block:{'cyclic' if study.numa > 1 else 'block'}")
        if point.gpus:
            words.append("--gpu-bind=none")
        return words + study.launcher_options

    def states(self, folder, jobs):
        # List all jobs of the user: with the id of a job that has left the queue, squeue fails. Use
        # the user id, because LOGNAME may name another user.
        self.query = ("squeue", "--noheader", f"--user={os.getuid()}", "--format=%i %T")
        known = self.known(folder, [])
        return {j: PENDING if known[j] in self.waiting else RUNNING for j in jobs if j in known}


class Pbs(System):
    name, command, launchers = "pbs", "qsub", ("mpirun",)
    submission, probe = ("qsub",), ("qstat", "-B")
    directive, keys = "#PBS", ("-A ", "-q ", "-l walltime=")
    query, fine = ("qstat", "-f", "-F", "json"), (0, 35, 153)
    waiting, running = tuple("QHWTS"), tuple("REB")

    def directives(self, study, point):
        chunk = f"select={point.nodes}:ncpus={study.ranks_per_node * study.threads}"
        chunk += f":mpiprocs={study.ranks_per_node}:ompthreads={study.threads}"
        if point.gpus:
            chunk += f":ngpus={study.ranks_per_node * study.gpus_per_rank}"
        lines = [f"-N {study.name}-{point.name}", f"-l {chunk}", "-l place=scatter:excl"]
        return [*lines, "-j oe", f"-o runs/{point.name}.out"]

    def time(self, text):
        return str(seconds_of(text))

    def launch(self, study, point, launcher):
        return mpirun(study, point, "--hostfile", Raw('"$PBS_NODEFILE"'))

    def known(self, folder, jobs):
        printed = run_tool([*self.query, *jobs], folder, fine=self.fine)
        try:
            known = json.loads(printed or "{}").get("Jobs", {}) if printed.strip() else {}
            return {job: about["job_state"] for job, about in known.items()}
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise FileError(f"qstat -F json printed no list of jobs ({error})") from None


class Lsf(System):
    name, command, launchers = "lsf", "bsub", ("mpirun", "jsrun")
    probe, query, fine = ("lsid",), ("bjobs", "-noheader", "-o", "jobid stat"), (0, 255)
    directive, keys = "#BSUB", ("-P ", "-q ", "-W ")
    waiting, running = ("PEND", "PSUSP", "WAIT", "PROV"), ("RUN", "USUSP", "SSUSP", "UNKWN")

    def directives(self, study, point):
        lines = [f"-J {study.name}-{point.name}"]
        if study.launcher == "jsrun":
            lines.append(f"-nnodes {point.nodes}")
        else:
            lines += [f"-n {point.ranks}", f'-R "span[ptile={study.ranks_per_node}]"']
            lines += [f'-R "affinity[core({study.threads})]"', "-x"]
            if point.gpus:
                lines.append(f'-gpu "num={study.ranks_per_node * study.gpus_per_rank}/host"')
        return [*lines, f"-o runs/{point.name}.out"]

    def time(self, text):
        minutes = -(-seconds_of(text) // 60)
        return f"{minutes // 60}:{minutes % 60:02d}"

    def launch(self, study, point, launcher):
        if launcher == "mpirun":
            return mpirun(study, point)
        # One resource set per node, so that each rank sees all GPUs, which peer stores need.
        each = study.ranks_per_node
        words = ["jsrun", "-n", str(point.nodes), "-r", "1", "-a", str(each)]
        words += ["-c", str(each * study.threads), "-g", str(each * study.gpus_per_rank)]
        words += ["-d", "packed", "-b", f"packed:{study.threads}"]
        return words + study.launcher_options

    def submit(self, folder, point):
        printed = run_tool(["bsub"], folder, stdin=folder.at(self.script(point)))
        found = re.search(r"Job <(\d+)>", printed)
        if not found:
            raise FileError(f"bsub printed no job id: {printed.strip()[:200]}")
        return found.group(1)


class Flux(System):
    name, command, launchers = "flux", "flux", ("flux",)
    submission, probe = ("flux", "batch"), ("flux", "jobs", "--no-header")
    directive, keys = "# flux:", ("--bank=", "--queue=", "--time-limit=")
    query = ("flux", "jobs", "--all", "--no-header", "--format={id} {state}")
    waiting, running = ("DEPEND", "PRIORITY", "SCHED"), ("RUN", "CLEANUP")

    def directives(self, study, point):
        lines = [f"--job-name={study.name}-{point.name}", f"--nodes={point.nodes}"]
        lines += [f"--nslots={point.ranks}", f"--cores-per-slot={study.threads}"]
        if point.gpus:
            lines.append(f"--gpus-per-slot={study.gpus_per_rank}")
        return [*lines, "--exclusive", f"--output=runs/{point.name}.out"]

    def time(self, text):
        return f"{seconds_of(text)}s"

    def launch(self, study, point, launcher):
        words = ["flux", "run", f"--nodes={point.nodes}", f"--ntasks={point.ranks}"]
        words += [f"--cores-per-task={study.threads}", "-o", "cpu-affinity=per-task"]
        if point.gpus:
            words += [f"--gpus-per-task={study.gpus_per_rank}", "-o", "gpu-affinity=off"]
        return words + study.launcher_options

    def known(self, folder, jobs):
        # Job ids start with an f with hook (U+0192), or with a plain f in an ASCII locale.
        ascii_id = {job.replace("\u0192", "f"): job for job in jobs}
        found = super().known(folder, [])
        return {ascii_id.get(job.replace("\u0192", "f"), job): s for job, s in found.items()}


class Local(System):
    """No batch system: all ranks run on this machine, and points run one after another."""

    name, command, launchers = "local", "bash", ("mpirun",)

    def header(self, study, point):
        return []

    def launch(self, study, point, launcher):
        if point.ranks == 1 and shutil.which("mpirun") is None:
            return ["env"]  # starts one process
        # Oversubscribe: Open MPI may take its slots from a surrounding job.
        words = ["mpirun", "-n", str(point.ranks), "--oversubscribe"]
        if self.shares_cores(study, point):
            words += ["--bind-to", "none"]
        else:
            where = "numa" if study.numa > 1 else "slot"
            words += ["--map-by", f"{where}:PE={study.threads}"]
            words += ["--bind-to", "core:overload-allowed"]
        return words + study.launcher_options

    @staticmethod
    def shares_cores(study: Study, point: Point) -> bool:
        """True if there are more threads than cores. Bound threads would wait for each other."""
        return point.ranks * study.threads > usable_cores()

    def run(self, folder: Folder, point: Point, started, say) -> None:
        """Run a point to its end. `started` is called once state.json has the job."""

        def record(job: str) -> None:
            folder.save_job(point, job)
            started()

        # The command `module` is defined in login shells.
        shell = ["bash", "-l"] if folder.study.modules else ["bash"]
        process.run_job(
            [*shell, self.script(point)],
            folder.path,
            folder.at("runs", f"{point.name}.out"),
            record,
            say,
        )

    def states(self, folder, jobs):
        return {job: RUNNING for job in jobs if process.lives(job)}


SYSTEMS = {system.name: system for system in (Slurm(), Pbs(), Lsf(), Flux(), Local())}


def find_system(wanted: str) -> System:
    """The requested system, or the first one that is running; local if there is none."""
    if wanted != "auto":
        return SYSTEMS[wanted]
    for system in SYSTEMS.values():
        if shutil.which(system.command) and answers(system):
            return system
    return SYSTEMS["local"]


def answers(system: System) -> bool:
    """True if the batch system is running, not only installed."""
    if not system.probe:
        return True
    try:
        done = subprocess.run(
            system.probe, stdin=subprocess.DEVNULL, capture_output=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def find_launcher(system: System, wanted: str | None) -> str:
    """The requested launcher, if the system supports it; by default the system's first."""
    if wanted is None:
        return system.launchers[0]
    if wanted not in system.launchers:
        raise UsageError(
            f"[batch] launcher = {wanted} does not work with {system.name}, which supports "
            f"{', '.join(system.launchers)}"
        )
    return wanted
