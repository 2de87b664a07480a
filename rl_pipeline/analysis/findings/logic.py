"""Three-valued logic: a part that is not known must not decide.

`all_of` is false as soon as one part is false, whatever the unknown parts may be; `any_of` is true as soon
as one is true. Everything else with an unknown part stays unknown (Kleene 1952).
"""

from __future__ import annotations


def all_of(*parts: bool | None) -> bool | None:
    """Conjunction; null when it depends on a part that is not known."""
    if any(part is not None and not part for part in parts):
        return False
    return None if any(part is None for part in parts) else True


def any_of(*parts: bool | None) -> bool | None:
    """Disjunction; null when it depends on a part that is not known."""
    if any(part is not None and part for part in parts):
        return True
    return None if any(part is None for part in parts) else False
