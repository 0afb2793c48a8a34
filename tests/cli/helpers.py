"""What several tests of this room share."""

from __future__ import annotations

from tieaware_sklearn.cli import main


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err
