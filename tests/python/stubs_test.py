# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that the type stubs describe the methods that exist, and what the package imports."""
import ast
import inspect
import subprocess
import sys

import pytest
from sample import ROOT

import huddle
from huddle import Communicator


def parameters(function):
    return [argument.arg for argument in function.args.posonlyargs + function.args.args][1:]


def test_stub_has_the_methods_and_parameters_of_communicator():
    tree = ast.parse((ROOT / "python/huddle/communicator.pyi").read_text(encoding="utf-8"))
    stub = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Communicator")
    described = {node.name: parameters(node) for node in stub.body if isinstance(node, ast.FunctionDef)}
    actual = {}
    for name, value in vars(Communicator).items():
        function = getattr(value, "__func__", getattr(value, "fget", value))
        if inspect.isfunction(function) and (not name.startswith("_") or name in described):
            actual[name] = [parameter.name for parameter in list(inspect.signature(function).parameters.values())[1:]
                            if parameter.kind is not parameter.VAR_POSITIONAL]
    assert described == actual


def test_every_public_method_has_a_help_string():
    assert [name for name in vars(Communicator) if not name.startswith("_")
            and not inspect.getdoc(getattr(Communicator, name))] == []


def test_import_loads_only_the_package():
    """Programs such as `huddle run` and notebooks import huddle, but most of them use only a part of it."""
    script = "import sys; before = set(sys.modules); import huddle; print(*set(sys.modules) - before)"
    loaded = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, check=True).stdout.split()
    assert loaded == ["huddle"]


def test_every_public_name_can_be_imported():
    script = "from huddle import *; import huddle; print(*(name for name in huddle.__all__ if name not in globals()))"
    assert subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, check=True).stdout == "\n"
    assert set(huddle.__all__) <= set(dir(huddle))
    with pytest.raises(AttributeError, match="absent"):
        huddle.absent  # pylint: disable=pointless-statement,no-member


def test_submodules_are_attributes():
    script = "import huddle; huddle.errors.PeerLost, huddle.results.load"
    subprocess.run([sys.executable, "-c", script], check=True)
