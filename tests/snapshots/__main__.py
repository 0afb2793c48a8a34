"""Writes the snapshots anew: ``python -m tests.snapshots``."""

from tests.snapshots import FOLDER, TEXTS, read

if __name__ == "__main__":
    for name, text_of in TEXTS.items():
        before = read(name) if (FOLDER / name).exists() else ""
        text = text_of()
        (FOLDER / name).write_text(text, encoding="utf-8")
        state = "unchanged" if text == before else "changed: see git diff"
        print(f"{name}: {len(text.splitlines())} lines, {state}")
