"""Names of experiments and jobs as partition keys.

A key is typed on command lines, stands in URLs and names folders, so it is a short slug. A name
that already is one stays as it is; any other becomes a readable slug with a digest of the whole
name behind it, so that two names never share a key by accident and a name always gives the same key.
"""

from __future__ import annotations

import hashlib
import re

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")

_DIGEST_HEX_DIGITS = 8
_READABLE_PART = 120 - _DIGEST_HEX_DIGITS - 1
_NOT_IN_A_KEY = re.compile(r"[^A-Za-z0-9._-]+|\.{3,}")


def is_partition_key(text: str) -> bool:
    """Whether the text can be a key as it is; `...` cannot, since Dagster reads it as a range."""
    return KEY.fullmatch(text) is not None and "..." not in text


def partition_key(name: str) -> str:
    """The key of a name: itself if it fits, else a slug that ends in a digest of the name.

    >>> partition_key("qwen-8b_run.3")
    'qwen-8b_run.3'
    >>> partition_key("grpo / réglage 2")
    'grpo-r-glage-2-ab62baac'
    """
    if is_partition_key(name):
        return name
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_HEX_DIGITS // 2).hexdigest()
    readable = _NOT_IN_A_KEY.sub("-", name).strip("._-")[:_READABLE_PART].rstrip("._-")
    return f"{readable or 'unnamed'}-{digest}"


def job_key(experiment: str, job_id: str) -> str:
    """The key of a job: `<experiment>_<job id>`.

    An underscore inside the id (array jobs) becomes a dot, so that the last underscore of a key
    always separates the experiment and the id.

    >>> job_key("demo", "918273_4")
    'demo_918273.4'
    """
    return partition_key(f"{experiment}_{job_id.replace('_', '.')}")
