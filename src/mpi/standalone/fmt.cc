// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The part of libfmt that huddle uses, compiled from its headers, because a back end is loaded into
// programs that may have another libfmt or none. The linker then needs no libfmt.so.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;

}  // namespace detail
FMT_END_NAMESPACE
