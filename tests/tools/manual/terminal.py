# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs a shell in a terminal, types into it and returns the arguments of the resulting command."""
import os
import pty
import re
import select
import shutil
import signal

PROMPT = b"READY> "
GIVEN = re.compile(rb"GIVEN:(.*?):END", re.DOTALL)

# A prompt for each shell, and a huddle that prints its arguments. The output differs from the echo
# of these commands in the terminal.
SETUP = {
    "bash": "huddle() { printf 'GIV%s:' EN; printf '[%s]' \"$@\"; echo :END; }\nPS1='REA''DY> '\n",
    "zsh": "huddle() { printf 'GIV%s:' EN; printf '[%s]' \"$@\"; echo :END; }\nPS1='REA''DY> '\n",
    "fish": "function huddle; printf 'GIV%s:' EN; printf '[%s]' $argv; echo :END; end\n"
            "function fish_prompt; printf 'REA%s> ' DY; end\n",
}
COMMANDS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "-i", "--private"],
}


class Shell:
    """Starts in this folder with only these variables; `setup` contains lines that it reads first."""

    patience_s = 60  # limit for a failing test

    def __init__(self, name, folder, variables, setup):
        program = shutil.which(name)
        if program is None:
            raise AssertionError(f"there is no {name}: scripts/install-packages.sh test")
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execve(program, COMMANDS[name], variables)
        self.seen = b""
        os.write(self.terminal, (setup + SETUP[name]).encode())
        self._wait(re.compile(re.escape(PROMPT)))

    def given(self, line):
        """Types the line with its tabs and returns the resulting arguments of huddle."""
        self.seen = b""
        os.write(self.terminal, line.encode() + b"\r")
        words = self._wait(GIVEN).group(1).decode()
        self._wait(re.compile(re.escape(PROMPT)))
        return re.findall(r"\[(.*?)\]", words)

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)

    def _wait(self, pattern):
        while True:
            match = pattern.search(self.seen)
            if match:
                self.seen = self.seen[match.end():]
                return match
            ready, _, _ = select.select([self.terminal], [], [], self.patience_s)
            if not ready:
                raise AssertionError(f"no {pattern.pattern} in {self.seen!r}")
            self.seen += os.read(self.terminal, 4096)
