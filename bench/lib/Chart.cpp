//===- Chart.cpp - A picture of a run -------------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Bench/Chart.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <fmt/format.h>
#include <tuple>

using namespace atrex;
using namespace atrex::bench;

namespace {

constexpr double left = 46, top = 64, plotHeight = 220, bottom = 46;

std::string escape(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  }
  return result;
}

double toY(double share) { return top + plotHeight * (1 - std::min(share, 1.0)); }

} // namespace

std::string bench::drawChart(const RunRecord &record) {
  std::vector<const ShapeResult *> shapes;
  for (const ShapeResult &shape : record.shapes)
    shapes.push_back(&shape);
  llvm::sort(shapes, [](const ShapeResult *a, const ShapeResult *b) {
    return std::tie(a->solUs, a->op, a->id) < std::tie(b->solUs, b->op, b->id);
  });

  double step = std::clamp(820.0 / std::max<size_t>(1, shapes.size()), 6.0, 40.0);
  double width = left + step * double(shapes.size()) + 20;
  width = std::max(width, 640.0);
  double height = top + plotHeight + bottom;
  std::string title;
  for (const ShapeResult *shape : shapes)
    if (title.find(shape->op) == std::string::npos)
      title += (title.empty() ? "" : ", ") + shape->op;
  if (title.size() > 60)
    title = fmt::format("{} shapes", shapes.size());
  std::string kind = record.isSimulated ? "predicted, roofline-grade" : "measured";
  std::string chip = record.chip ? record.chip->name.str() : record.deviceName;

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"{2:.0f}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{3}: share of the roofline on {4}</text>\n",
      width, height, left, escape(title), escape(chip));
  // Legend.
  double x = left;
  svg += fmt::format("<rect x=\"{:.0f}\" y=\"33\" width=\"10\" height=\"10\" fill=\"#2f6fb2\"/><text x=\"{:.0f}\" "
                     "y=\"42\">this run ({})</text>\n",
                     x, x + 15, escape(kind));
  x += 215;
  svg +=
      fmt::format("<circle cx=\"{:.0f}\" cy=\"38\" r=\"3.5\" fill=\"#d9822b\"/><text x=\"{:.0f}\" y=\"42\">production "
                  "(measured)</text>\n",
                  x + 5, x + 15);
  x += 155;
  svg += fmt::format("<path d=\"M{:.0f} 38 h16\" stroke=\"#777\" stroke-dasharray=\"3 2\"/><text x=\"{:.0f}\" "
                     "y=\"42\">limit set by the launch time</text>\n",
                     x, x + 21);
  for (int tenth = 0; tenth <= 10; tenth += 2) {
    double y = toY(tenth / 10.0);
    svg += fmt::format("<path d=\"M{:.0f} {:.1f} H{:.0f}\" stroke=\"#e2e2e2\"/><text x=\"{:.0f}\" y=\"{:.1f}\" "
                       "text-anchor=\"end\">{:.1f}</text>\n",
                       left, y, width - 20, left - 6, y + 4, tenth / 10.0);
  }

  std::string limit;
  for (auto [i, shape] : llvm::enumerate(shapes)) {
    double at = left + step * double(i);
    double center = at + step / 2;
    double floorUs = record.chip ? record.chip->launchFloorSeconds * 1e6 : 0;
    double best = shape->solUs > 0 ? shape->solUs / (shape->solUs + floorUs) : 0;
    limit += fmt::format("{}{:.1f} {:.1f}", limit.empty() ? "M" : " L", center, toY(best));
    double share = shape->getScore();
    svg += fmt::format("<g><title>{} shape {}: {}, roofline {:.4g} us, S {:.3f}</title>", escape(shape->op), shape->id,
                       escape(shape->shapeText), shape->solUs, share);
    if (shape->status == ShapeStatus::Pass)
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#2f6fb2\"/>",
                         at + step * 0.12, toY(share), step * 0.76, top + plotHeight - toY(share));
    else
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"6\" fill=\"#c62828\"/>",
                         at + step * 0.12, top + plotHeight - 6, step * 0.76);
    if (shape->productionUs && *shape->productionUs > 0)
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#d9822b\"/>", center,
                         toY(shape->solUs / *shape->productionUs));
    svg += "</g>\n";
  }
  if (!limit.empty())
    svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#777\" stroke-dasharray=\"3 2\"/>\n", limit);
  svg += fmt::format("<path d=\"M{:.0f} {:.1f} H{:.0f}\" stroke=\"#444\"/>\n", left, top + plotHeight, width - 20);
  // Roofline time at a few places along the axis.
  if (!shapes.empty()) {
    size_t ticks = std::min<size_t>(8, shapes.size());
    for (size_t tick = 0; tick < ticks; ++tick) {
      size_t i = ticks == 1 ? 0 : tick * (shapes.size() - 1) / (ticks - 1);
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.3g}</text>\n",
                         left + step * (double(i) + 0.5), top + plotHeight + 16, shapes[i]->solUs);
    }
  }
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">roofline time of the shape, us</text>\n",
                     left + (width - left - 20) / 2, top + plotHeight + 34);
  return svg + "</svg>\n";
}
