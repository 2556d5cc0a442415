/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* Preloaded into a program whose threads are watched. Before main() it opens a userfaultfd, which
 * only the program itself can do, and sends it to the agent. Afterwards no code of huddle runs in
 * the program: the agent protects and unprotects pages from outside. If the agent ends, the kernel
 * removes all protection with the descriptor's last copy.
 *
 * The agent listens on an abstract socket whose name is in the environment. If anything fails, the
 * program runs unwatched. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "greeting.h"

/* Opens a userfaultfd whose faults the kernel resolves itself, in the thread that writes. */
static int open_userfaultfd(void) {
  const long fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | HUDDLE_UFFD_USER_MODE_ONLY);
  if (fd < 0) return -1;
  struct uffdio_api api = {.api = UFFD_API,
                           .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | HUDDLE_UFFD_WP_ASYNC};
  if (ioctl((int)fd, UFFDIO_API, &api) == 0) return (int)fd;
  const int why = errno;
  close((int)fd);
  errno = why;
  return -1;
}

static int connect_to(const char* name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const size_t length = strlen(name);
  if (length == 0 || length > sizeof address.sun_path - 1) return -1;
  memcpy(address.sun_path + 1, name, length); /* an abstract name begins with a null byte */
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
  /* The agent may have ended and another user may have taken the name: send only to this user. */
  struct ucred who;
  socklen_t size = sizeof who;
  if (connect(fd, (const struct sockaddr*)&address, bytes) == 0 &&
      getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid()) {
    return fd;
  }
  close(fd);
  return -1;
}

static void send_greeting(int to, int userfaultfd, int why) {
  struct huddle_greeting greeting = {.error = why};
  struct iovec data = {.iov_base = &greeting, .iov_len = sizeof greeting};
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  memset(&control, 0, sizeof control);
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
  if (userfaultfd >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &userfaultfd, sizeof(int));
  }
  (void)!sendmsg(to, &message, MSG_NOSIGNAL);
}

__attribute__((constructor)) static void greet(void) {
  const int saved_errno = errno;
  const char* name = getenv(HUDDLE_AGENT_VARIABLE);
  const int agent = name == NULL ? -1 : connect_to(name);
  if (agent >= 0) {
    const int userfaultfd = open_userfaultfd();
    send_greeting(agent, userfaultfd, userfaultfd < 0 ? errno : 0);
    if (userfaultfd >= 0) close(userfaultfd);
    close(agent);
  }
  errno = saved_errno;
}
