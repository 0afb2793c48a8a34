"""What several tests of this room share."""

from tieaware_sklearn.cli import main

#: files to read, which commands must leave as they are
INPUTS = {
    "train.txt": "1 qid:1 1:2 2:1\n0 qid:1 1:1 2:2\n1 qid:3 1:2 2:2\n0 qid:3 1:1\n",
    "test.txt": "1 qid:2 1:2 2:1\n0 qid:2 1:1 2:3\n",
    "bare.txt": "1 1:2\n0 1:1\n",
    "bare.txt.query": "2\n",
    "sizes": "2\n",
    "q1": "".join(f"{q} 0 a {q % 2}\n{q} 0 b 1\n" for q in range(4)),
    "r1": "".join(f"{q} Q0 a 1 5 x\n{q} Q0 b 2 5 x\n" for q in range(4)),
    "r2": "".join(f"{q} Q0 a 1 5 y\n{q} Q0 b 2 {q} y\n" for q in range(4)),
}


def run(capsys, *arguments):
    """The exit code of a command, and what it prints on both streams."""
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def succeed(capsys, *arguments):
    """What a command prints that ends well."""
    code, out, err = run(capsys, *arguments)
    assert code == 0, err
    return out, err


def fail(capsys, *arguments):
    """What is said of a command that ends with an error, before any other output."""
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (1, "")
    return err
