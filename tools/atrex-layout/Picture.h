//===- Picture.h - Tables of cells, in a terminal or as SVG -----*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_TOOLS_ATREX_LAYOUT_PICTURE_H
#define ATREX_TOOLS_ATREX_LAYOUT_PICTURE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace atrex::layout {

/// 0xRRGGBB, light enough for dark text.
using Color = uint32_t;

/// `index` of `count` around the colour wheel: neighbours look alike.
Color getWheelColor(int64_t index, int64_t count);
/// Neighbouring indices look different.
Color getDistinctColor(int64_t index);
/// From pale to strong as `part` goes from 0 to 1.
Color getRampColor(double part);

struct Cell {
  std::string text;
  std::optional<Color> color;
  /// Stands out: a conflict. Shown as `text!` without colours.
  bool marked = false;
};

/// Rows may be shorter than others.
struct Picture {
  std::string title;
  /// What the row and column labels count.
  std::string rowCaption, columnCaption;
  std::vector<std::string> rowLabels, columnLabels;
  std::vector<std::vector<Cell>> rows;
  /// Behind each row; may be empty.
  std::vector<std::string> rowNotes;
  /// Below the table.
  std::vector<std::string> notes;
};

/// At most `width` characters per line: columns that do not fit follow in
/// blocks of their own, at most `maxBlocks`; a line says what is left out.
void printPicture(llvm::raw_ostream &os, const Picture &picture, bool colors, size_t maxBlocks = SIZE_MAX,
                  unsigned width = 80);

/// A self-contained SVG with the pictures below each other. At most
/// `columnsPerBlock` columns beside each other.
std::string drawSVG(llvm::ArrayRef<Picture> pictures, unsigned columnsPerBlock = 32);

} // namespace atrex::layout

#endif // ATREX_TOOLS_ATREX_LAYOUT_PICTURE_H
