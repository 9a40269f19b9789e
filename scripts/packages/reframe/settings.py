"""Settings of ReFrame for one machine without a batch system, whatever is on it.

A site has its own; what hpgmg_fv.py wants of it is a launcher of MPI programs, and the feature
`gpu` of partitions whose nodes have NVIDIA GPUs.
"""

import shutil

site_configuration = {
    "systems": [
        {
            "name": "here",
            "descr": "one machine, no batch system",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "local",
                    "scheduler": "local",
                    "launcher": "mpirun" if shutil.which("mpirun") else "local",
                    "environs": ["default"],
                    "features": ["gpu"] if shutil.which("nvidia-smi") else [],
                    # What is measured runs alone.
                    "max_jobs": 1,
                }
            ],
        }
    ],
    "environments": [
        {
            "name": "default",
            "cc": "mpicc" if shutil.which("mpicc") else "cc",
            "cxx": "",
            "ftn": "",
        }
    ],
}
