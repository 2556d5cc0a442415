# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Draws figures of results with matplotlib."""
