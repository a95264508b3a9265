"""Tests of the plugin, by its messages: `python3 -B plugins/test_cmdb.py`."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

PLUGIN = Path(__file__).parent / "cmdb.py"


def ask(*requests):
    """Starts the plugin, sends requests, and returns the answers."""
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": at, "method": method, "params": params})
        for at, (method, params) in enumerate(requests)
    ]
    ended = subprocess.run(
        [sys.executable, "-B", PLUGIN],
        input="\n".join(lines) + "\n",
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    return [json.loads(line) for line in ended.stdout.splitlines()]


def call(function, *args, **kwargs):
    """Calls a function, and returns the answer."""
    params = {"function": function, "args": args, "kwargs": kwargs}
    return ask(("call", params))[0]


class Cmdb(unittest.TestCase):
    def test_it_speaks_the_protocol(self):
        answers = ask(("initialize", {"protocol": "kcl-plugin/1"}))
        self.assertEqual(answers, [{"jsonrpc": "2.0", "id": 0, "result": {"protocol": "kcl-plugin/1"}}])

    def test_hosts_become_pods_of_several_clusters(self):
        result = call("pods", ["shop-02.example", "pay-01.example"], port=9100)["result"]
        self.assertEqual([pod["cluster"] for pod in result], ["us-1", "eu-1"])
        self.assertEqual([pod["address"] for pod in result], ["10.2.0.11:9100", "10.1.0.21:9100"])
        hosts = ["shop-01.example", "shop-02.example", "pay-01.example"]
        self.assertEqual(call("clusters", hosts)["result"], ["eu-1", "us-1"])

    def test_an_unknown_host_is_an_error(self):
        error = call("pods", ["nowhere"])["error"]
        self.assertEqual(error["message"], "the CMDB has no host 'nowhere'")

    def test_an_unknown_function_is_an_error(self):
        self.assertEqual(call("hosts")["error"]["message"], "there is no function 'hosts'")


if __name__ == "__main__":
    unittest.main()
