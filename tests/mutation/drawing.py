"""Draw mutants by chance: the same ones for the same seed and the same source."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from .mutants import Mutant, find_mutants, is_valid

PACKAGE = "dialectree"
FOLDERS = (PACKAGE, "graphs", "nodes", "evals", "interfaces", "retrieval", "prompts")
"""Where source is; ``dialectree/`` has links to the others, which are not followed."""
LEAST = 2
"""Mutants that even the smallest room gets."""


def source_files(tree: Path) -> dict[str, str]:
    """Return the text of every source file, by its path in ``tree``."""
    return {
        str(PurePosixPath(path.relative_to(tree))): path.read_text()
        for folder in FOLDERS
        for path in sorted((tree / folder).rglob("*.py"))
        if not any(parent.is_symlink() for parent in path.parents if parent.is_relative_to(tree))
    }


def room_of(file: str) -> str:
    """Return the room that a file belongs to: ``evals``, or ``models`` for one of the kernel's."""
    folder, *between, _ = PurePosixPath(file).parts
    return between[0] if folder == PACKAGE and between else folder


def module_of(file: str) -> str:
    """Return the name by which a file is imported."""
    parts = PurePosixPath(file).with_suffix("").parts
    name = ".".join(parts if parts[0] == PACKAGE else (PACKAGE, *parts))
    return name.removesuffix(".__init__")


def digest_of(tree: Path, folders: Iterable[str], without: str = "") -> str:
    """Return a fingerprint of all files in ``folders`` but ``without``, compiled ones aside."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted((tree / folder).rglob("*")):
            left_out = without and path.is_relative_to(tree / without)
            if path.is_file() and "__pycache__" not in path.parts and not left_out:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{path.relative_to(tree)} {content}\n".encode())
    return digest.hexdigest()[:16]


def shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Split ``count`` among rooms in proportion to their sizes, with a least share for each."""
    total = sum(sizes.values())
    result = dict.fromkeys(sorted(sizes), min(LEAST, count // len(sizes)))
    while sum(result.values()) < count:
        poorest = max(result, key=lambda room: sizes[room] / total * count - result[room])
        result[poorest] += 1
    return result


def draw(sources: dict[str, str], seed: int, count: int) -> list[Mutant]:
    """Draw up to ``count`` mutants, spread over the rooms, at most one for each function.

    Args:
        sources: Text by path, as of ``source_files``.
        seed: Any number; another seed draws other mutants.
        count: How many mutants to draw. There are fewer where the rooms have fewer functions.
    """
    candidates: defaultdict[str, list[Mutant]] = defaultdict(list)
    sizes: defaultdict[str, int] = defaultdict(int)
    for file, source in sorted(sources.items()):
        if mutants := find_mutants(file, source):
            candidates[room_of(file)] += mutants
            sizes[room_of(file)] += source.count("\n")
    drawn = []
    for room, share in shares(sizes, count).items():
        # A room has a generator of its own, so that its draw does not depend on other rooms.
        chance = random.Random(f"{seed} {room}")
        drawn += _draw_from_room(candidates[room], sources, chance, share)
    return drawn


def _draw_from_room(
    candidates: list[Mutant], sources: dict[str, str], chance: random.Random, share: int
) -> list[Mutant]:
    drawn: dict[tuple[str, str], Mutant] = {}
    for mutant in chance.sample(candidates, len(candidates)):
        function = mutant.file, mutant.function
        if len(drawn) == share:
            break
        if function not in drawn and is_valid(mutant, sources[mutant.file]):
            drawn[function] = mutant
    return sorted(drawn.values(), key=lambda mutant: (mutant.file, mutant.start))
