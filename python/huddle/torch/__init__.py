# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Registers huddle as a back end of torch.distributed, for CPU tensors of ranks on one machine.

    import huddle.torch
    torch.distributed.init_process_group("huddle")
"""
import inspect

import torch.distributed

from .process_group import ProcessGroupHuddle, create

__all__ = ["ProcessGroupHuddle"]


def _register():
    function = torch.distributed.Backend.register_backend
    # PyTorch 1 has no devices.
    named = {"devices": ["cpu"]} if "devices" in inspect.signature(function).parameters else {}
    function("huddle", create, **named)


_register()
