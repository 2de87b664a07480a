"""What Dagster's web server answers, asked as its own pages ask it, and the addresses on which it listens."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

LISTENING = "0A"  # the state of a socket in /proc/net/tcp
ASSETS = "{assetNodes{assetKey{path} partitionKeys}}"
LOCATIONS_OF_RUNS = "{runsOrError(limit: 50){... on Runs{results{repositoryOrigin{repositoryLocationName}}}}}"


def ask(address: str, query: str) -> dict[str, Any]:
    """The data of a GraphQL query."""
    request = urllib.request.Request(
        f"{address}/graphql", data=json.dumps({"query": query}).encode(), headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        data: dict[str, Any] = json.load(answer)["data"]
    return data


def partitions_shown(port: int) -> dict[str, list[str]]:
    """Partition keys by asset; empty while the code is still being loaded."""
    nodes = ask(f"http://127.0.0.1:{port}", ASSETS)["assetNodes"]
    return {node["assetKey"]["path"][-1]: node["partitionKeys"] for node in nodes}


def locations_of_runs(port: int) -> list[str | None]:
    """The code location of every run, by which the start page groups them; None for a run that it leaves out."""
    runs = ask(f"http://127.0.0.1:{port}", LOCATIONS_OF_RUNS)["runsOrError"]["results"]
    return [(run["repositoryOrigin"] or {}).get("repositoryLocationName") for run in runs]


def status_of_post(url: str) -> int:
    """The status with which a server answers an empty JSON document."""
    request = urllib.request.Request(url, data=b"{}", headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def listening_addresses(port: int) -> set[str]:
    """The IPv4 addresses on which somebody listens at a port; `::` stands for any address of IPv6."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            address, number = local.split(":")
            if state == LISTENING and int(number, 16) == port:
                found.add(socket.inet_ntoa(bytes.fromhex(address)[::-1]) if table == "tcp" else "::")
    return found
