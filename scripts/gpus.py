"""The GPUs that a process sees."""

from __future__ import annotations

import glob
import subprocess
from collections.abc import Mapping

QUERY = ["nvidia-smi", "--query-gpu=uuid,pci.bus_id", "--format=csv,noheader"]


def usable_gpus() -> list[tuple[str, str]]:
    """UUID and PCI bus id of each GPU that this process may open, in the order of bus ids."""
    try:
        done = subprocess.run(
            QUERY, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
        lines = done.stdout.lower().splitlines() if done.returncode == 0 else []
    except (OSError, subprocess.TimeoutExpired):
        # Containers may have the driver without nvidia-smi.
        return [("", path) for path in sorted(glob.glob("/dev/nvidia[0-9]*"))]
    pairs = [line.split(", ") for line in lines if line.startswith("gpu-")]
    # The driver writes eight digits of the PCI domain, the kernel and hwloc four.
    return [(uuid, bus[-12:]) for uuid, bus in pairs]


def visible_gpus(environment: Mapping[str, str]) -> list[str]:
    """Names of the GPUs that CUDA shows to a process with this environment, in CUDA's order.

    A name is a bus id, /dev/nvidiaN where nvidia-smi is missing, or a MIG instance.
    """
    wanted = environment.get("CUDA_VISIBLE_DEVICES")
    if wanted == "":
        return []
    gpus = usable_gpus()
    if wanted is None:
        return [name for _, name in gpus]
    chosen: list[str] = []
    for entry in wanted.replace(" ", "").split(","):
        if entry.startswith("MIG-"):
            return chosen or [entry]  # CUDA uses one instance only
        by_uuid = entry.startswith("GPU-")
        matches = [
            name
            for number, (uuid, name) in enumerate(gpus)
            if (uuid.startswith(entry.lower()) if by_uuid else entry == str(number))
        ]
        if len(matches) != 1:  # CUDA ignores the rest of the list
            break
        chosen += matches
    return chosen
