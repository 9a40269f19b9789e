"""ReFrame settings for any single machine without a batch system.

Sites use their own settings. hpgmg_fv.py needs an MPI launcher, and the feature `gpu` on partitions
with NVIDIA GPUs.
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
                    # Measurements run one at a time.
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
