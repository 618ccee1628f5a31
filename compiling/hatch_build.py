"""What hatchling does beside copying files: wheels get compiled kernels.

The wheel is then one for this Python and platform, and says so in its name. With
`ALLSPLITS_COMPILE=0` in the environment the wheel for all is built, without compiled kernels; so it
is where the first calls fail, and a warning says why. An editable installation has them in the
source folder: they are used until a file of kernels is changed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):
    """Makes the first calls and adds what was compiled for them."""

    @property
    def _wanted(self) -> bool:
        return os.environ.get("ALLSPLITS_COMPILE", "1") != "0"

    def dependencies(self) -> list[str]:
        """Whatever the package needs: it is run."""
        return self.metadata.core.dependencies if self._wanted else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before files are collected."""
        installed = Path(self.root, "src", "allsplits", "_compiled")
        if version == "editable":
            shutil.rmtree(installed, ignore_errors=True)
        self._folder = tempfile.mkdtemp()
        if not self._wanted or not self._compile():
            return
        if version == "editable":
            shutil.copytree(self._folder, installed)
            return
        build_data["force_include"][self._folder] = "allsplits/_compiled"
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Tidy up."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _compile(self) -> bool:
        self.app.display_info("Compiling the kernels of the usual calls: about a minute")
        program = Path(self.root, "compiling", "first_calls.py")
        done = subprocess.run(
            [sys.executable, str(program), self._folder],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            self.app.display_warning(f"Built without compiled kernels: {done.stderr}")
        return not done.returncode
