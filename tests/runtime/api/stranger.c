/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * One rank of a team whose processes know nothing of each other but a path: stranger PATH RANK
 * RANKS. Exits with the huddle_status of the first call that failed, or with 9 where a result is
 * wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "huddle/huddle.h"

enum { wrong_result = 9, most_ms = 20000, numbers = 5000 };

static int failed(huddle_status status, const char* why) {
  fprintf(stderr, "%s: %s\n", huddle_status_text(status), why);
  return (int)status;
}

static void concatenate(void* result, const void* left, const void* right, size_t count,
                        void* arg) {
  /* Not commutative: the first of two non-zero digits stays, and calls are counted. */
  const char* const a = left;
  const char* const b = right;
  char* const to = result;
  for (size_t i = 0; i < count; ++i) to[i] = a[i] != 0 ? a[i] : b[i];
  ++*(int*)arg;
}

static int talk(huddle_team* team) {
  const int rank = huddle_team_rank(team);
  const int ranks = huddle_team_ranks(team);
  static double values[numbers];
  for (int i = 0; i < numbers; ++i) values[i] = rank + i;
  huddle_status status = huddle_allreduce(team, values, values, numbers, HUDDLE_DOUBLE, HUDDLE_SUM);
  if (status != HUDDLE_OK) return (int)status;
  for (int i = 0; i < numbers; ++i) {
    if (values[i] != ranks * (ranks - 1) / 2.0 + ranks * (double)i) return wrong_result;
  }
  char first = (char)(rank == 0 ? 0 : 'a' + rank);
  int calls = 0;
  const huddle_reduction by = {1, concatenate, &calls};
  status = huddle_allreduce_by(team, &first, &first, 1, &by);
  if (status != HUDDLE_OK) return (int)status;
  if (ranks > 1 && first != 'b') return wrong_result;
  char word[16] = "";
  if (rank == ranks - 1) strcpy(word, "huddle");
  status = huddle_bcast(team, word, sizeof word, ranks - 1);
  if (status != HUDDLE_OK) return (int)status;
  if (strcmp(word, "huddle") != 0) return wrong_result;
  return (int)huddle_barrier(team);
}

int main(int argc, char** argv) {
  if (argc != 4) return HUDDLE_MISUSED;
  const int rank = atoi(argv[2]);
  const int ranks = atoi(argv[3]);
  huddle_message message;
  huddle_rendezvous* rendezvous = NULL;
  huddle_status status =
      huddle_rendezvous_at_path(argv[1], rank, ranks, most_ms, &rendezvous, &message);
  if (status != HUDDLE_OK) return failed(status, message.text);
  huddle_context* context = NULL;
  status = huddle_context_create(NULL, &context, &message);
  if (status != HUDDLE_OK) return failed(status, message.text);
  const huddle_bootstrap bootstrap = huddle_rendezvous_bootstrap(rendezvous);
  huddle_team* team = NULL;
  status = huddle_team_create(context, &bootstrap, &team, &message);
  if (status != HUDDLE_OK) return failed(status, message.text);
  huddle_rendezvous_free(rendezvous);
  huddle_context_free(context); /* the team keeps what it needs */
  const int result = talk(team);
  if (result != 0) fprintf(stderr, "rank %d: %d: %s\n", rank, result, huddle_team_message(team));
  huddle_team_free(team);
  return result;
}
