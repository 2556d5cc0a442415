# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Implements `huddle report`: writes the JSON output of `huddle bench`, `huddle watch`, `huddle profile`,
`huddle paths`, `huddle ucx --check` or `huddle run --stats-json` as one HTML file."""
import argparse
import logging
import os
import sys
import tempfile

from .results import BadResults, load

FINE, FAILURE, BAD_INPUT = 0, 1, 3


def default_output(path):
    """Returns a file beside the results: bench.html for bench.json."""
    stem = path[:-5] if path.endswith(".json") else path
    return stem + ".html"


def write_whole(text, path):
    """Writes a file atomically: a reader never sees a part of it."""
    folder = os.path.dirname(os.path.abspath(path))
    descriptor, scratch = tempfile.mkstemp(dir=folder, prefix=".huddle-report-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(scratch, 0o666 & ~_umask())
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise


def _umask():
    umask = os.umask(0)
    os.umask(umask)
    return umask


def _arguments(words):
    parser = argparse.ArgumentParser(
        prog="huddle report",
        description="Writes one HTML file about what 'huddle bench --json FILE' measured, or "
                    "of what 'huddle watch', 'huddle paths' and 'huddle ucx --check' "
                    "print with --json, or of what 'huddle run --stats-json FILE' writes. The file "
                    "is self-contained and needs no network.")
    parser.add_argument("results", metavar="RESULTS.json",
                        help="a file that bench, watch, paths or ucx --check wrote with --json, or run with "
                             "--stats-json")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="the file to write, or - for standard output (default: RESULTS.html)")
    return parser.parse_args(words)


def _say(sentence):
    print(f"huddle: {sentence}", file=sys.stderr)


def main(words=None):
    arguments = _arguments(words)
    # If the home folder is not writable, matplotlib uses another folder and logs long warnings.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    output = arguments.output or default_output(arguments.results)
    try:
        text = load(arguments.results).html()
    except BadResults as error:
        _say(error)
        return BAD_INPUT
    except OSError as error:
        _say(f"{arguments.results}: {error.strerror}")
        return BAD_INPUT
    if output == "-":
        sys.stdout.write(text)
        return FINE
    try:
        write_whole(text, output)
    except OSError as error:
        _say(f"{output}: {error.strerror}")
        return FAILURE
    print(output)
    return FINE


if __name__ == "__main__":
    sys.exit(main())
