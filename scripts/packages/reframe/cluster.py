"""Example of ReFrame settings of a Slurm cluster, with references for hpgmg_fv.py.

Each entry of extras["hpgmg_fv"] of a partition is a reference for runs whose variables have its
values: "fom" is the figure of merit in DOF/s with its relative lower and upper bounds.
"""


def reference(fom, **variables):
    """The figure of merit may be 10 % lower."""
    return {**variables, "fom": (fom, -0.1, None)}


site_configuration = {
    "systems": [
        {
            "name": "cluster",
            "descr": "Slurm cluster",
            "hostnames": ["login[0-9]+"],
            "partitions": [
                {
                    "name": "cpu",
                    "scheduler": "slurm",
                    "launcher": "srun",
                    "environs": ["default"],
                    "extras": {
                        "hpgmg_fv": [
                            # 2 cores of an Intel Xeon (Sapphire Rapids): README.md.
                            reference(3.1e7, operator="fv2", log2_box_dim=7, num_tasks=2),
                        ]
                    },
                },
                {
                    "name": "gpu",
                    "scheduler": "slurm",
                    "launcher": "srun",
                    "environs": ["default"],
                    "features": ["gpu"],
                    "extras": {
                        "hpgmg_fv": [
                            # One H200, 512^3 cells: README.md.
                            reference(1.01e10, operator="fv2", device="cuda", log2_box_dim=8),
                            reference(3.92e9, operator="fv4", device="cuda", log2_box_dim=8),
                        ]
                    },
                },
            ],
        }
    ],
    "environments": [{"name": "default", "cc": "mpicc", "cxx": "", "ftn": ""}],
}
