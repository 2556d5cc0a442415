#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests `huddle ucx` with a real UCX: real_ucx_test.py HUDDLE [UCX_INFO...]

Uses the ucx_info in PATH by default; `make test-all` passes one of the newest release as well. The exit
status is 77 if there is none. The machine is a recorded one, so that the figures do not depend on the host.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HUDDLE = pathlib.Path(sys.argv[1]).resolve()
REPOSITORY = pathlib.Path(__file__).parents[3]
TOOLS = sys.argv[2:] or [tool for tool in [shutil.which("ucx_info")] if tool]
RECORDED = {"HWLOC_XMLFILE": str(REPOSITORY / "tests/model/machine/topologies/guest-2-cores.xml"),
            "HWLOC_THISSYSTEM": "1"}
# CMA seems slow and writes, so that loopback TCP appears to deserve a share of large messages.
CARD = {"UCX_CMA_BW": "20MBps", "UCX_RNDV_SCHEME": "put_zcopy"}
PATIENCE_SECONDS = 120


def ucx(tool, *words, **environment):
    own = {name: value for name, value in os.environ.items() if not name.startswith("UCX_")}
    return subprocess.run([HUDDLE, "ucx", "--ucx-info", tool, "--machine", "amd-epyc-2c-1b1d3050", *words],
                          env={**own, **RECORDED, **environment}, text=True, timeout=PATIENCE_SECONDS,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def settings_of(document):
    return {one["name"]: one["value"] for one in document["settings"]}


class RealUcx(unittest.TestCase):
    def each(self):
        for tool in TOOLS:
            with self.subTest(tool=tool):
                yield tool

    def test_every_setting_is_accepted_silently(self):
        for tool in self.each():
            done = ucx(tool, "--check", "--dry-run", "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            document = json.loads(done.stdout)
            self.assertEqual(document["complaints"], [])
            self.assertGreaterEqual(len(document["settings"]), 3)

    def test_selection_follows_the_figures(self):
        """UCX's rate for CMA determines the size from which it reads a peer's memory."""
        def first_read(document, when):
            return min(one["from_bytes"] for selection in document[when] for one in selection["ranges"]
                       if one["lanes"][0]["transport"] == "cma")
        for tool in self.each():
            document = json.loads(ucx(tool, "--check", "--dry-run", "--json", UCX_PROTO_ENABLE="y").stdout)
            self.assertNotEqual(first_read(document, "now"), first_read(document, "advised"))

    def test_uses_the_protocol_mode_of_this_ucx(self):
        """Up to 1.15, UCX selects protocols by thresholds unless UCX_PROTO_ENABLE=y."""
        for tool in self.each():
            def calls(tool=tool, **environment):
                document = json.loads(ucx(tool, "--check", "--dry-run", "--json", **environment).stdout)
                return document["version"], [one["call"] for one in document["now"]]
            version, by_default = calls()
            has_thresholds = tuple(map(int, version.split("."))) < (1, 16)
            self.assertEqual(by_default[0].startswith("ucp_tag_send"), has_thresholds)
            self.assertTrue(calls(UCX_PROTO_ENABLE="y")[1][0].startswith("tagged message"))

    def test_rejected_setting_is_reported(self):
        for tool in self.each():
            done = ucx(tool, "--check", "--dry-run", UCX_CMA_BW="fast")
            self.assertEqual(done.returncode, 1)

    def test_card_within_the_node_is_found_and_excluded(self):
        seen = 0
        for tool in self.each():
            done = ucx(tool, "--check", "--dry-run", "--json", **CARD)
            document = json.loads(done.stdout)
            if not document["network_now"]:
                continue  # this version does not combine them
            seen += 1
            self.assertEqual(done.returncode, 1)
            self.assertEqual({one["device"] for one in document["network_now"]}, {"lo"})
            self.assertEqual(document["network_advised"], [])
            # With these settings, nothing is left to report.
            self.assertEqual(ucx(tool, "--check", "--dry-run", **CARD, **settings_of(document)).returncode, 0)
        if seen == 0:
            self.skipTest("none of these versions sends part of a message through a card of tests")


if __name__ == "__main__":
    if not TOOLS:
        print("there is no ucx_info: install ucx-utils")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]])
