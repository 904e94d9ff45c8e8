"""Install a dependency group of pyproject.toml, or some extras: `install_group.py test`, `install_group.py jieba pages`.

What cannot be installed is named, and the rest still is: the tests that need it are then skipped with that reason (and fail where
CI=true), and so are parts of the demo.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path


def pip_install(*requirements: str) -> bool:
    # Most of what large packages carry is never imported: what is, is compiled then.
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-compile", *requirements]
    return subprocess.run(command, check=False).returncode == 0


def main(names: list[str]) -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    known: dict[str, list[str]] = project["dependency-groups"] | project["project"]["optional-dependencies"]
    requirements = [requirement for name in names for requirement in known[name]]
    if pip_install(*requirements):
        return
    for requirement in requirements:
        if not pip_install(requirement):
            print(f"== could not install {requirement}: what needs it will be skipped", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
