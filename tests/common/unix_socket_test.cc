// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace huddle {
namespace {

std::pair<FileDescriptor, FileDescriptor> connected() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

FileDescriptor file_with(std::string_view text) {
  FileDescriptor file(::memfd_create("huddle-test", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(file.number(), text.data(), text.size(), 0),
            static_cast<ssize_t>(text.size()));
  return file;
}

std::string text_in(const FileDescriptor& file) {
  std::array<char, 16> text{};
  const ssize_t bytes = ::pread(file.number(), text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(UnixSocket, CarriesDescriptorsInOrder) {
  const auto [here, there] = connected();
  const FileDescriptor first = file_with("first");
  const FileDescriptor second = file_with("second");
  EXPECT_EQ(send_message(here, bytes_of("two"), std::array{first.number(), second.number()}), 3);

  std::array<std::byte, 8> text{};
  const ReceivedMessage message = receive_message(there, text);
  EXPECT_EQ(message.bytes, 3);
  EXPECT_EQ(std::memcmp(text.data(), "two", 3), 0);
  ASSERT_EQ(message.descriptors.size(), 2);
  EXPECT_NE(message.descriptors[0].number(), first.number());
  EXPECT_EQ(text_in(message.descriptors[0]), "first");
  EXPECT_EQ(text_in(message.descriptors[1]), "second");
  EXPECT_FALSE(message.sender);
}

TEST(UnixSocket, CarriesBytesAlone) {
  const auto [here, there] = connected();
  EXPECT_EQ(send_message(here, bytes_of("none"), {}), 4);
  std::array<std::byte, 8> text{};
  const ReceivedMessage message = receive_message(there, text);
  EXPECT_EQ(message.bytes, 4);
  EXPECT_TRUE(message.descriptors.empty());
}

TEST(UnixSocket, CarriesCredentialsIfTheReceiverWantsThem) {
  const auto [here, there] = connected();
  const int yes = 1;
  ASSERT_EQ(::setsockopt(there.number(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
  const FileDescriptor file = file_with("file");
  send_message(here, bytes_of("one"), std::array{file.number()});
  std::array<std::byte, 8> text{};
  const ReceivedMessage message = receive_message(there, text);
  ASSERT_TRUE(message.sender);
  EXPECT_EQ(message.sender->pid, ::getpid());
  EXPECT_EQ(message.sender->uid, ::getuid());
  EXPECT_EQ(message.descriptors.size(), 1);
}

TEST(UnixSocket, FailsWithEagainIfNoMessageIsPending) {
  const auto [here, there] = connected();
  std::array<std::byte, 8> text{};
  EXPECT_EQ(receive_message(there, text, MSG_DONTWAIT).bytes, -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(UnixSocket, SendingToAClosedSocketFailsWithoutASignal) {
  auto [here, there] = connected();
  there.close();
  EXPECT_EQ(send_message(here, bytes_of("lost"), {}), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST(UnixSocket, ReturnsTheProcessOfThePeer) {
  const auto [here, there] = connected();
  EXPECT_EQ(peer_of_same_user(here), ::getpid());
}

TEST(AbstractAddress, ExistsWhileASocketIsBoundToIt) {
  const std::string name = "huddle-test-" + std::to_string(::getpid());
  const AbstractAddress address(name);
  const FileDescriptor probe(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  {
    const FileDescriptor owner(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(owner.number(), address.generic(), address.length), 0);
    EXPECT_EQ(::connect(probe.number(), address.generic(), address.length), 0);
  }
  EXPECT_NE(::connect(probe.number(), address.generic(), address.length), 0);
}

}  // namespace
}  // namespace huddle
