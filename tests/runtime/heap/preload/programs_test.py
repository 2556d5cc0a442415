#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs ordinary programs with the preloaded malloc, whose heap is started before main().

Their output must be the same as without it. With --thorough, the compiler builds many more files,
and Python runs its own tests.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

# Absolute, because programs run in another folder.
LIBRARY = str(pathlib.Path(sys.argv[1]).resolve())
CC, CXX = sys.argv[2:4]
THOROUGH = "--thorough" in sys.argv
SOURCES = pathlib.Path(__file__).resolve().parents[4] / "src"
PATIENCE_SECONDS = 3600 if THOROUGH else 120
# The smallest block size, so that most blocks are in the heap.
ON = {"LD_PRELOAD": LIBRARY, "TEST_HUDDLE_HEAP": "at-once", "HUDDLE_HEAP_THRESHOLD": "4K"}

# Python's tests that allocate, fork, or start programs and threads, without those that also fail
# without the heap on some machines.
PYTHON_TESTS = """test_array test_bytes test_list test_dict test_unicode test_memoryview test_mmap
    test_os test_subprocess test_fork1 test_thread test_socketserver test_pickle test_json test_zlib
    test_bz2 test_lzma test_gzip test_tarfile test_zipfile test_hashlib test_sqlite3 test_ctypes test_io
    test_fileio test_re test_struct test_long test_decimal test_gc test_weakref test_generators
    test_ast test_compile test_signal test_wait3 test_wait4 test_popen test_pty test_shutil
    test_multiprocessing_main_handling test_asyncio""".split()

SHELL = r"""
count() { wc -c | tr -d ' '; }
big=$(seq 200000)
echo "$big" | tee >(sort -r | head -n 3 >"$1/tee") | (while read -r n; do last=$n; done; echo "$last")
for i in 1 2 3 4 5 6 7 8; do
  (x=$(printf '%s\n' "$big" | sed "s/^/$i-/" | sort -R --random-source=/bin/sh | count); echo "$i $x") &
done | sort
wait
diff <(echo "$big" | md5sum) <(seq 200000 | cat | md5sum) && echo same
f() { [ "$1" = 0 ] || (echo "depth $1 ${#big}"; f $(($1 - 1))); }
f 12
"""

# Keeps state in large blocks, forks workers that change their copies of it, and queries them.
SERVER = r"""
import os, socket
WORKERS, REQUESTS, SIZE = 4, 200, 5_000_000
state = bytearray(b"s" * SIZE)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(64)

def work():
    answered = 0
    while True:
        connection, _ = listener.accept()
        request = connection.recv(1)
        if request == b"?":
            answered += 1
            state[:] = bytes([answered % 256]) * SIZE
            reply = bytearray(SIZE // 10)
            reply[:] = state[:SIZE // 10]
            connection.sendall(reply)
            connection.close()
        else:
            connection.sendall(answered.to_bytes(4, "big"))
            connection.close()
            os._exit(0 if state.count(bytes([answered % 256])) == SIZE else 1)

children = []
for _ in range(WORKERS):
    child = os.fork()
    if child == 0:
        work()
    children.append(child)
def ask(word):
    with socket.create_connection(listener.getsockname()) as connection:
        connection.sendall(word)
        answer = b""
        while part := connection.recv(1 << 16):
            answer += part
        return answer
for number in range(REQUESTS):
    answer = ask(b"?")
    assert len(answer) == SIZE // 10 and answer.count(answer[:1]) == len(answer), number
    state[number] = 7
assert sum(int.from_bytes(ask(b"."), "big") for _ in children) == REQUESTS
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
assert state == b"\7" * REQUESTS + b"s" * (SIZE - REQUESTS)
print("served", "memfd:huddle" in open("/proc/self/maps").read())
"""

ALLOCATES = "#include <stdlib.h>\n#include <stdio.h>\nint main(void) { char *p = malloc(1000000);\n" \
            "p[0] = 1; printf(\"%d\\n\", p[0]); free(p); return 0; }\n"
OWN_MALLOC = "#include <stddef.h>\nstatic char room[1 << 26]; static size_t used;\n" \
             "void *malloc(size_t n) { void *p = room + used; used += (n + 63) & ~(size_t)63; return p; }\n" \
             "void free(void *p) { (void)p; }\n"
# Prints the mapping that contains its block.
TAKES_MALLOCS_ADDRESS = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  void *(*volatile allocate)(size_t) = malloc;
  const size_t block = (size_t)allocate(1000000);
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  size_t begin, end;
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%zx-%zx", &begin, &end) == 2 && begin <= block && block < end) fputs(line, stdout);
  return 0;
}
"""
MAPS = "print('memfd:huddle' in open('/proc/self/maps').read())"


class Programs(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def run_with(self, more, *words):
        done = subprocess.run([str(word) for word in words], text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE_SECONDS, check=False,
                              cwd=self.folder, env={**os.environ, **more})
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return done

    def build(self, text, *flags):
        (self.folder / "program.c").write_text(text, encoding="utf-8")
        self.run_with({}, CC, *flags, "program.c", "-o", "program")
        return self.folder / "program"

    def test_heap_exists_only_on_request(self):
        self.assertEqual(self.run_with(ON, sys.executable, "-c", MAPS).stdout, "True\n")
        idle = self.run_with({"LD_PRELOAD": LIBRARY}, sys.executable, "-c", MAPS)
        self.assertEqual((idle.stdout, idle.stderr), ("False\n", ""))

    def test_compiler_generates_the_same_code(self):
        modules = ("common", "runtime/memory", "model/machine", "runtime/single_copy")
        files = [file for module in modules for file in sorted((SOURCES / module).glob("*.cc"))]
        for file in files if THOROUGH else [SOURCES / "runtime/memory/arena_space.cc"]:
            command = [CXX, "-std=c++20", "-O2", f"-I{SOURCES}", f"-I{SOURCES.parent / 'include'}", "-S",
                       file, "-o"]
            self.run_with({}, *command, "plain.s")
            self.run_with(ON, *command, "heap.s")
            self.assertEqual((self.folder / "plain.s").read_bytes(),
                             (self.folder / "heap.s").read_bytes(), file)

    def test_shell_with_pipes_and_subshells(self):
        plain = self.run_with({}, "bash", "-c", SHELL, "sh", self.folder)
        heap = self.run_with(ON, "bash", "-c", SHELL, "sh", self.folder)
        self.assertEqual((heap.stdout, heap.stderr), (plain.stdout, ""))

    def test_forking_server(self):
        self.assertEqual(self.run_with(ON, sys.executable, "-c", SERVER).stdout, "served True\n")

    def test_address_sanitizer_disables_the_heap(self):
        program = self.build(ALLOCATES, "-fsanitize=address")
        runtime = self.run_with({}, CC, "-print-file-name=libasan.so").stdout.strip()
        done = self.run_with({**ON, "LD_PRELOAD": f"{runtime}:{LIBRARY}"}, program)
        self.assertEqual(done.stdout, "1\n")
        self.assertEqual(done.stderr, "huddle: heap: AddressSanitizer must see all allocations, so the program runs "
                                      "without a shared heap; build it without this sanitizer to use the heap\n")

    def test_malloc_of_the_program_disables_the_heap(self):
        done = self.run_with(ON, self.build(ALLOCATES + OWN_MALLOC, "-fno-builtin"))
        self.assertEqual(done.stdout, "1\n")
        self.assertIn("replaces malloc, so the program runs without a shared heap", done.stderr)

    def test_non_pie_program_that_takes_the_address_of_malloc(self):
        done = self.run_with(ON, self.build(TAKES_MALLOCS_ADDRESS, "-fno-pie", "-no-pie"))
        self.assertEqual(done.stderr, "")
        self.assertIn("memfd:huddle", done.stdout)

    def test_malloc_preloaded_earlier_disables_the_heap(self):
        (self.folder / "own.c").write_text(OWN_MALLOC, encoding="utf-8")
        self.run_with({}, CC, "-fno-builtin", "-shared", "-fPIC", "own.c", "-o", "own.so")
        program = self.build(TAKES_MALLOCS_ADDRESS, "-fno-pie", "-no-pie")
        done = self.run_with({**ON, "LD_PRELOAD": f"{self.folder / 'own.so'}:{LIBRARY}"}, program)
        self.assertIn("replaces malloc, so the program runs without a shared heap", done.stderr)
        self.assertNotIn("memfd:huddle", done.stdout)

    @unittest.skipUnless(THOROUGH, "takes minutes")
    def test_python_test_suite(self):
        # That test does not expect the heap's descriptor, which is open from the start.
        self.run_with(ON, shutil.which("python3"), "-m", "test", "-j2", "--ignore",
                      "test_pass_fds_redirected", *PYTHON_TESTS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
