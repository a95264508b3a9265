"""A KCL plugin that turns host names into pods of several clusters.

Speaks the protocol of docs/plugins.md: JSON-RPC 2.0 on standard input and output, one message per
line. A real one would ask a CMDB over HTTP; this one reads `hosts.json` beside it.
"""

import json
import sys
from pathlib import Path

PROTOCOL = "kcl-plugin/1"
HOSTS = json.loads((Path(__file__).parent / "hosts.json").read_text())


def find(host):
    """Returns what the CMDB knows of a host."""
    if host not in HOSTS:
        raise LookupError(f"the CMDB has no host {host!r}")
    return HOSTS[host]


def pods(hosts, port=80):
    """Returns the pods of hosts, in the order of the hosts."""
    found = []
    for host in hosts:
        pod = find(host)
        address = f"{pod['ip']}:{port}"
        place = {key: pod[key] for key in ("cluster", "namespace", "name")}
        found.append({"host": host, **place, "address": address})
    return found


def clusters(hosts):
    """Returns the clusters of hosts, each once, sorted."""
    return sorted({find(host)["cluster"] for host in hosts})


FUNCTIONS = {"pods": pods, "clusters": clusters}


def call(function, args, kwargs):
    """Calls a function by its name."""
    if function not in FUNCTIONS:
        raise LookupError(f"there is no function {function!r}")
    return FUNCTIONS[function](*args, **kwargs)


def answer(request):
    """Returns the answer to a request, without its id."""
    params = request["params"]
    if request["method"] == "initialize":
        return {"result": {"protocol": PROTOCOL}}
    try:
        return {"result": call(params["function"], params["args"], params["kwargs"])}
    except Exception as error:  # whatever went wrong, the user of the function is told
        return {"error": {"code": 1, "message": str(error)}}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        message = {"jsonrpc": "2.0", "id": request["id"], **answer(request)}
        print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
