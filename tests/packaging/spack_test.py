#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks the Spack recipe without Spack: it loads with stand-ins for Spack's modules, has the build's dependencies, and
sets options that exist."""
import importlib.util
import pathlib
import re
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Spack's names of Debian's packages (scripts/packages.txt).
IN_SPACK = {
    "cmake": "cmake", "g++": "cxx", "libcli11-dev": "cli11", "libfmt-dev": "fmt", "libhwloc-dev": "hwloc",
    "libhwy-dev": "highway", "libtomlplusplus-dev": "tomlplusplus", "ninja-build": "ninja",
    "nlohmann-json3-dev": "nlohmann-json", "pkg-config": "pkgconfig",
}


def recipe():
    """Returns the class of the recipe, and the directives that it calls with their arguments."""
    called = []
    stand_in = types.ModuleType("spack.package")

    class CMakePackage:
        def define(self, name, value):
            return f"-D{name}={'ON' if value else 'OFF'}"

    stand_in.CMakePackage = CMakePackage
    for name in ("license", "version", "variant", "depends_on", "conflicts", "generator"):
        setattr(stand_in, name, lambda *words, name=name, **named: called.append((name, words, named)))
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": stand_in})
    path = ROOT / "packaging/spack/packages/huddle/package.py"
    spec = importlib.util.spec_from_file_location("huddle_recipe", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Huddle, called


class Recipe(unittest.TestCase):
    def setUp(self):
        self.package, self.called = recipe()

    def test_recipe_builds_this_checkout(self):
        self.assertEqual(self.package.git, ROOT.as_uri())
        self.assertIn("version", [name for name, _, _ in self.called])

    def test_recipe_has_the_dependencies_of_the_build(self):
        lines = (ROOT / "scripts/packages.txt").read_text(encoding="utf-8").splitlines()
        needed = {IN_SPACK[line.split()[1]] for line in lines if line.startswith("build ")}
        depends = {re.split(r"[@+~]", words[0])[0] for name, words, named in self.called
                   if name == "depends_on" and "when" not in named}
        self.assertEqual(depends - {"c"}, needed)

    def test_recipe_requires_the_versions_of_cmake(self):
        lists = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        versions = dict(words[0].split("@") for name, words, _ in self.called
                        if name == "depends_on" and "@" in words[0])
        self.assertEqual(versions["cmake"].rstrip(":"),
                         re.search(r"cmake_minimum_required\(VERSION (\S+)\)", lists).group(1))
        for name, module in (("hwloc", "hwloc"), ("highway", "libhwy")):
            self.assertEqual(versions[name].rstrip(":"), re.search(rf"{module}>=([\d.]+)", lists).group(1))

    def test_recipe_sets_existing_options(self):
        lists = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        for argument in self.package().cmake_args():
            self.assertIn(f"option({argument[2:].split('=')[0]} ", lists)


if __name__ == "__main__":
    unittest.main()
