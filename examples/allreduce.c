/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* Four processes add up their numbers. */
#include <huddle/huddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ranks = 4 };

static void check(huddle_status status, const char* why) {
  if (status == HUDDLE_OK) return;
  fprintf(stderr, "%s: %s\n", huddle_status_text(status), why);
  exit(1);
}

static void run(huddle_rendezvous* rendezvous, int rank) {
  huddle_message why;
  huddle_context* context;
  huddle_team* team;
  check(huddle_rendezvous_attach(rendezvous, rank, &why), why.text);
  check(huddle_context_create(NULL, &context, &why), why.text);
  huddle_bootstrap bootstrap = huddle_rendezvous_bootstrap(rendezvous);
  check(huddle_team_create(context, &bootstrap, &team, &why), why.text);

  double values[2] = {rank, 0.5};
  check(huddle_allreduce(team, values, values, 2, HUDDLE_DOUBLE, HUDDLE_SUM),
        huddle_team_message(team));
  if (rank == 0) printf("%d ranks: %g and %g\n", ranks, values[0], values[1]);

  huddle_team_free(team);
  huddle_context_free(context);
}

int main(void) {
  huddle_message why;
  huddle_rendezvous* rendezvous;
  check(huddle_rendezvous_before_fork(ranks, &rendezvous, &why), why.text);
  for (int rank = 0; rank < ranks; ++rank) {
    if (fork() == 0) return run(rendezvous, rank), 0;
  }
  huddle_rendezvous_free(rendezvous); /* the children have their own handles */
  int failed = 0;
  for (int status; wait(&status) > 0;) failed |= status;
  return failed != 0;
}
