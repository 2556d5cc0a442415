// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/picture/schedule_picture.h"

#include <fmt/format.h>
#include <algorithm>

#include "tools/picture/canvas.h"
#include "tools/picture/sheet.h"

namespace huddle::picture {

RoundTable::RoundTable(const TableSide& rows, const TableSide& columns, Keeps keeps)
    : rows_(rows),
      columns_(columns),
      keeps_(keeps),
      rounds_(static_cast<std::size_t>(rows.cells()) * static_cast<std::size_t>(columns.cells()),
              never) {}

void RoundTable::note(std::int64_t row, std::int64_t column, std::int64_t round) {
  std::int64_t& noted = rounds_[place(rows_.cell_of(row), columns_.cell_of(column))];
  if (noted == never) {
    noted = round;
  } else {
    noted = keeps_ == Keeps::first ? std::min(noted, round) : std::max(noted, round);
  }
}

RoundTables round_tables(const schedules::Schedule& schedule, int most_cells) {
  const TableSide ranks(schedule.ranks(), most_cells);
  const TableSide blocks(schedule.blocks(), most_cells);
  RoundTables tables{{ranks, ranks, RoundTable::Keeps::first},
                     {ranks, blocks, RoundTable::Keeps::last}};
  schedules::Round round;
  for (int rank = 0; rank < schedule.ranks(); ++rank) {
    const schedules::RoundSpan active = schedule.active(rank);
    for (std::int64_t number = active.first; number < active.last; ++number) {
      schedule.make(rank, number, round);
      for (const schedules::Message& send : round.sends)
        tables.messages.note(rank, send.peer, number);
      for (const schedules::Message& receive : round.receives) {
        schedules::for_each_block(receive.part.blocks, [&](std::int64_t block) {
          tables.blocks.note(rank, block, number);
        });
      }
    }
  }
  return tables;
}

namespace {

using sheet_sizes::character;
using sheet_sizes::line;
using sheet_sizes::margin;

constexpr int schedule_title_height = 26;
constexpr int label_width = 36;
constexpr int part_gap = 32;
constexpr TextLook plain = {};
constexpr TextLook round_look = {12, {34, 36, 42}, true, Align::left};
constexpr Rgb rail_color = {204, 206, 212};
constexpr Rgb arrow_color = {54, 74, 140};
// The color of cells without a round.
constexpr Rgb no_round = {244, 244, 246};

int width_of(std::string_view text) { return static_cast<int>(text.size()) * character; }

// Draws a row per rank and a column per round, with arrows for messages and the blocks that arrived
// with them.
class Ladder {
 public:
  explicit Ladder(const schedules::Schedule& schedule) : schedule_(schedule) {
    constexpr int most_ranks = 32;
    constexpr std::int64_t most_rounds = 32;
    if (schedule.ranks() > most_ranks || schedule.rounds() > most_rounds) return;
    schedules::Round round;
    for (std::int64_t number = 0; number < schedule.rounds(); ++number) {
      int widest = width_of("round 00");
      for (int rank = 0; rank < schedule.ranks(); ++rank) {
        schedule.make(rank, number, round);
        widest = std::max(widest, width_of(come(round)));
      }
      text_widths_.push_back(std::min(widest, most_text));
    }
  }

  bool fits() const {
    constexpr int widest = 1400;
    return !text_widths_.empty() && width() <= widest;
  }
  int width() const {
    int sum = label_width;
    for (const int text : text_widths_) sum += arrow_width + text + space;
    return sum;
  }
  int height() const { return line + schedule_.ranks() * step; }

  void draw(Canvas& canvas, int left, int top) const {
    for (int rank = 0; rank < schedule_.ranks(); ++rank) {
      const int y = rank_y(top, rank);
      canvas.text({left, y - line / 2, label_width - 8, line}, fmt::format("{}", rank),
                  {11, plain.color, true, Align::right});
      canvas.line(left + label_width, y, left + width() - space, y, rail_color);
    }
    int x = left + label_width;
    for (std::size_t i = 0; i < text_widths_.size(); ++i) {
      const auto number = static_cast<std::int64_t>(i);
      canvas.text({x, top, arrow_width, line}, fmt::format("round {}", number), round_look);
      draw_round(canvas, number, x, top);
      x += arrow_width + text_widths_[i] + space;
    }
  }

 private:
  static constexpr int step = 26;
  static constexpr int arrow_width = 72;
  static constexpr int most_text = 110;
  static constexpr int space = 14;

  static int rank_y(int top, int rank) { return top + line + rank * step + step / 2; }

  // Returns the blocks of all messages that a rank receives in a round.
  static std::string come(const schedules::Round& round) {
    std::string text;
    for (const schedules::Message& receive : round.receives) {
      text += (text.empty() ? "" : ", ") + receive.part.blocks.text();
    }
    return text;
  }

  void draw_round(Canvas& canvas, std::int64_t number, int x, int top) const {
    schedules::Round round;
    const int text_width = text_widths_[static_cast<std::size_t>(number)];
    for (int rank = 0; rank < schedule_.ranks(); ++rank) {
      schedule_.make(rank, number, round);
      for (const schedules::Message& send : round.sends) {
        canvas.arrow(x, rank_y(top, rank), x + arrow_width, rank_y(top, send.peer), arrow_color);
      }
      canvas.text({x + arrow_width + 4, rank_y(top, rank) - line, text_width, line}, come(round),
                  plain);
    }
  }

  const schedules::Schedule& schedule_;
  std::vector<int> text_widths_;  // of each round; empty if there are too many
};

// A table of rounds in colours, with a heading and numbers at its sides.
class Map {
 public:
  Map(const RoundTable& table, std::vector<std::string> words, std::int64_t rounds)
      : table_(table), words_(std::move(words)), rounds_(rounds) {}

  static constexpr int side = 480;

  int width() const {
    int widest = label_width + columns() * cell(columns());
    for (const std::string& text : words_) widest = std::max(widest, width_of(text));
    return widest;
  }
  int height() const { return static_cast<int>(words_.size() + 1) * line + rows() * cell(rows()); }

  void draw(Canvas& canvas, int left, int top) const {
    int y = top;
    for (const std::string& text : words_) {
      canvas.text({left, y, width(), line}, text, y == top ? round_look : plain);
      y += line;
    }
    const Rect map{left + label_width, y + line, columns() * cell(columns()),
                   rows() * cell(rows())};
    draw_cells(canvas, map);
    draw_labels(canvas, map);
  }

 private:
  int rows() const { return table_.rows().cells(); }
  int columns() const { return table_.columns().cells(); }
  static int cell(int cells) { return std::clamp(side / cells, 1, 24); }

  void draw_cells(Canvas& canvas, const Rect& map) const {
    std::vector<Rgb> colors;
    for (int row = 0; row < rows(); ++row) {
      for (int column = 0; column < columns(); ++column) {
        colors.push_back(color_of(table_.at(row, column)));
      }
    }
    canvas.cells(map, rows(), columns(), colors);
    constexpr int readable = 18;
    const int cell_width = cell(columns());
    const int cell_height = cell(rows());
    if (std::min(cell_width, cell_height) < readable) return;
    for (int row = 0; row < rows(); ++row) {
      for (int column = 0; column < columns(); ++column) {
        const std::int64_t round = table_.at(row, column);
        if (round == RoundTable::never) continue;
        canvas.text(
            {map.x + column * cell_width, map.y + row * cell_height, cell_width, cell_height},
            fmt::format("{}", round), {10, readable_on(color_of(round)), false, Align::center});
      }
    }
  }

  // Returns the distance of labels in cells, a power of two.
  static int label_step(const TableSide& cells, int cell, int label) {
    int step = 1;
    while (step * cell < label && step < cells.cells()) step *= 2;
    return step;
  }

  void draw_labels(Canvas& canvas, const Rect& map) const {
    constexpr int between_columns = 24;
    const TextLook to_the_right = {9, plain.color, false, Align::right};
    const TextLook centered = {9, plain.color, false, Align::center};
    const int cell_width = cell(columns());
    const int cell_height = cell(rows());
    const int row_step = label_step(table_.rows(), cell_height, line);
    for (int row = 0; row < rows(); row += row_step) {
      canvas.text({map.x - label_width, map.y + row * cell_height + (cell_height - line) / 2,
                   label_width - 4, line},
                  fmt::format("{}", row * table_.rows().items_a_cell()), to_the_right);
    }
    const int column_step = label_step(table_.columns(), cell_width, between_columns);
    for (int column = 0; column < columns(); column += column_step) {
      const int middle = map.x + column * cell_width + cell_width / 2;
      canvas.text({middle - between_columns / 2, map.y - line, between_columns, line},
                  fmt::format("{}", column * table_.columns().items_a_cell()), centered);
    }
  }

  Rgb color_of(std::int64_t round) const {
    if (round == RoundTable::never) return no_round;
    return rounds_ <= 1 ? heat(0)
                        : heat(static_cast<double>(round) / static_cast<double>(rounds_ - 1));
  }

  const RoundTable& table_;
  std::vector<std::string> words_;
  std::int64_t rounds_;
};

class ScheduleSheet {
 public:
  explicit ScheduleSheet(const ScheduleSubject& subject)
      : subject_(subject),
        rounds_(subject.schedule.rounds()),
        tables_(round_tables(subject.schedule, Map::side)),
        ladder_(subject.schedule),
        maps_({{tables_.messages,
                {"Round in which a rank first sends to another",
                 "rows: the sender, columns: the receiver"},
                rounds_}}) {
    if (tables_.blocks.columns().items() == 0) return;
    maps_.push_back(
        {tables_.blocks,
         {"Round in which a rank last receives a block", "rows: the rank, columns: the block"},
         rounds_});
  }

  std::string drawn() const {
    const int width = widest();
    const int ladder_top =
        margin + schedule_title_height + static_cast<int>(subject_.notes.size()) * line + 12;
    const int maps_top = ladder_top + (ladder_.fits() ? ladder_.height() + part_gap : 0);
    const int bar_top = maps_top + highest_map() + 16;
    Canvas canvas(width + 2 * margin, bar_top + line + margin);
    draw_words(canvas, width);
    if (ladder_.fits()) ladder_.draw(canvas, margin, ladder_top);
    int left = margin;
    for (const Map& map : maps_) {
      map.draw(canvas, left, maps_top);
      left += map.width() + part_gap;
    }
    if (rounds_ > 1) draw_bar(canvas, bar_top);
    return canvas.finish();
  }

 private:
  int widest() const {
    int widest = width_of(subject_.title) * 3 / 2;  // in a larger font
    for (const std::string& note : subject_.notes) widest = std::max(widest, width_of(note));
    if (ladder_.fits()) widest = std::max(widest, ladder_.width());
    int maps = -part_gap;
    for (const Map& map : maps_) maps += map.width() + part_gap;
    return std::max(widest, maps);
  }
  int highest_map() const {
    int highest = 0;
    for (const Map& map : maps_) highest = std::max(highest, map.height());
    return highest;
  }

  void draw_words(Canvas& canvas, int width) const {
    int y = margin;
    canvas.text({margin, y, width, schedule_title_height}, subject_.title,
                {16, plain.color, true, Align::left});
    y += schedule_title_height;
    for (const std::string& note : subject_.notes) {
      canvas.text({margin, y, width, line}, note, plain);
      y += line;
    }
  }

  // Draws the legend of the rounds' colours.
  void draw_bar(Canvas& canvas, int top) const {
    constexpr int length = 128;
    constexpr int word = 52;
    const Rect bar{margin + word, top + (line - sheet_sizes::swatch) / 2, length,
                   sheet_sizes::swatch};
    canvas.text({margin, top, word, line}, "round 0", plain);
    canvas.gradient(bar, Direction::right, heat_colors());
    canvas.text({bar.right() + 8, top, 2 * word, line}, fmt::format("round {}", rounds_ - 1),
                plain);
  }

  const ScheduleSubject& subject_;
  std::int64_t rounds_;
  RoundTables tables_;
  Ladder ladder_;
  std::vector<Map> maps_;
};

}  // namespace

std::string as_svg(const ScheduleSubject& subject) { return ScheduleSheet(subject).drawn(); }

}  // namespace huddle::picture
