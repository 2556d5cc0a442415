# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Spack recipe: builds the last commit of the checkout that contains this recipe."""
import pathlib

from spack.package import *

CHECKOUT = pathlib.Path(__file__).resolve().parents[4]


class Huddle(CMakePackage):
    """Speeds up the collectives of MPI programs within a node, without rebuilding them, based on
    measurements of the machine."""

    git = CHECKOUT.as_uri()

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("report", default=False, description="Python with matplotlib, for huddle report")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("tomlplusplus", type="build")
    depends_on("fmt@9:")
    depends_on("highway@1.0.3:")
    depends_on("hwloc@2.5:")
    depends_on("python@3.9:", type="run", when="+report")
    depends_on("py-matplotlib@3.6:", type="run", when="+report")

    # huddle needs C++20.
    conflicts("%gcc@:11")
    conflicts("%clang@:13")
    conflicts("platform=darwin", msg="huddle needs Linux")
    conflicts("platform=windows", msg="huddle needs Linux")

    generator("ninja")

    def cmake_args(self):
        # Warnings of other compilers must not fail the build.
        return [self.define("HUDDLE_TESTS", False), self.define("HUDDLE_WERROR", False)]
