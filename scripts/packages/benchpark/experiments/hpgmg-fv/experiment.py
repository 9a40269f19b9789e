# Benchpark experiment of hpgmg-fv, with strong and weak scaling; docs/packages.md explains its use.
from benchpark.directives import variant
from benchpark.experiment import Experiment
from benchpark.programming_model import ProgrammingModel, ProgrammingModelType
from benchpark.scaling import Scaling, ScalingMode


class HpgmgFv(
    Experiment,
    ProgrammingModel(
        ProgrammingModelType.Mpionly, ProgrammingModelType.Openmp, ProgrammingModelType.Cuda
    ),
    Scaling(ScalingMode.Strong, ScalingMode.Weak, ScalingMode.Throughput),
):
    variant(
        "workload",
        default="double",
        values=("double", "official"),
        description="class of the results: double, or the rules of HPGMG's list",
    )
    variant("version", default="develop", values=("develop", "latest"), description="version")
    variant("operator", default="fv4", values=("fv2", "fv4"), description="discrete operator")

    def compute_applications_section(self):
        # The smallest grid of class double has 64^3 cells.
        test = self.spec.satisfies("exec_mode=test")
        self.add_experiment_variable("log2_box_dim", 5 if test else 7, True)
        self.add_experiment_variable("boxes_per_rank", 8 if test else 64, True)
        self.add_experiment_variable("resources", 1)
        self.add_experiment_variable("operator", self.spec.variants["operator"][0], True)
        self.add_experiment_variable("min_time", 1 if test else 5)

        cuda = self.spec.satisfies("+cuda")
        self.add_experiment_variable("device", "cuda" if cuda else "cpu")
        self.add_experiment_variable("n_gpus" if cuda else "n_ranks", "{n_resources}", True)
        if self.spec.satisfies("+openmp"):
            self.add_experiment_variable("n_threads_per_proc", 2, True)

        # Boxes are cubes of 2^log2_box_dim cells per side.
        box = "8**{log2_box_dim}"
        self.set_required_variables(
            n_resources="{resources}",
            process_problem_size=f"{box}*{{boxes_per_rank}}",
            total_problem_size=f"{box}*{{boxes_per_rank}}*{{resources}}",
        )
        self.register_scaling_config(
            {
                ScalingMode.Strong: {"resources": larger, "boxes_per_rank": smaller},
                ScalingMode.Weak: {"resources": larger, "boxes_per_rank": same},
                ScalingMode.Throughput: {"resources": same, "boxes_per_rank": larger},
            }
        )

    def compute_package_section(self):
        # Benchpark appends the variants of the programming models.
        self.add_package_spec(self.name, [f"hpgmg-fv{self.determine_version()} +mpi "])


def larger(variable, iteration, dim, factor):
    return variable.val(dim) * factor


def smaller(variable, iteration, dim, factor):
    return variable.val(dim) // factor


def same(variable, iteration, dim, factor):
    return variable.val(dim)
