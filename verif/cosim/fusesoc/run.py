# SPDX-License-Identifier: Apache-2.0
"""FuseSoC builds and simulates a target of narrowgauge.core, in a folder of its own: the bench has to say what it found.

verif/cosim/fusesoc/run.py sim_fifo /path/to/an/empty/folder
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ngtools import ngflow, route

FOUND = {"sim_fifo": "ng_fifo_smoke: 1000 words, in order", "sim_tile": "ng_tile_smoke: -96, as it should be"}


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in FOUND:
        print(__doc__, file=sys.stderr)
        return 2
    target, folder = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    # A tree of only what the core names: FuseSoC looks for cores in all folders, those of builds too.
    cores = folder / "cores"
    cores.mkdir(parents=True)
    for name in ("narrowgauge.core", "rtl", "verif/cosim/fusesoc"):
        (cores / name).parent.mkdir(parents=True, exist_ok=True)
        (cores / name).symlink_to(ngflow.ROOT / name)
    (folder / "fusesoc.conf").touch()
    command = [route.executable("fusesoc"), "--config", folder / "fusesoc.conf", "--cores-root", cores]
    command += ["run", "--build-root", folder / "build", "--target", target, "narrowgauge:ip:narrowgauge"]
    environment = os.environ | {"MAKEFLAGS": "", "PYTHONPATH": ""}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode == 0 and FOUND[target] in done.stdout:
        print(FOUND[target])
        return 0
    print(f"{target} ended with {done.returncode}; expected '{FOUND[target]}' behind:\n{done.stdout[-4000:]}")
    return 1


if __name__ == "__main__":
    ngflow.run_main(main)
