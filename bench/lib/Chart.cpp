//===- Chart.cpp - A picture of a run -------------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Bench/Chart.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>
#include <vector>

using namespace atrex;
using namespace atrex::bench;

namespace {

constexpr double left = 46, plotHeight = 220, bottom = 46;

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

/// The drawing area: shares up to `limit` in steps of 0.2.
struct Plot {
  double top = 0;
  unsigned fifths = 5;
  double toY(double share) const { return top + plotHeight * (1 - share * 5 / fifths); }
  double getFoot() const { return top + plotHeight; }
};

/// Bars, marks and axes; `width` is that of the whole picture.
std::string drawPlot(const RunRecord &record, llvm::ArrayRef<const ShapeResult *> shapes, double step, double width,
                     double top) {
  Plot plot{top};
  for (const ShapeResult *shape : shapes) {
    double highest = shape->getScore();
    if (shape->productionUs && *shape->productionUs > 0)
      highest = std::max(highest, shape->solUs / *shape->productionUs);
    while (highest > plot.fifths / 5.0 && plot.fifths < 100)
      ++plot.fifths;
  }
  std::string svg;
  unsigned lineStride = (plot.fifths + 9) / 10;
  for (unsigned fifth = 0; fifth <= plot.fifths; fifth += lineStride) {
    double y = plot.toY(fifth / 5.0);
    svg +=
        fmt::format("<path class=\"{}\" d=\"M{:.0f} {:.1f} H{:.0f}\"/><text x=\"{:.0f}\" y=\"{:.1f}\" "
                    "text-anchor=\"end\">{:.1f}</text>\n",
                    fifth == 5 && plot.fifths > 5 ? "one" : "grid", left, y, width - 20, left - 6, y + 4, fifth / 5.0);
  }

  std::string limit;
  for (auto [i, shape] : llvm::enumerate(shapes)) {
    double at = left + step * double(i);
    double center = at + step / 2;
    double floorUs = record.chip ? record.chip->launchFloorSeconds * 1e6 : 0;
    double best = shape->solUs > 0 ? shape->solUs / std::max(shape->solUs, floorUs) : 0;
    limit += fmt::format("{}{:.1f} {:.1f}", limit.empty() ? "M" : " L", center, plot.toY(best));
    double share = shape->getScore();
    std::string what = shape->id < 0 ? std::string("stored case") : fmt::format("shape {}", shape->id);
    svg += fmt::format("<g><title>{} {}: {}, roofline {:.4g} us, S {:.3f}</title>", escape(shape->op), what,
                       escape(shape->shapeText), shape->solUs, share);
    if (shape->status == ShapeStatus::Pass)
      svg += fmt::format("<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                         at + step * 0.12, plot.toY(share), step * 0.76, plot.getFoot() - plot.toY(share));
    else
      svg += fmt::format("<rect class=\"fail\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"6\"/>",
                         at + step * 0.12, plot.getFoot() - 6, step * 0.76);
    if (shape->productionUs && *shape->productionUs > 0)
      svg += fmt::format("<circle class=\"production\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", center,
                         plot.toY(shape->solUs / *shape->productionUs));
    svg += "</g>\n";
  }
  if (!limit.empty())
    svg += fmt::format("<path class=\"limit\" d=\"{}\"/>\n", limit);
  svg += fmt::format("<path class=\"axis\" d=\"M{:.0f} {:.1f} H{:.0f}\"/>\n", left, plot.getFoot(), width - 20);
  // Roofline time under every stride-th bar, so that labels stay apart.
  size_t stride = std::max(size_t(std::ceil(60 / step)), (shapes.size() + 7) / 8);
  for (size_t i = 0; i < shapes.size(); i += stride)
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.3g}</text>\n",
                       left + step * (double(i) + 0.5), plot.getFoot() + 16, shapes[i]->solUs);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">roofline time of the shape, us</text>\n",
                     left + (std::min(width, left + step * double(shapes.size()) + 20) - left - 20) / 2,
                     plot.getFoot() + 34);
  return svg;
}

std::vector<const ShapeResult *> sortShapes(llvm::ArrayRef<ShapeResult> results) {
  std::vector<const ShapeResult *> shapes;
  for (const ShapeResult &shape : results)
    shapes.push_back(&shape);
  llvm::sort(shapes, [](const ShapeResult *a, const ShapeResult *b) {
    return std::tie(a->solUs, a->op, a->id) < std::tie(b->solUs, b->op, b->id);
  });
  return shapes;
}

double getStep(size_t shapes) { return std::clamp(820.0 / double(std::max<size_t>(1, shapes)), 6.0, 40.0); }

} // namespace

llvm::StringRef bench::getChartStyle() {
  return ".chart text{fill:#1d2733}.chart .ground{fill:#ffffff}.chart .bar{fill:#2f6fb2}.chart .fail{fill:#c62828}"
         ".chart .production{fill:#d9822b;stroke:#fff;stroke-width:.7}.chart "
         ".limit{fill:none;stroke:#777;stroke-dasharray:3 2}"
         ".chart .grid{stroke:#e2e2e2}.chart .one{stroke:#777}.chart .axis{stroke:#444}\n"
         "@media (prefers-color-scheme: dark){.chart text{fill:#d7dee6}.chart .ground{fill:#14181d}"
         ".chart .bar{fill:#5b9bd8}.chart .fail{fill:#ef6b6b}.chart .production{fill:#f0a04b;stroke:#14181d}"
         ".chart .limit{stroke:#9aa4ae}.chart .grid{stroke:#2c343d}.chart .one{stroke:#9aa4ae}"
         ".chart .axis{stroke:#9aa4ae}}\n"
         ".chart .roof{fill:none;stroke:#777;stroke-width:1.3}.chart .dot{fill:#2f6fb2;fill-opacity:.75}"
         ".chart .ring{fill:none;stroke:#d9822b;stroke-width:1.2}\n"
         "@media (prefers-color-scheme: dark){.chart .roof{stroke:#9aa4ae}.chart .dot{fill:#5b9bd8}"
         ".chart .ring{stroke:#f0a04b}}\n";
}

std::string bench::drawInlineChart(const RunRecord &record, llvm::ArrayRef<ShapeResult> results) {
  std::vector<const ShapeResult *> shapes = sortShapes(results);
  double step = getStep(shapes.size()), top = 10;
  double width = std::max(left + step * double(shapes.size()) + 20, 240.0), height = top + plotHeight + bottom;
  return fmt::format("<svg class=\"chart\" role=\"img\" aria-label=\"share of the roofline by shape\" "
                     "width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-size=\"11\">\n",
                     width, height) +
         drawPlot(record, shapes, step, width, top) + "</svg>\n";
}

std::string bench::drawChart(const RunRecord &record) {
  std::vector<const ShapeResult *> shapes = sortShapes(record.shapes);
  double step = getStep(shapes.size()), top = 64;
  double width = std::max(left + step * double(shapes.size()) + 20, 640.0), height = top + plotHeight + bottom;
  std::vector<std::string> names;
  for (const ShapeResult *shape : shapes)
    if (!llvm::is_contained(names, shape->op))
      names.push_back(shape->op);
  std::string title = fmt::format("{}", fmt::join(names, ", "));
  if (title.size() > 60)
    title = fmt::format("{} shapes", shapes.size());
  std::string kind = record.isSimulated ? "predicted, roofline-grade" : "measured";
  std::string chip = record.chip ? record.chip->name.str() : record.deviceName;

  std::string svg = fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
      "{0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n<style>{2}</style>\n"
      "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n"
      "<text x=\"{3:.0f}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{4}: share of the roofline on {5}</text>\n",
      width, height, getChartStyle().str(), left, escape(title), escape(chip));
  // Legend.
  double x = left;
  svg += fmt::format("<rect class=\"bar\" x=\"{:.0f}\" y=\"33\" width=\"10\" height=\"10\"/><text x=\"{:.0f}\" "
                     "y=\"42\">this run ({})</text>\n",
                     x, x + 15, escape(kind));
  x += 215;
  svg += fmt::format("<circle class=\"production\" cx=\"{:.0f}\" cy=\"38\" r=\"3.5\"/><text x=\"{:.0f}\" "
                     "y=\"42\">production (measured)</text>\n",
                     x + 5, x + 15);
  x += 155;
  svg += fmt::format("<path class=\"limit\" d=\"M{:.0f} 38 h16\"/><text x=\"{:.0f}\" y=\"42\">limit set by the launch "
                     "time</text>\n",
                     x, x + 21);
  return svg + drawPlot(record, shapes, step, width, top) + "</svg>\n";
}

namespace {
/// A logarithmic axis over whole decades.
struct LogAxis {
  double low = 0, high = 0, begin = 0, end = 0;
  double at(double value) const { return begin + (std::log10(value) - low) / (high - low) * (end - begin); }
};

LogAxis makeAxis(llvm::ArrayRef<double> values, double begin, double end) {
  double low = *std::min_element(values.begin(), values.end()), high = *std::max_element(values.begin(), values.end());
  LogAxis axis{std::floor(std::log10(low)), std::ceil(std::log10(high)), begin, end};
  if (axis.low == axis.high)
    ++axis.high;
  return axis;
}
} // namespace

std::string bench::drawRoofline(const RunRecord &record, const Catalogue &catalogue) {
  struct Dot {
    const ShapeResult *shape;
    double intensity, rate, production;
  };
  const ChipInfo &chip = *record.chip;
  std::vector<Dot> dots;
  std::vector<std::pair<double, std::string>> peaks;
  std::vector<double> intensities, rates;
  for (const ShapeResult &shape : record.shapes) {
    llvm::Expected<const CatalogueOperator *> op = catalogue.lookup(shape.op);
    if (!op) {
      llvm::consumeError(op.takeError());
      continue;
    }
    const CatalogueShape *entry = (*op)->lookupShape(shape.id);
    llvm::Expected<WorkPair> work =
        computeWork(shape.op, shape.params, entry ? entry->realised : std::map<std::string, double>());
    if (!work) {
      llvm::consumeError(work.takeError());
      continue;
    }
    double peak = getPeak(chip, (*op)->dtype);
    if (!(work->charged.flops > 0) || !(peak > 0) || shape.getScore() <= 0)
      continue;
    Dot dot{&shape, work->charged.flops / work->charged.getBytes(), work->charged.flops / shape.time.seconds * 1e-12,
            0};
    if (shape.productionUs && *shape.productionUs > 0)
      dot.production = work->charged.flops / *shape.productionUs * 1e-6;
    for (double rate : {dot.rate, dot.production})
      if (rate > 0)
        rates.push_back(rate);
    intensities.push_back(dot.intensity);
    dots.push_back(dot);
    auto same = llvm::find_if(peaks, [&](const auto &other) { return other.first == peak * 1e-12; });
    if (same == peaks.end())
      peaks.push_back({peak * 1e-12, (*op)->dtype});
    else if (!llvm::is_contained(llvm::split(same->second, ", "), llvm::StringRef((*op)->dtype)))
      same->second += ", " + (*op)->dtype;
  }
  if (dots.empty())
    return "";
  llvm::sort(peaks);
  double bandwidth = chip.hbmBytesPerSecond * 1e-12;
  for (const auto &[peak, name] : peaks) {
    rates.push_back(peak);
    intensities.push_back(peak / bandwidth);
  }
  constexpr double width = 640, height = 360, foot = 312;
  LogAxis x = makeAxis(intensities, left + 8, width - 16), y = makeAxis(rates, foot, 26);
  std::string svg =
      fmt::format("<svg class=\"chart\" role=\"img\" aria-label=\"roofline\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                  "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-size=\"11\">\n",
                  width, height);
  for (double decade = y.low; decade <= y.high; ++decade)
    svg += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f} H{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
                       "text-anchor=\"end\">{:g}</text>\n",
                       x.begin, y.at(std::pow(10, decade)), x.end, x.begin - 6, y.at(std::pow(10, decade)) + 4,
                       std::pow(10, decade));
  for (double decade = x.low; decade <= x.high; ++decade)
    svg += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.1f} V{2:.1f}\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" "
                       "text-anchor=\"middle\">{4:g}</text>\n",
                       x.at(std::pow(10, decade)), y.begin, y.end, y.begin + 16, std::pow(10, decade));
  // The memory roof up to the highest peak, and a flat roof for every type.
  double lowest = std::max(std::pow(10, x.low), std::pow(10, y.low) / bandwidth);
  double ridge = peaks.back().first / bandwidth;
  svg += fmt::format("<path class=\"roof\" d=\"M{:.1f} {:.1f} L{:.1f} {:.1f}\"/>\n", x.at(lowest),
                     y.at(lowest * bandwidth), x.at(ridge), y.at(peaks.back().first));
  // Left of the middle of the slope, and so above it.
  double middle = std::sqrt(lowest * ridge);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">HBM, {:g} TB/s</text>\n", x.at(middle) - 8,
                     y.at(middle * bandwidth) - 6, bandwidth);
  for (const auto &[peak, name] : peaks)
    svg += fmt::format("<path class=\"roof\" d=\"M{:.1f} {:.1f} H{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
                       "text-anchor=\"end\">{}, {:.4g} TFLOP/s</text>\n",
                       x.at(peak / bandwidth), y.at(peak), x.end, x.end, y.at(peak) - 4, escape(name), peak);
  for (const Dot &dot : dots)
    if (dot.production > 0)
      svg += fmt::format("<circle class=\"ring\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n", x.at(dot.intensity),
                         y.at(dot.production));
  for (const Dot &dot : dots)
    svg += fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>{} {}: {}, {:.4g} FLOP per "
                       "byte, {:.4g} TFLOP/s, S {:.3f}</title></circle>\n",
                       x.at(dot.intensity), y.at(dot.rate), escape(dot.shape->op),
                       dot.shape->id < 0 ? std::string("stored case") : fmt::format("shape {}", dot.shape->id),
                       escape(dot.shape->shapeText), dot.intensity, dot.rate, dot.shape->getScore());
  svg += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f} H{:.1f}\"/>\n", x.begin, y.begin, x.end);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">FLOP per byte, as published"
                     "</text>\n<text x=\"4\" y=\"10\">TFLOP/s</text>\n</svg>\n",
                     (x.begin + x.end) / 2, foot + 36);
  return svg;
}
