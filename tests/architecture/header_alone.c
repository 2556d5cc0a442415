/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
#include "huddle/huddle.h"
