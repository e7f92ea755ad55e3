# SPDX-License-Identifier: BSD-3-Clause
"""The source archive of a commit has the same bytes at any time, in any folder and for any user.

check_source_archive.py SOURCE
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

IDENTITY = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
COMMIT_TIME = 1700000000
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    **IDENTITY,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_COMMITTER_DATE": f"{COMMIT_TIME} +0000",
}


def make_repository(source: Path, root: Path) -> None:
    (root / "cmake").mkdir(parents=True)
    shutil.copy(source / "cmake/source_archive.sh", root / "cmake")
    (root / "CMakeLists.txt").write_text("project(syncyte VERSION 1.2.3 LANGUAGES C)\n")
    (root / "link").symlink_to("CMakeLists.txt")
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=x"]):
        subprocess.run(["git", *command], cwd=root, env=ENVIRONMENT, check=True)


def archive(root: Path, folder: Path, mask: int, **environment: str) -> bytes:
    folder.mkdir()
    run = subprocess.run(
        [root / "cmake/source_archive.sh"],
        cwd=folder,
        env=ENVIRONMENT | environment,
        umask=mask,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    content = (folder / "syncyte-1.2.3.tar.gz").read_bytes()
    assert run.stdout == f"{hashlib.sha256(content).hexdigest()}  syncyte-1.2.3.tar.gz\n", run.stdout
    return content


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        make_repository(Path(sys.argv[1]), work / "repository")
        first = archive(work / "repository", work / "first", 0o022)
        for file in (work / "attributes", work / "repository/.git/info/attributes"):
            file.write_text("CMakeLists.txt export-ignore\n")
        settings = f"[tar]\n\tumask = 0\n[core]\n\tautocrlf = true\n\tattributesFile = {work / 'attributes'}\n"
        (work / "gitconfig").write_text(settings)
        (work / "repository/CMakeLists.txt").write_text("not committed\n")
        (work / "repository").rename(work / "moved")
        again = {
            "TZ": "Asia/Tokyo",
            "GIT_CONFIG_GLOBAL": str(work / "gitconfig"),
            "LC_ALL": "C",
            "GZIP": "--fast",
            "CDPATH": str(work / "attributes"),
        }
        assert archive(work / "moved", work / "second", 0o077, **again) == first
        with tarfile.open(work / "first/syncyte-1.2.3.tar.gz") as file:
            assert {member.mtime for member in file} == {COMMIT_TIME}
            assert file.getmember("syncyte-1.2.3/cmake/source_archive.sh").mode == 0o755
            assert file.extractfile("syncyte-1.2.3/CMakeLists.txt").read().startswith(b"project")


if __name__ == "__main__":
    main()
