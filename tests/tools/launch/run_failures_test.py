#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests that `huddle run` starts the command in environments that are unusual or partly broken."""
import sys
import unittest

from run_case import RunCase


class RunFailures(RunCase):
    def loop(self):
        """Returns a folder that cannot be searched, even by root: a link to itself."""
        loop = self.folder / "loop"
        if not loop.is_symlink():
            loop.symlink_to(loop)
        return str(loop)

    def test_command_starts_without_an_accessible_home_folder(self):
        for options in ([], ["--heap", "auto"], ["--threads", "move"]):
            for variable in ("HOME", "XDG_CONFIG_HOME"):
                done = self.huddle(*options, "./show", **{variable: self.loop()})
                self.assertEqual(done.returncode, 0, (options, variable, done.stderr))
                self.assertIn("mark=here", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
