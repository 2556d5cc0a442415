// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A substitute for a function of glibc; see find_object.cc.
#pragma once

#include <dlfcn.h>
#include <link.h>

// On other architectures libgcc reads more fields, or data of another kind.
#if defined DLFO_STRUCT_HAS_EH_DBASE && !DLFO_STRUCT_HAS_EH_DBASE && !DLFO_STRUCT_HAS_EH_COUNT && \
    DLFO_EH_SEGMENT_TYPE == PT_GNU_EH_FRAME
#define HUDDLE_FIND_OBJECT

namespace huddle {

using FindObject = int (*)(void* address, dl_find_object* result);

// Finds the loaded file that contains the address, and its data for exceptions. Sets only the field
// dlfo_eh_frame of the result. Returns 0, or -1 if there is none.
int find_object(void* address, dl_find_object* result) noexcept;

}  // namespace huddle
#endif
