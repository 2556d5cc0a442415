# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Reads JSON documents of other programs. Errors name the place in the document."""
import math


class BadResults(Exception):
    """An error in a file. Its text is one sentence, with the place."""


class Fields:
    """An object of a document, and its path in the document, such as points[3].estimate."""

    def __init__(self, data, where=""):
        if not isinstance(data, dict):
            raise BadResults(f"{where or 'the document'} is not an object")
        self._data = data
        self._where = where

    def path(self, key):
        return f"{self._where}.{key}" if self._where else key

    def has(self, key):
        return self._data.get(key) is not None

    def keys(self):
        return self._data.keys()

    def raw(self, key):
        if key not in self._data:
            raise BadResults(f"'{self.path(key)}' is missing")
        return self._data[key]

    def text(self, key):
        return self._checked(key, str, "text")

    def flag(self, key):
        return self._checked(key, bool, "true or false")

    def whole(self, key):
        value = self.raw(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise BadResults(f"'{self.path(key)}' is not a whole number")
        return value

    def wholes(self, key):
        return whole_numbers(self.raw(key), self.path(key))

    def positive_or_zero(self, key):
        return 0 if self.raw(key) == 0 else self.positive(key)

    def positive(self, key):
        return positive(self.raw(key), self.path(key))

    def object(self, key):
        return Fields(self.raw(key), self.path(key))

    def objects(self, key):
        return [Fields(one, f"{self.path(key)}[{number}]")
                for number, one in enumerate(self._checked(key, list, "a list"))]

    def lists(self, key):
        values = self._checked(key, list, "a list")
        if not all(isinstance(value, list) for value in values):
            raise BadResults(f"'{self.path(key)}' is not a list of lists")
        return values

    def texts(self, key):
        values = self._checked(key, list, "a list")
        if not all(isinstance(value, str) for value in values):
            raise BadResults(f"'{self.path(key)}' is not a list of texts")
        return values

    def positives(self, key):
        return [positive(value, f"{self.path(key)}[{number}]")
                for number, value in enumerate(self._checked(key, list, "a list"))]

    def batches(self, key):
        """Returns the lists of samples. Raises BadResults if one is empty."""
        batches = self._checked(key, list, "a list")
        if not batches or not all(isinstance(batch, list) and batch for batch in batches):
            raise BadResults(f"'{self.path(key)}' is not a list of batches")
        return [[positive(value, self.path(key)) for value in batch] for batch in batches]

    def _checked(self, key, kind, what):
        value = self.raw(key)
        if not isinstance(value, kind):
            raise BadResults(f"'{self.path(key)}' is not {what}")
        return value


def positive(value, where):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value <= 0:
        raise BadResults(f"'{where}' is not a number above 0")
    return value


def whole_numbers(values, where):
    if not isinstance(values, list) or not all(
            isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in values):
        raise BadResults(f"'{where}' is not a list of whole numbers")
    return values
