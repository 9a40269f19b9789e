"""packages_easybuild: read the easyconfigs with EasyBuild for tests/scripts/packages.sh.

packages_easybuild.py FILE LMOD
    Parse FILE with the Lmod program LMOD as the modules tool. Unknown parameters that resemble a
    known one, and missing ones, are errors. Print, one per line, "option TEXT" for each option of
    configure, "file PATH" and "dir PATH" for what EasyBuild checks after the installation, and
    "command TEXT" for the commands that it runs then.
"""

import contextlib
import io
import os
import shlex
import sys
import tempfile

from easybuild.framework.easyconfig.easyconfig import EasyConfig
from easybuild.tools.options import set_up_configuration


def main():
    path, lmod = sys.argv[1:]
    os.environ["PATH"] = os.path.dirname(lmod) + os.pathsep + os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        set_up_configuration(
            [f"--prefix={folder}", "--allow-use-as-root-and-accept-consequences"], silent=True
        )
        config = EasyConfig(os.path.abspath(path))
    for option in shlex.split(config["configopts"]):
        print("option", option)
    for kind in ("files", "dirs"):
        for name in config["sanity_check_paths"][kind]:
            print(kind[:-1], name)
    for command in config["sanity_check_commands"]:
        print("command", command)


main()
