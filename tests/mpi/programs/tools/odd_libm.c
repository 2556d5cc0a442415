/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A mathematical library whose results are ODD_LIBM units in the last place too high or too low.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <float.h>
#include <stdlib.h>

typedef double (*Of_one)(double);
typedef double (*Of_two)(double, double);

static double off(double exact) {
  static _Thread_local int turn;
  const char* units = getenv("ODD_LIBM");
  if (units == NULL) return exact;
  turn = !turn;
  return exact * (1 + (turn ? 1 : -1) * strtod(units, NULL) * DBL_EPSILON);
}

#define OFF_OF_ONE(name) \
  double name(double x) { return off(((Of_one)dlsym(RTLD_NEXT, #name))(x)); }
OFF_OF_ONE(cbrt)
OFF_OF_ONE(exp)
OFF_OF_ONE(exp2)
OFF_OF_ONE(log)
OFF_OF_ONE(log2)
OFF_OF_ONE(log10)

double pow(double x, double y) { return off(((Of_two)dlsym(RTLD_NEXT, "pow"))(x, y)); }
