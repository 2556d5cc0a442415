# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The common frame of all documents: a self-contained HTML file with light and dark colour schemes."""
import base64
import hashlib
import html
from importlib import resources

from .plots.palette import DARK, LIGHT, variables


def packaged(name):
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def whole_document(title, body, styles=("page.css",), script=""):
    """Returns the HTML document. Its content security policy forbids all requests and all other scripts, whatever the
    results contain."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
        policy += f"; script-src 'sha256-{digest}'"
        body += f"\n<script>{script}</script>"
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            f'<link rel="icon" href="data:,">\n<title>{html.escape(title)}</title>\n'
            f"<style>\n{_style(styles)}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n")


def _style(names):
    def block(palette):
        return "".join(f"--{name}: {color}; " for name, color in variables(palette))
    return (f":root {{ color-scheme: light dark; {block(LIGHT)}}}\n"
            f"@media (prefers-color-scheme: dark) {{ :root {{ {block(DARK)}}} }}\n"
            + "".join(packaged(name) for name in names))
