# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Figures of results, by matplotlib."""
