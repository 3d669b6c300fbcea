//===- Picture.cpp - Tables of cells, in a terminal or as SVG -------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Picture.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;

namespace atrex::layout {

//===----------------------------------------------------------------------===//
// Colours
//===----------------------------------------------------------------------===//

/// Hue in degrees, the others in [0, 1].
static Color fromHSL(double hue, double saturation, double lightness) {
  double chroma = (1 - std::abs(2 * lightness - 1)) * saturation;
  double sector = hue / 60, rest = sector - 2 * int(sector / 2), x = chroma * (1 - std::abs(rest - 1));
  double r = 0, g = 0, b = 0;
  switch (int(sector) % 6) {
  case 0:
    r = chroma, g = x;
    break;
  case 1:
    r = x, g = chroma;
    break;
  case 2:
    g = chroma, b = x;
    break;
  case 3:
    g = x, b = chroma;
    break;
  case 4:
    r = x, b = chroma;
    break;
  default:
    r = chroma, b = x;
    break;
  }
  double base = lightness - chroma / 2;
  auto channel = [&](double value) { return Color((value + base) * 255 + 0.5); };
  return channel(r) << 16 | channel(g) << 8 | channel(b);
}

Color getWheelColor(int64_t index, int64_t count) {
  return fromHSL(330.0 * double(index % count) / double(count), 0.70, 0.76);
}

Color getDistinctColor(int64_t index) {
  // Steps of the golden angle never come close to an earlier hue; the lightness
  // separates what is alike all the same.
  return fromHSL(double(index % 360 * 1375 % 3600) / 10, 0.65, 0.84 - 0.07 * double(index / 5 % 3));
}

Color getRampColor(double part) { return fromHSL(205, 0.35 + 0.35 * part, 0.95 - 0.30 * part); }

//===----------------------------------------------------------------------===//
// Terminal
//===----------------------------------------------------------------------===//

/// The nearest of the 6 x 6 x 6 colours that every colour terminal knows.
static unsigned toTerminal(Color color) {
  auto level = [](unsigned channel) { return channel < 48 ? 0u : channel < 115 ? 1u : (channel - 35) / 40; };
  return 16 + 36 * level(color >> 16) + 6 * level(color >> 8 & 255) + level(color & 255);
}

static size_t getWidest(ArrayRef<std::string> texts) {
  size_t width = 0;
  for (const std::string &text : texts)
    width = std::max(width, text.size());
  return width;
}

static size_t getCellWidth(const Picture &picture, bool marks) {
  size_t width = getWidest(picture.columnLabels);
  for (const auto &row : picture.rows)
    for (const Cell &cell : row)
      width = std::max(width, cell.text.size() + (marks && cell.marked));
  return std::max<size_t>(width, 1);
}

static size_t getNumColumns(const Picture &picture) {
  size_t columns = picture.columnLabels.size();
  for (const auto &row : picture.rows)
    columns = std::max(columns, row.size());
  return columns;
}

void printPicture(raw_ostream &os, const Picture &picture, bool colors, size_t maxBlocks, unsigned width) {
  if (!picture.title.empty())
    os << picture.title << '\n';
  size_t labels = std::max(getWidest(picture.rowLabels), picture.rowCaption.size());
  size_t cell = getCellWidth(picture, true), notes = getWidest(picture.rowNotes);
  size_t columns = getNumColumns(picture);
  size_t room = width > labels + notes + 4 ? width - labels - notes - 4 : 0;
  size_t perBlock = std::max<size_t>(room / (cell + 1), 1);
  // Blocks of equal width if all fit.
  size_t blocks = (columns + perBlock - 1) / perBlock;
  if (blocks <= maxBlocks)
    perBlock = (columns + blocks - 1) / blocks;
  size_t shown = blocks <= maxBlocks ? columns : maxBlocks * perBlock;
  for (size_t first = 0; first < shown; first += perBlock) {
    size_t last = std::min(first + perBlock, shown);
    if (first)
      os << '\n';
    if (!picture.columnCaption.empty())
      os << std::string(labels + 3, ' ') << picture.columnCaption << '\n';
    os << right_justify(picture.rowCaption, labels) << "  ";
    for (size_t c = first; c < last; ++c)
      os << ' ' << right_justify(c < picture.columnLabels.size() ? picture.columnLabels[c] : "", cell);
    os << '\n';
    for (size_t r = 0; r < picture.rows.size(); ++r) {
      const std::vector<Cell> &row = picture.rows[r];
      os << right_justify(r < picture.rowLabels.size() ? picture.rowLabels[r] : "", labels) << " |";
      for (size_t c = first; c < std::min(last, row.size()); ++c) {
        std::string text = row[c].text + (row[c].marked ? "!" : "");
        std::string padded = std::string(cell - std::min(cell, text.size()), ' ') + text;
        if (colors && row[c].color)
          os << ' ' << "\033[38;5;16;48;5;" << toTerminal(*row[c].color) << (row[c].marked ? ";1;4m" : "m") << padded
             << "\033[0m";
        else
          os << ' ' << padded;
      }
      if (last == columns && r < picture.rowNotes.size() && !picture.rowNotes[r].empty()) {
        size_t missing = last - std::min(last, std::max(first, row.size()));
        os << std::string(missing * (cell + 1), ' ') << "  " << picture.rowNotes[r];
      }
      os << '\n';
    }
  }
  if (shown < columns)
    os << "too wide: " << "columns " << shown << " to " << columns - 1 << " left out (--all or --svg shows them)\n";
  for (const std::string &note : picture.notes)
    os << note << '\n';
}

//===----------------------------------------------------------------------===//
// SVG
//===----------------------------------------------------------------------===//

static std::string escape(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

namespace {
/// Draws downwards and keeps the extent.
struct Canvas {
  // A monospaced font of 12 pixels is 7.3 wide at most.
  static constexpr double glyph = 7.3, line = 18, margin = 16, rowHeight = 24;
  std::string body;
  raw_string_ostream os{body};
  double y = margin, right = 0;

  void text(double x, double at, StringRef content, StringRef style, StringRef anchor = "start") {
    os << formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" class=\"{2}\" text-anchor=\"{3}\">{4}</text>\n", x, at, style,
                  anchor, escape(content));
    double extent = double(content.size()) * glyph;
    right = std::max(right, anchor == "start" ? x + extent : anchor == "middle" ? x + extent / 2 : x);
  }

  void draw(const Picture &picture, size_t perBlock) {
    if (!picture.title.empty()) {
      text(margin, y + 14, picture.title, "title");
      y += 26;
    }
    size_t columns = getNumColumns(picture);
    double labels = double(std::max(getWidest(picture.rowLabels), picture.rowCaption.size())) * glyph + 8;
    double cell = std::max(double(getCellWidth(picture, false)) * glyph + 8, rowHeight), left = margin + labels;
    for (size_t first = 0; first < columns; first += perBlock) {
      size_t last = std::min(first + perBlock, columns);
      if (!picture.columnCaption.empty()) {
        text(left + double(last - first) * cell / 2, y + 12, picture.columnCaption, "caption", "middle");
        y += line;
      }
      text(left - 8, y + 13, picture.rowCaption, "caption", "end");
      for (size_t c = first; c < last && c < picture.columnLabels.size(); ++c)
        text(left + (double(c - first) + 0.5) * cell, y + 13, picture.columnLabels[c], "label", "middle");
      y += line;
      // Marked frames last, so that no neighbour covers them.
      for (bool marked : {false, true})
        for (size_t r = 0; r < picture.rows.size(); ++r)
          for (size_t c = first; c < std::min(last, picture.rows[r].size()); ++c)
            if (const Cell &entry = picture.rows[r][c]; entry.marked == marked)
              os << formatv("<rect x=\"{0:f1}\" y=\"{1:f1}\" width=\"{2:f1}\" height=\"{3:f1}\" class=\"{4}\"{5}/>\n",
                            left + double(c - first) * cell + (marked ? 1 : 0),
                            y + double(r) * rowHeight + (marked ? 1 : 0), cell - (marked ? 2 : 0),
                            rowHeight - (marked ? 2 : 0), marked ? "bad" : "cell",
                            entry.color ? formatv(" fill=\"#{0}\"", utohexstr(*entry.color, true, 6)).str()
                                        : std::string(" fill=\"none\""));
      for (size_t r = 0; r < picture.rows.size(); ++r) {
        double at = y + double(r) * rowHeight + 16.5;
        if (r < picture.rowLabels.size())
          text(left - 8, at, picture.rowLabels[r], "label", "end");
        for (size_t c = first; c < std::min(last, picture.rows[r].size()); ++c) {
          const Cell &entry = picture.rows[r][c];
          text(left + (double(c - first) + 0.5) * cell, at, entry.text,
               !entry.color   ? "plain"
               : entry.marked ? "hot"
                              : "value",
               "middle");
        }
        if (last == columns && r < picture.rowNotes.size() && !picture.rowNotes[r].empty())
          text(left + double(last - first) * cell + 10, at, picture.rowNotes[r], "label");
      }
      y += double(picture.rows.size()) * rowHeight + 12;
    }
    for (const std::string &note : picture.notes) {
      text(margin, y + 12, note, "note");
      y += line;
    }
    y += 14;
  }
};
} // namespace

std::string drawSVG(ArrayRef<Picture> pictures, unsigned columnsPerBlock) {
  Canvas canvas;
  for (const Picture &picture : pictures)
    canvas.draw(picture, columnsPerBlock);
  double width = canvas.right + Canvas::margin, height = canvas.y;
  std::string text;
  raw_string_ostream os(text);
  os << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:f0}\" height=\"{1:f0}\" "
                "viewBox=\"0 0 {0:f0} {1:f0}\">\n",
                width, height)
     << "<style>\n"
        "text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2328 }\n"
        ".title { font-weight: bold; font-size: 13px }\n"
        ".caption, .label, .note { fill: #59636e }\n"
        ".hot { font-weight: bold }\n"
        ".back { fill: #ffffff }\n"
        ".cell { stroke: #8c959f; stroke-width: 1 }\n"
        ".bad { stroke: #cf222e; stroke-width: 2.5 }\n"
        // On coloured cells the text stays dark.
        "@media (prefers-color-scheme: dark) {\n"
        "  .title, .plain { fill: #e6edf3 } .caption, .label, .note { fill: #9198a1 }\n"
        "  .back { fill: #0d1117 } .cell { stroke: #57606a } .bad { stroke: #ff4d4a }\n"
        "}\n"
        "</style>\n"
     << "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n"
     << canvas.body << "</svg>\n";
  return text;
}

} // namespace atrex::layout
