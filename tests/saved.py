"""Files of results, as they are and damaged."""

import io
import json
import zipfile

import numpy as np


def members_of(data):
    """The header, and the bytes of every array by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    return json.loads(members.pop("header.json")), members


def zipped(header, members, **options):
    """A file of these, with checksums that fit."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **options) as file:
        for name, member in [("header.json", json.dumps(header)), *members.items()]:
            file.writestr(zipfile.ZipInfo(name), member, file.compression)
    return out.getvalue()


def npy(array, *, allow_pickle=False):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=allow_pickle)
    return out.getvalue()


def outcome(cls, data):
    """What a file is read as, in bytes, or the error; any other error comes through."""
    try:
        return cls.from_bytes(data).to_bytes()
    except ValueError as error:
        return str(error)


def check_damaged(cls, data, where, change):
    """A byte changed, or the file cut off there: an error, or nothing of weight."""
    at = where % len(data)
    flipped = bytearray(data)
    flipped[at] ^= change
    for damaged in (bytes(flipped), data[:at], data[at:], data + data[:at]):
        found = outcome(cls, damaged)
        if isinstance(found, str):
            assert found.startswith("data ")
            assert "\n" not in found
        else:
            assert found == data
