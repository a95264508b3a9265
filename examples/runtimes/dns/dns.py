"""A runtime of DNS records, over a file that stands for a DNS service.

`DNS_ZONES` names the file. The protocol is described in docs/runtime-protocol.md.
"""

import json
import os
import sys

PATH = os.environ.get("DNS_ZONES", "zones.json")

TYPES = {
    "record": {
        "attributes": {
            "zone": {"required": True, "immutable": True},
            "address": {"required": True},
            "ttl": {},
            "fqdn": {"computed": True},
        }
    }
}


class Refused(Exception):
    """An answer with an error."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def load():
    try:
        with open(PATH) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def save(zones):
    temporary = PATH + ".new"
    with open(temporary, "w") as file:
        json.dump(zones, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, PATH)


def key(params):
    # The name is unique in this service, so that an object can always be found by it.
    return params.get("key") or params["name"]


def shown(name, record):
    attributes = {k: v for k, v in record.items() if v is not None}
    attributes["fqdn"] = f"{name}.{record['zone']}"
    return {"key": name, "attributes": attributes}


def planned(params):
    if params["type"] not in TYPES:
        raise Refused(1, f"unknown type `{params['type']}`")
    ttl = params["attributes"].get("ttl", 3600)
    if not isinstance(ttl, int) or ttl <= 0:
        raise Refused(1, "`ttl` must be a number of seconds")
    return {**params["attributes"], "ttl": ttl}


def change(params, dry):
    zones, record = load(), planned(params)
    if not dry:
        zones[key(params)] = record
        save(zones)
    return shown(key(params), record)


def find(params):
    record = load().get(key(params))
    return shown(key(params), record) if record else None


def delete(params):
    zones = load()
    zones.pop(key(params), None)
    save(zones)
    return {}


def dry_run(params):
    return {"attributes": change(params, dry=True)["attributes"]}


METHODS = {
    "initialize": lambda params: {"protocol": "kusion-runtime/1"},
    "schema": lambda params: {"types": TYPES},
    "identify": lambda params: {"id": "dns:" + os.path.abspath(PATH), "name": PATH},
    "read": lambda params: {"objects": [find(it) for it in params["objects"]]},
    "dryRun": dry_run,
    "apply": lambda params: {"object": change(params, dry=False)},
    "delete": delete,
    "recover": lambda params: {"object": find(params)},
    "health": lambda params: {"objects": [{"state": "ready"} for _ in params["objects"]]},
}


def answer(request):
    method = METHODS.get(request["method"])
    if method is None:
        raise Refused(-32601, f"unknown method `{request['method']}`")
    return method(request["params"])


for line in sys.stdin:
    request = json.loads(line)
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = answer(request)
    except Refused as error:
        reply["error"] = {"code": error.code, "message": str(error)}
    except OSError as error:
        reply["error"] = {"code": 2, "message": str(error)}
    print(json.dumps(reply), flush=True)
