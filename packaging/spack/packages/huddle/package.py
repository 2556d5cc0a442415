# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""How Spack builds huddle: from the checkout that this recipe lies in, at its last commit."""
import pathlib

from spack.package import *

CHECKOUT = pathlib.Path(__file__).resolve().parents[4]


class Huddle(CMakePackage):
    """huddle makes the cores of a machine talk faster: it takes over the collectives of MPI programs on
    one node, with nothing rebuilt, by what it has measured there."""

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

    # C++20 as huddle uses it.
    conflicts("%gcc@:11")
    conflicts("%clang@:13")
    conflicts("platform=darwin", msg="huddle needs Linux")
    conflicts("platform=windows", msg="huddle needs Linux")

    generator("ninja")

    def cmake_args(self):
        # Other compilers than ours know other warnings.
        return [self.define("HUDDLE_TESTS", False), self.define("HUDDLE_WERROR", False)]
