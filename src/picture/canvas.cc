// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "picture/canvas.h"

#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <utility>

#include "base/error.h"

namespace huddle::picture {
namespace {

constexpr const char* font = "sans-serif";
constexpr double corner_radius = 3;
constexpr double border_width = 1;
// PNG pixels a point, so that text is sharp on today's screens.
constexpr int png_scale = 2;

cairo_status_t append(void* closure, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

struct SurfaceCloser {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using SurfaceHandle = std::unique_ptr<cairo_surface_t, SurfaceCloser>;

struct ContextCloser {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using ContextHandle = std::unique_ptr<cairo_t, ContextCloser>;

void set_color(cairo_t* context, Rgb color) {
  cairo_set_source_rgb(context, color.red / 255.0, color.green / 255.0, color.blue / 255.0);
}

std::uint32_t pixel(Rgb color) {
  return 0xFF000000U | static_cast<std::uint32_t>(color.red) << 16U |
         static_cast<std::uint32_t>(color.green) << 8U | color.blue;
}

// Cairo numbers images and surfaces through the life of the process; pictures that are kept under
// version control must not change with what was drawn before them.
std::string renumbered(const std::string& svg, std::string_view word) {
  std::map<std::string, std::size_t> numbers;
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = svg.find(word); at != std::string::npos; at = svg.find(word, done)) {
    const std::size_t begin = at + word.size();
    const std::size_t end = std::min(svg.find_first_not_of("0123456789", begin), svg.size());
    result += svg.substr(done, begin - done);
    const bool is_name = end > begin && at > 0 && (svg[at - 1] == '"' || svg[at - 1] == '#');
    const std::string number = svg.substr(begin, end - begin);
    result += is_name ? std::to_string(numbers.try_emplace(number, numbers.size()).first->second)
                      : number;
    done = end;
  }
  return result + svg.substr(done);
}

double left_edge(const Rect& rect, double width, Align align) {
  switch (align) {
    case Align::left:
      return rect.x;
    case Align::center:
      return rect.x + (rect.width - width) / 2;
    case Align::right:
      return rect.right() - width;
  }
  return rect.x;
}

// Shown smaller, and whole, in a window that is narrower than the picture.
std::string in_any_window(std::string svg) {
  constexpr std::string_view root = "<svg ";
  const std::size_t at = svg.find(root);
  if (at == std::string::npos) return svg;
  return svg.insert(at + root.size(), "style=\"max-width:100%;height:auto\" ");
}

}  // namespace

struct Canvas::Surface {
  ImageFormat format = ImageFormat::svg;
  std::string bytes;
  SurfaceHandle surface;
  ContextHandle context;
};

Canvas::Canvas(ImageFormat format, int width, int height) : surface_(std::make_unique<Surface>()) {
  Surface& own = *surface_;
  own.format = format;
  own.surface.reset(
      format == ImageFormat::svg
          ? cairo_svg_surface_create_for_stream(append, &own.bytes, width, height)
          : cairo_image_surface_create(CAIRO_FORMAT_RGB24, width * png_scale, height * png_scale));
  own.context.reset(cairo_create(own.surface.get()));
  if (cairo_status(own.context.get()) != CAIRO_STATUS_SUCCESS) {
    throw FailureError("the picture is too large to draw");
  }
  if (format == ImageFormat::png) cairo_scale(own.context.get(), png_scale, png_scale);
  set_color(own.context.get(), {255, 255, 255});
  cairo_paint(own.context.get());
}

Canvas::~Canvas() = default;

void Canvas::box(const Rect& rect, Rgb fill, Rgb border) {
  cairo_t* context = surface_->context.get();
  // A line of one point lies on pixels when its middle does not lie between two.
  const double inset = border_width / 2;
  const double left = rect.x + inset;
  const double top = rect.y + inset;
  const double right = rect.right() - inset;
  const double bottom = rect.bottom() - inset;
  constexpr double quarter = std::numbers::pi / 2;
  cairo_new_sub_path(context);
  cairo_arc(context, right - corner_radius, top + corner_radius, corner_radius, -quarter, 0);
  cairo_arc(context, right - corner_radius, bottom - corner_radius, corner_radius, 0, quarter);
  cairo_arc(context, left + corner_radius, bottom - corner_radius, corner_radius, quarter,
            2 * quarter);
  cairo_arc(context, left + corner_radius, top + corner_radius, corner_radius, 2 * quarter,
            3 * quarter);
  cairo_close_path(context);
  set_color(context, fill);
  cairo_fill_preserve(context);
  set_color(context, border);
  cairo_set_line_width(context, border_width);
  cairo_stroke(context);
}

void Canvas::line(int x1, int y1, int x2, int y2, Rgb color) {
  cairo_t* context = surface_->context.get();
  set_color(context, color);
  cairo_set_line_width(context, border_width);
  cairo_move_to(context, x1 + 0.5, y1 + 0.5);
  cairo_line_to(context, x2 + 0.5, y2 + 0.5);
  cairo_stroke(context);
}

void Canvas::arrow(int x1, int y1, int x2, int y2, Rgb color) {
  line(x1, y1, x2, y2, color);
  constexpr double length = 8;
  constexpr double half_width = 3;
  const double distance = std::hypot(x2 - x1, y2 - y1);
  if (distance == 0) return;
  const double along_x = (x2 - x1) / distance;
  const double along_y = (y2 - y1) / distance;
  const double tip_x = x2 + 0.5;
  const double tip_y = y2 + 0.5;
  const double back_x = tip_x - length * along_x;
  const double back_y = tip_y - length * along_y;
  cairo_t* context = surface_->context.get();
  cairo_move_to(context, tip_x, tip_y);
  cairo_line_to(context, back_x - half_width * along_y, back_y + half_width * along_x);
  cairo_line_to(context, back_x + half_width * along_y, back_y - half_width * along_x);
  cairo_close_path(context);
  cairo_fill(context);
}

void Canvas::polyline(std::span<const Point> points, Rgb color) {
  cairo_t* context = surface_->context.get();
  set_color(context, color);
  cairo_set_line_width(context, 2 * border_width);
  cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
  cairo_new_path(context);
  for (const Point& point : points) cairo_line_to(context, point.x, point.y);
  cairo_stroke(context);
}

void Canvas::text(const Rect& rect, std::string_view text, const TextLook& look) {
  cairo_t* context = surface_->context.get();
  const std::string owned(text);
  cairo_select_font_face(context, font, CAIRO_FONT_SLANT_NORMAL,
                         look.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, look.size);
  cairo_text_extents_t extents;
  cairo_text_extents(context, owned.c_str(), &extents);
  cairo_font_extents_t line;
  cairo_font_extents(context, &line);
  const double shrink =
      extents.x_advance > rect.width ? std::max(rect.width, 1) / extents.x_advance : 1;
  cairo_save(context);
  cairo_translate(context, left_edge(rect, extents.x_advance * shrink, look.align),
                  rect.y + (rect.height + line.ascent - line.descent) / 2);
  cairo_scale(context, shrink, 1);
  set_color(context, look.color);
  cairo_move_to(context, 0, 0);
  cairo_show_text(context, owned.c_str());
  cairo_restore(context);
}

void Canvas::cells(const Rect& rect, int rows, int columns, std::span<const Rgb> colors) {
  // Blown up here, one pixel a point: viewers of SVG differ in how they enlarge small images.
  const SurfaceHandle image(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, rect.width, rect.height));
  unsigned char* data = cairo_image_surface_get_data(image.get());
  if (data == nullptr) throw FailureError("the picture is too large to draw");
  const int stride = cairo_image_surface_get_stride(image.get());
  for (int y = 0; y < rect.height; ++y) {
    auto* line = reinterpret_cast<std::uint32_t*>(data + static_cast<std::ptrdiff_t>(y) * stride);
    const int row = y * rows / rect.height;
    for (int x = 0; x < rect.width; ++x) {
      const int column = x * columns / rect.width;
      line[x] = pixel(colors[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                             static_cast<std::size_t>(column)]);
    }
  }
  cairo_surface_mark_dirty(image.get());
  cairo_t* context = surface_->context.get();
  cairo_save(context);
  cairo_set_source_surface(context, image.get(), rect.x, rect.y);
  cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_NEAREST);
  cairo_rectangle(context, rect.x, rect.y, rect.width, rect.height);
  cairo_fill(context);
  cairo_restore(context);
}

std::string Canvas::finish() {
  Surface& own = *surface_;
  cairo_status_t status = cairo_status(own.context.get());
  if (own.format == ImageFormat::png && status == CAIRO_STATUS_SUCCESS) {
    cairo_surface_flush(own.surface.get());
    status = cairo_surface_write_to_png_stream(own.surface.get(), append, &own.bytes);
  }
  own.context.reset();
  cairo_surface_finish(own.surface.get());
  if (status != CAIRO_STATUS_SUCCESS) {
    throw FailureError(std::string("cairo cannot draw the picture: ") +
                       cairo_status_to_string(status));
  }
  if (own.format == ImageFormat::png) return std::move(own.bytes);
  return in_any_window(renumbered(renumbered(own.bytes, "image"), "surface"));
}

}  // namespace huddle::picture
