/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the huddle contributors
 *
 * Tests that registration caches are notified of all memory that the heap returns. Otherwise a
 * network adapter would continue to write to pages that the program no longer sees. This program
 * registers with UCX's libucm (WATCH_UCM) or Open MPI's memory hooks (WATCH_OPAL), makes the heap
 * return pages in each possible way, and checks that every page that has disappeared was announced.
 * The kernel reports which pages are present (/proc/self/pagemap).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WATCH_UCM
#include <ucm/api/ucm.h>
#else
#include <mpi.h>
#include <stdbool.h>
/* Exported by libopen-pal for Open MPI's registration caches. */
int opal_mem_hooks_register_release(void (*callback)(void*, size_t, void*, bool), void* data);
struct mca_base_framework_t;
extern struct mca_base_framework_t opal_memory_base_framework;
int mca_base_framework_open(struct mca_base_framework_t* framework, int flags);
#endif

enum { most_announced = 1 << 16, mebibyte = 1 << 20 };

static struct { uintptr_t begin, end; } announced[most_announced];
static int announcements;

static void note(void* address, size_t bytes) {
  const int at = __atomic_fetch_add(&announcements, 1, __ATOMIC_RELAXED);
  if (at >= most_announced) abort();
  announced[at].begin = (uintptr_t)address;
  announced[at].end = (uintptr_t)address + bytes;
}

#ifdef WATCH_UCM
static void heard(ucm_event_type_t type, ucm_event_t* event, void* data) {
  (void)type, (void)data;
  note(event->vm_unmapped.address, event->vm_unmapped.size);
}
static void watch(int* argc, char*** argv) {
  (void)argc, (void)argv;
  if (ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, heard, NULL) != UCS_OK) exit(77);
}
static void watch_no_more(void) { ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, heard, NULL); }
#else
static void heard(void* address, size_t bytes, void* data, bool from_malloc) {
  (void)data, (void)from_malloc;
  note(address, bytes);
}
static void watch(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  /* Open MPI's registration caches do the same if an adapter needs them. */
  if (mca_base_framework_open(&opal_memory_base_framework, 0) != 0) exit(77);
  if (opal_mem_hooks_register_release(heard, NULL) != 0) exit(77);
}
static void watch_no_more(void) { MPI_Finalize(); }
#endif

static size_t page;

static int is_announced(uintptr_t address) {
  for (int i = 0; i < announcements; ++i) {
    if (announced[i].begin <= address && address + page <= announced[i].end) return 1;
  }
  return 0;
}

/* Returns one byte per page of the block: 0 if it is not mapped or not present, else 1 for a page
 * of the process and 2 for a page of a file. */
static unsigned char* pages_there(const char* block, size_t bytes) {
  const size_t pages = bytes / page;
  uint64_t* entries = mmap(NULL, pages * sizeof *entries, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned char* there =
      mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int file = open("/proc/self/pagemap", O_RDONLY);
  const ssize_t all = (ssize_t)(pages * sizeof *entries);
  const off_t from = (off_t)((uintptr_t)block / page * sizeof *entries);
  if (pread(file, entries, (size_t)all, from) != all) exit(77);
  for (size_t i = 0; i < pages; ++i)
    there[i] = (entries[i] >> 63 & 1) + (entries[i] >> 63 & entries[i] >> 61 & 1);
  close(file);
  return there;
}

struct block {
  char* data;
  size_t bytes;
  unsigned char* there;
};

/* Allocates a block and touches its pages. */
static struct block touched(size_t bytes) {
  struct block block = {NULL, bytes / page * page, NULL};
  char* const data = malloc(bytes + page);
  memset(data, 1, bytes + page);
  block.data = data;
  return block;
}

static char* first_page(const struct block* block) {
  return (char*)(((uintptr_t)block->data + page - 1) / page * page);
}

static void before(struct block* block) {
  block->there = pages_there(first_page(block), block->bytes);
}

/* Returns how many pages have disappeared or been replaced since before(). Exits if one was not
 * announced. */
static size_t gone(const char* how, const struct block* block) {
  unsigned char* const now = pages_there(first_page(block), block->bytes);
  size_t missing = 0;
  size_t silent = 0;
  for (size_t i = 0; i < block->bytes / page; ++i) {
    if (!block->there[i] || now[i] == block->there[i]) continue;
    ++missing;
    silent += !is_announced((uintptr_t)first_page(block) + i * page);
  }
  printf("%s: %zu pages gone, %zu of them in silence\n", how, missing, silent);
  if (silent > 0) exit(1);
  return missing;
}

static void expect_some(size_t pages) {
  if (pages > 0) return;
  printf("nothing has gone, and so nothing is shown\n");
  exit(1);
}

/* Frees more than the heap keeps for later blocks. */
static void free_much(void) {
  struct block block = touched((size_t)256 * mebibyte);
  before(&block);
  free(block.data);
  expect_some(gone("free", &block));
}

static void drop(int advice, const char* how) {
  struct block block = touched(16 * mebibyte);
  before(&block);
  if (madvise(first_page(&block), block.bytes, advice) != 0) exit(1);
  expect_some(gone(how, &block));
  for (size_t i = 0; i < block.bytes; i += page) {
    if (first_page(&block)[i] == 0) continue;
    printf("%s: what was dropped is still there\n", how);
    exit(1);
  }
  free(block.data);
}

/* Makes the heap merge scattered free parts, because HUDDLE_HEAP_LIMIT leaves no other space. */
static void make_room(void) {
  enum { many = 16 };
  struct block blocks[many];
  for (int i = 0; i < many; ++i) blocks[i] = touched(24 * mebibyte);
  for (int i = 0; i < many; ++i) before(&blocks[i]);
  for (int i = 0; i < many; ++i) free(blocks[i].data);
  size_t all = 0;
  struct block large = touched((size_t)300 * mebibyte);
  for (int i = 0; i < many; ++i) all += gone("room for a large block", &blocks[i]);
  (void)all; /* pages that are mapped again count as present */
  free(large.data);
}

/* Above the limit for copies, parent and child get private pages. */
static void fork_with_much(void) {
  struct block block = touched((size_t)96 * mebibyte);
  before(&block);
  const pid_t child = fork();
  if (child == 0) _exit(first_page(&block)[0] == 1 ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  if (status != 0) exit(1);
  expect_some(gone("a fork above the cap", &block));
  if (first_page(&block)[0] != 1) exit(1);
  memset(block.data, 2, block.bytes);
  before(&block);
  announcements = 0;
  if (madvise(first_page(&block), block.bytes / 2, MADV_DONTNEED) != 0) exit(1);
  gone("dropped after it", &block);
  before(&block);
  free(block.data);
  gone("freed after it", &block);
}

int main(int argc, char** argv) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  setvbuf(stdout, NULL, _IONBF, 0);
  watch(&argc, &argv);
  free_much();
  drop(MADV_DONTNEED, "MADV_DONTNEED");
  drop(MADV_FREE, "MADV_FREE");
  make_room();
  fork_with_much();
  watch_no_more();
  puts("all announced");
  return 0;
}
