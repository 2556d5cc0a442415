// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Calls every function with every kind of invalid argument: returns a status and a message, and has
// no other effect. A single process is enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "c_ranks.h"

namespace huddle::api {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t far_too_many = SIZE_MAX / 2;

huddle_type no_type() { return static_cast<huddle_type>(HUDDLE_LONG_DOUBLE_INT + 1); }
huddle_operator no_operator() { return static_cast<huddle_operator>(-1); }

int gather_alone(void*, const void* mine, std::size_t bytes, void* all) {
  std::copy_n(static_cast<const char*>(mine), bytes, static_cast<char*>(all));
  return 0;
}

// A team with one rank: invalid calls are detected before any communication.
class Misuse : public testing::Test {
 protected:
  static huddle_bootstrap alone() { return {0, 1, gather_alone, nullptr}; }

  // Returns the message of a call that creates a handle, which must be set to null.
  template <class Handle, class Call>
  std::string sentence_of_making(Call call) {
    huddle_message message;
    auto* const other_than_null = reinterpret_cast<Handle*>(this);
    Handle* handle = other_than_null;
    EXPECT_EQ(call(&handle, &message), HUDDLE_MISUSED);
    EXPECT_EQ(handle, nullptr);
    EXPECT_EQ(call(&handle, nullptr), HUDDLE_MISUSED) << "nobody has to read why";
    return message.text;
  }
  // Returns the message of a call on the team.
  std::string sentence_of(huddle_status status) {
    EXPECT_EQ(status, HUDDLE_MISUSED);
    return huddle_team_message(team_.get());
  }

  std::string settings_sentence(const huddle_settings& settings) {
    return sentence_of_making<huddle_context>([&](auto** context, huddle_message* message) {
      return huddle_context_create(&settings, context, message);
    });
  }
  std::string team_sentence(const huddle_bootstrap& bootstrap) {
    return sentence_of_making<huddle_team>([&](auto** team, huddle_message* message) {
      return huddle_team_create(context_.get(), &bootstrap, team, message);
    });
  }

  ContextHandle context_ = new_context();
  TeamHandle team_ = new_team(context_, alone());
  std::array<double, 4> data_{};
};

TEST_F(Misuse, InvalidSettings) {
  huddle_settings settings = default_settings();
  settings.size = 0;
  EXPECT_THAT(settings_sentence(settings), HasSubstr("sizeof(huddle_settings)"));
  settings.size = offsetof(huddle_settings, heap_bytes) - 1;  // less than in any version
  EXPECT_THAT(settings_sentence(settings), HasSubstr("sizeof(huddle_settings)"));
  settings = default_settings();
  settings.queue_bytes = std::size_t{2} << 30;
  EXPECT_THAT(settings_sentence(settings), HasSubstr("queue_bytes"));
  settings.queue_bytes = 1 << 20;
  settings.cap_bytes = 1 << 19;
  EXPECT_THAT(settings_sentence(settings), HasSubstr("cap_bytes"));
}

TEST_F(Misuse, NullPointersToHandles) {
  huddle_message message;
  const huddle_bootstrap bootstrap = alone();
  EXPECT_EQ(huddle_context_create(nullptr, nullptr, &message), HUDDLE_MISUSED);
  EXPECT_THAT(message.text, HasSubstr("nowhere to put"));
  EXPECT_EQ(huddle_team_create(context_.get(), &bootstrap, nullptr, nullptr), HUDDLE_MISUSED);
  EXPECT_EQ(huddle_rendezvous_before_fork(1, nullptr, nullptr), HUDDLE_MISUSED);
  EXPECT_EQ(huddle_rendezvous_at_path("/x", 0, 1, 1, nullptr, nullptr), HUDDLE_MISUSED);
}

TEST_F(Misuse, InvalidMeetingBeforeFork) {
  for (const int ranks : {0, -1, INT32_MIN}) {
    EXPECT_THAT(
        sentence_of_making<huddle_rendezvous>([&](auto** rendezvous, huddle_message* message) {
          return huddle_rendezvous_before_fork(ranks, rendezvous, message);
        }),
        HasSubstr("one rank at least"));
  }
  huddle_message message;
  EXPECT_EQ(huddle_rendezvous_attach(nullptr, 0, &message), HUDDLE_MISUSED);
  EXPECT_THAT(message.text, HasSubstr("null"));
  huddle_rendezvous* made = nullptr;
  ASSERT_EQ(huddle_rendezvous_before_fork(2, &made, nullptr), HUDDLE_OK);
  const RendezvousHandle rendezvous(made);
  for (const int rank : {-1, 2, INT32_MAX}) {
    EXPECT_EQ(huddle_rendezvous_attach(made, rank, &message), HUDDLE_MISUSED);
    EXPECT_THAT(message.text, HasSubstr("counted from 0"));
  }
  EXPECT_THAT(team_sentence(huddle_rendezvous_bootstrap(made)),
              HasSubstr("once this process is attached"));
  EXPECT_EQ(huddle_rendezvous_attach(made, 1, &message), HUDDLE_OK);
  EXPECT_STREQ(message.text, "");
  EXPECT_EQ(huddle_rendezvous_attach(made, 0, &message), HUDDLE_MISUSED);
  EXPECT_THAT(message.text, HasSubstr("already attached"));
}

TEST_F(Misuse, InvalidMeetingAtPath) {
  const auto sentence = [&](const char* path, int rank, int ranks, int timeout_ms) {
    return sentence_of_making<huddle_rendezvous>([&](auto** rendezvous, huddle_message* message) {
      return huddle_rendezvous_at_path(path, rank, ranks, timeout_ms, rendezvous, message);
    });
  };
  EXPECT_THAT(sentence(nullptr, 0, 1, 1000), HasSubstr("no path"));
  EXPECT_THAT(sentence("", 0, 1, 1000), HasSubstr("no path"));
  EXPECT_THAT(sentence("/x", 0, 0, 1000), HasSubstr("one rank at least"));
  EXPECT_THAT(sentence("/x", 3, 3, 1000), HasSubstr("counted from 0"));
  EXPECT_THAT(sentence("/x", -1, 3, 1000), HasSubstr("counted from 0"));
  EXPECT_THAT(sentence("/x", 0, 3, 0), HasSubstr("timeout_ms"));
  huddle_rendezvous* made = nullptr;
  ASSERT_EQ(huddle_rendezvous_at_path("/huddle/misuse", 0, 1, 1000, &made, nullptr), HUDDLE_OK);
  const RendezvousHandle rendezvous(made);
  EXPECT_EQ(huddle_rendezvous_attach(made, 0, nullptr), HUDDLE_MISUSED);
}

TEST_F(Misuse, InvalidBootstrap) {
  EXPECT_THAT(team_sentence({0, 1, nullptr, nullptr}), HasSubstr("no allgather"));
  EXPECT_THAT(team_sentence(huddle_rendezvous_bootstrap(nullptr)), HasSubstr("no allgather"));
  EXPECT_THAT(team_sentence({0, 0, gather_alone, nullptr}), HasSubstr("one rank at least"));
  EXPECT_THAT(team_sentence({2, 2, gather_alone, nullptr}), HasSubstr("counted from 0"));
  EXPECT_THAT(team_sentence({-1, 2, gather_alone, nullptr}), HasSubstr("counted from 0"));
  const auto without = [&](huddle_context* context, const huddle_bootstrap* bootstrap) {
    return sentence_of_making<huddle_team>([&](auto** team, huddle_message* message) {
      return huddle_team_create(context, bootstrap, team, message);
    });
  };
  const huddle_bootstrap bootstrap = alone();
  EXPECT_THAT(without(nullptr, &bootstrap), HasSubstr("context is null"));
  EXPECT_THAT(without(context_.get(), nullptr), HasSubstr("bootstrap is null"));
}

TEST_F(Misuse, NullTeam) {
  std::array<char, 10> text{};
  const huddle_reduction by{1, [](void*, const void*, const void*, std::size_t, void*) {}, nullptr};
  double* const data = data_.data();
  EXPECT_EQ(huddle_team_rank(nullptr), -1);
  EXPECT_EQ(huddle_team_ranks(nullptr), 0);
  EXPECT_THAT(huddle_team_message(nullptr), HasSubstr("null"));
  EXPECT_EQ(huddle_barrier(nullptr), HUDDLE_MISUSED);
  EXPECT_EQ(huddle_bcast(nullptr, data, 8, 0), HUDDLE_MISUSED);
  EXPECT_EQ(huddle_reduce(nullptr, data, data, 1, HUDDLE_DOUBLE, HUDDLE_SUM, 0), HUDDLE_MISUSED);
  EXPECT_EQ(huddle_allreduce(nullptr, data, data, 1, HUDDLE_DOUBLE, HUDDLE_SUM), HUDDLE_MISUSED);
  EXPECT_EQ(huddle_reduce_by(nullptr, data, data, 1, &by, 0), HUDDLE_MISUSED);
  EXPECT_EQ(huddle_allreduce_by(nullptr, data, data, 1, &by), HUDDLE_MISUSED);
  EXPECT_EQ(huddle_explain(nullptr, HUDDLE_BARRIER, 0, 1, HUDDLE_TEXT, text.data(), 10, nullptr),
            HUDDLE_MISUSED);
  huddle_context_free(nullptr);
  huddle_rendezvous_free(nullptr);
  huddle_team_free(nullptr);
}

TEST_F(Misuse, InvalidBroadcast) {
  EXPECT_THAT(sentence_of(huddle_bcast(team_.get(), data_.data(), 8, 1)), HasSubstr("root"));
  EXPECT_THAT(sentence_of(huddle_bcast(team_.get(), data_.data(), 8, -1)), HasSubstr("root"));
  EXPECT_THAT(sentence_of(huddle_bcast(team_.get(), nullptr, 8, 0)), HasSubstr("buffer is null"));
  EXPECT_THAT(sentence_of(huddle_bcast(team_.get(), data_.data(), SIZE_MAX, 0)),
              HasSubstr("than memory can hold"));
}

TEST_F(Misuse, InvalidReduction) {
  double* const data = data_.data();
  const auto reduce = [&](std::size_t count, huddle_type type, huddle_operator op, int root) {
    return sentence_of(huddle_reduce(team_.get(), data, data, count, type, op, root));
  };
  const auto allreduce = [&](const void* input, void* output, std::size_t count, huddle_type type,
                             huddle_operator op) {
    return sentence_of(huddle_allreduce(team_.get(), input, output, count, type, op));
  };
  EXPECT_THAT(reduce(1, HUDDLE_DOUBLE, HUDDLE_SUM, 1), HasSubstr("root"));
  EXPECT_THAT(reduce(1, HUDDLE_DOUBLE, HUDDLE_SUM, -1), HasSubstr("root"));
  EXPECT_THAT(reduce(1, no_type(), HUDDLE_SUM, 0), HasSubstr("no such huddle_type"));
  EXPECT_THAT(reduce(1, HUDDLE_DOUBLE, no_operator(), 0), HasSubstr("no such huddle_operator"));
  EXPECT_EQ(allreduce(data, data, 1, HUDDLE_DOUBLE, HUDDLE_BITWISE_OR),
            "bitwise_or is not for elements of type float64");
  EXPECT_THAT(allreduce(nullptr, data, 1, HUDDLE_DOUBLE, HUDDLE_SUM), HasSubstr("input is null"));
  EXPECT_THAT(allreduce(data, nullptr, 1, HUDDLE_DOUBLE, HUDDLE_SUM), HasSubstr("output is null"));
  EXPECT_THAT(allreduce(data, data, far_too_many, HUDDLE_DOUBLE, HUDDLE_SUM),
              HasSubstr("than memory can hold"));
  EXPECT_THAT(allreduce(data, data, SIZE_MAX / 8 + 2, HUDDLE_DOUBLE, HUDDLE_SUM),
              HasSubstr("than memory can hold"))
      << "whose bytes would be 8";
}

TEST_F(Misuse, InvalidUserOperator) {
  double* const data = data_.data();
  huddle_reduction by{8, nullptr, nullptr};
  const auto sentence = [&](const huddle_reduction* reduction) {
    EXPECT_EQ(huddle_reduce_by(team_.get(), data, data, 1, reduction, 0), HUDDLE_MISUSED);
    return sentence_of(huddle_allreduce_by(team_.get(), data, data, 1, reduction));
  };
  EXPECT_THAT(sentence(nullptr), HasSubstr("reduction is null"));
  EXPECT_THAT(sentence(&by), HasSubstr("no function"));
  by = {0, [](void*, const void*, const void*, std::size_t, void*) {}, nullptr};
  EXPECT_THAT(sentence(&by), HasSubstr("no bytes"));
}

TEST_F(Misuse, InvalidExplanation) {
  std::array<char, 100> text{};
  const auto sentence = [&](huddle_operation operation, std::size_t count,
                            std::size_t element_bytes, huddle_format format, char* buffer) {
    return sentence_of(huddle_explain(team_.get(), operation, count, element_bytes, format, buffer,
                                      text.size(), nullptr));
  };
  EXPECT_THAT(sentence(static_cast<huddle_operation>(99), 1, 1, HUDDLE_TEXT, text.data()),
              HasSubstr("no such huddle_operation"));
  EXPECT_THAT(sentence(HUDDLE_BCAST, 1, 1, static_cast<huddle_format>(-1), text.data()),
              HasSubstr("no such huddle_format"));
  EXPECT_THAT(sentence(HUDDLE_REDUCE, 1, 0, HUDDLE_TEXT, text.data()),
              HasSubstr("must be positive"));
  EXPECT_THAT(sentence(HUDDLE_REDUCE, far_too_many, 8, HUDDLE_TEXT, text.data()),
              HasSubstr("than memory can hold"));
  EXPECT_THAT(sentence(HUDDLE_BCAST, 1, 1, HUDDLE_TEXT, nullptr), HasSubstr("no buffer"));
}

TEST_F(Misuse, LeavesTheTeamUsable) {
  data_[0] = 4;
  EXPECT_EQ(huddle_bcast(team_.get(), data_.data(), 8, 7), HUDDLE_MISUSED);
  EXPECT_EQ(huddle_allreduce(team_.get(), data_.data(), &data_[1], 1, HUDDLE_DOUBLE, HUDDLE_SUM),
            HUDDLE_OK);
  EXPECT_EQ(data_[1], 4);
  EXPECT_THAT(huddle_team_message(team_.get()), HasSubstr("root")) << "the last that failed";
}

TEST_F(Misuse, CallsWithoutDataSucceed) {
  EXPECT_EQ(huddle_bcast(team_.get(), nullptr, 0, 0), HUDDLE_OK);
  EXPECT_EQ(huddle_reduce(team_.get(), nullptr, nullptr, 0, HUDDLE_INT8, HUDDLE_SUM, 0), HUDDLE_OK);
  EXPECT_EQ(huddle_allreduce(team_.get(), nullptr, nullptr, 0, HUDDLE_INT8, HUDDLE_SUM), HUDDLE_OK);
  EXPECT_STREQ(huddle_team_message(team_.get()), "");
}

TEST(Status, HasTextForEveryValue) {
  EXPECT_STREQ(huddle_status_text(HUDDLE_OK), "fine");
  EXPECT_STREQ(huddle_status_text(HUDDLE_PEER_LOST), "a peer is lost");
  EXPECT_STREQ(huddle_status_text(static_cast<huddle_status>(-7)), "unknown status");
}

TEST(Type, HasSize) {
  EXPECT_EQ(huddle_type_bytes(HUDDLE_BFLOAT16), 2U);
  EXPECT_EQ(huddle_type_bytes(HUDDLE_COMPLEX_DOUBLE), 16U);
  EXPECT_EQ(huddle_type_bytes(HUDDLE_LONG_DOUBLE), sizeof(long double));
  EXPECT_EQ(huddle_type_bytes(no_type()), 0U);
  EXPECT_EQ(huddle_type_bytes(static_cast<huddle_type>(-1)), 0U);
}

}  // namespace
}  // namespace huddle::api
