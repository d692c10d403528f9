"""A disk that fails when a test wants it to: faults.c, built and preloaded."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).with_name("faults.c")


class Disk:
    """The disk of the servers that get `settings`."""

    def __init__(self, compiler: str, directory: Path):
        library = directory / "faults.so"
        subprocess.run([compiler, "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
        self._wishes, self._told = directory / "faults", directory / "faults.told"
        self.settings = {"LD_PRELOAD": str(library), "FAULTS": str(self._wishes)}

    @contextmanager
    def failing(self, *wishes: str) -> Iterator[None]:
        """`write .db-wal`: writes to a file whose path ends so fail; the others are `sync`, `read` and `room`."""
        self._told.unlink(missing_ok=True)
        # Replaced in one step: a server reads the file at each call.
        draft = self._wishes.with_suffix(".draft")
        draft.write_text("".join(f"{wish}\n" for wish in wishes))
        draft.rename(self._wishes)
        try:
            yield
        finally:
            self._wishes.unlink()

    @property
    def told(self) -> Counter:
        """How often each of the last wishes was granted."""
        return Counter(self._told.read_text().splitlines() if self._told.exists() else [])
