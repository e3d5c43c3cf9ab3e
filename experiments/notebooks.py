"""Run every notebook from its first cell to its last: ``python -m experiments.notebooks``."""

import sys
from pathlib import Path

import nbformat
from cyclopts import App
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from experiments import command

app = App(name="python -m experiments.notebooks", help=__doc__, version_flags=[])

_FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
_CELL_SECONDS = 300


@app.default
def notebooks(*, save: bool = False) -> int:
    """Run all notebooks; exit with 1 if a cell of one fails.

    Parameters
    ----------
    save
        Write the outputs back into the notebooks.
    """
    failed = [path for path in sorted(_FOLDER.glob("*.ipynb")) if not _run(path, save)]
    return 1 if failed else 0


def _run(path: Path, save: bool) -> bool:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=_CELL_SECONDS, resources={"metadata": {"path": str(path.parent)}}
    )
    try:
        client.execute()
    except CellExecutionError as error:
        command.say(f"{path.name}: a cell failed\n{error}")
        return False
    command.say(f"{path.name}: {len(notebook.cells)} cells ran")
    if save:
        nbformat.write(notebook, path)
    return True


if __name__ == "__main__":
    sys.exit(command.run(app, sys.argv[1:]))
