//===- ReportText.cpp - Static reports as JSON and tables -----------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Analysis/StaticReport.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <fmt/format.h>

using namespace llvm;
using namespace atrex;

/// Two decimals at most: enough for cycles, and the same text everywhere.
static json::Value toNumber(double value) {
  double hundredths = std::round(value * 100);
  if (std::fmod(hundredths, 100) == 0)
    return int64_t(hundredths / 100);
  return hundredths / 100;
}
static json::Value toShare(double share) { return std::round(share * 10000) / 10000; }

/// A number where everything is constant, the text of the expression otherwise.
static json::Value toValue(const std::optional<DimExpr> &expr) {
  if (!expr)
    return nullptr;
  if (std::optional<int64_t> constant = expr->getConstant())
    return *constant;
  return expr->str();
}

static json::Object toCounts(const std::map<std::string, uint64_t> &counts) {
  json::Object object;
  for (const auto &[name, count] : counts)
    if (count)
      object[name] = int64_t(count);
  return object;
}
static json::Object toCounts(const std::map<unsigned, uint64_t> &counts) {
  json::Object object;
  for (auto [width, count] : counts)
    object[std::to_string(width)] = int64_t(count);
  return object;
}

static json::Value toJSON(const LoopReport &loop, const ChipInfo &chip) {
  json::Array waits;
  for (const WaitReport &w : loop.waits)
    waits.push_back(json::Object{{"line", w.line ? json::Value(int64_t(w.line)) : json::Value(nullptr)},
                                 {"counter", w.counter.str()},
                                 {"value", int64_t(w.value)},
                                 {"outstanding", int64_t(w.outstanding)},
                                 {"distance", int64_t(w.distance)},
                                 {"distance_cycles", int64_t(w.distanceCycles)},
                                 {"stall_cycles", toNumber(w.stallCycles)},
                                 {"earlier_trip", w.isEarlierTrip},
                                 {"unrelated", int64_t(w.unrelated)}});
  std::optional<int64_t> trips = loop.trips ? loop.trips->getConstant() : std::nullopt;
  double bytes = double(loop.bytesRead + loop.bytesWritten);
  json::Object roofline{{"flops", int64_t(loop.flops)},
                        {"bytes_read", int64_t(loop.bytesRead)},
                        {"bytes_written", int64_t(loop.bytesWritten)},
                        {"flop_per_byte", bytes ? toNumber(loop.flops / bytes) : json::Value(nullptr)},
                        {"compute_cycles", toNumber(loop.computeCycles)},
                        {"memory_cycles", toNumber(loop.memoryCycles)},
                        {"bound", loop.memoryCycles > loop.computeCycles ? "memory" : "compute"}};
  json::Object object{{"line", loop.line ? json::Value(int64_t(loop.line)) : json::Value(nullptr)},
                      {"begin", int64_t(loop.begin)},
                      {"end", int64_t(loop.end)},
                      {"depth", int64_t(loop.depth)},
                      {"parent", loop.parent < 0 ? json::Value(nullptr) : json::Value(int64_t(loop.parent))},
                      {"trip_count", trips ? json::Value(*trips) : json::Value(nullptr)},
                      {"mfma_cycles", int64_t(loop.mfmaCycles)},
                      {"valu_cycles", int64_t(loop.valuCycles)},
                      {"salu_cycles", int64_t(loop.saluCycles)},
                      {"lds_cycles", int64_t(loop.ldsCycles)},
                      {"lds_conflict_cycles",
                       loop.ldsConflictCycles ? json::Value(int64_t(*loop.ldsConflictCycles)) : json::Value(nullptr)},
                      {"lds_assumed", loop.isLdsAssumed},
                      {"lds_unknown", int64_t(loop.ldsUnknown)},
                      {"vmem_issue_cycles", int64_t(loop.vmemCycles)},
                      {"other_cycles", int64_t(loop.otherCycles)},
                      {"cycles", toNumber(loop.cycles)},
                      {"mfma_share", toShare(loop.mfmaShare)},
                      {"mfma_share_serial", toShare(loop.mfmaShareSerial)},
                      {"lower_bound_cycles", toNumber(loop.lowerBound)},
                      {"lower_bound", loop.bound.str()},
                      {"barriers", int64_t(loop.barriers)},
                      {"full_drains", int64_t(loop.fullDrains)},
                      {"mfma_gap", int64_t(loop.mfmaGap)},
                      {"mfma_gap_cycles", int64_t(loop.mfmaGapCycles)},
                      {"waits", std::move(waits)},
                      {"mix", toCounts(loop.mix)},
                      {"load_bytes_per_lane", toCounts(loop.loadWidths)},
                      {"store_bytes_per_lane", toCounts(loop.storeWidths)},
                      {"lds_read_bytes_per_lane", toCounts(loop.ldsReadWidths)},
                      {"lds_write_bytes_per_lane", toCounts(loop.ldsWriteWidths)},
                      {"roofline", std::move(roofline)}};
  if (loop.trips && !trips)
    object["trip_expression"] = loop.trips->str();
  (void)chip;
  return object;
}

static json::Value toJSON(const KernelReport &report, const ChipInfo &chip) {
  json::Array loops;
  for (const LoopReport &loop : report.loops)
    loops.push_back(toJSON(loop, chip));
  return json::Object{{"name", report.name},
                      {"file", report.file},
                      {"line", report.line ? json::Value(int64_t(report.line)) : json::Value(nullptr)},
                      {"vgpr", int64_t(report.vgprs)},
                      {"agpr", int64_t(report.agprs)},
                      {"sgpr", int64_t(report.sgprs)},
                      {"lds_bytes", int64_t(report.ldsBytes)},
                      {"scratch_bytes", int64_t(report.scratchBytes)},
                      {"spills", int64_t(report.vgprSpills)},
                      {"sgpr_spills", int64_t(report.sgprSpills)},
                      {"threads", int64_t(report.threads)},
                      {"occupancy_waves_per_simd", int64_t(report.occupancy.wavesPerSIMD)},
                      {"workgroups_per_cu", int64_t(report.occupancy.workgroupsPerCU)},
                      {"occupancy_limiter", report.occupancy.limiter.str()},
                      {"instructions", int64_t(report.instructions)},
                      {"mix", toCounts(report.mix)},
                      {"load_bytes_per_lane", toCounts(report.loadWidths)},
                      {"store_bytes_per_lane", toCounts(report.storeWidths)},
                      {"per_workgroup", report.perWorkgroup},
                      {"bytes_read", toValue(report.bytesRead)},
                      {"bytes_written", toValue(report.bytesWritten)},
                      {"minimal_bytes", toValue(report.minimalBytes)},
                      {"matrix_flops", toValue(report.flops)},
                      {"loops", std::move(loops)}};
}

json::Value atrex::toJSON(const StaticReport &report, const ChipInfo &chip) {
  json::Array kernels, remarks;
  for (const KernelReport &kernel : report.kernels)
    kernels.push_back(::toJSON(kernel, chip));
  for (const Remark &remark : report.remarks)
    remarks.push_back(json::Object{{"kind", remark.kind.str()},
                                   {"kernel", remark.kernel},
                                   {"file", remark.file},
                                   {"line", remark.line ? json::Value(int64_t(remark.line)) : json::Value(nullptr)},
                                   {"message", remark.message}});
  return json::Object{{"schema", "atrex-mlir/report/2"},
                      {"arch", chip.arch.str()},
                      {"chip", chip.name.str()},
                      {"kernels", std::move(kernels)},
                      {"remarks", std::move(remarks)}};
}

/// Breaks a list at commas outside of parentheses so that no line passes 100 columns.
static std::string wrap(StringRef label, StringRef text) {
  constexpr size_t width = 100, indent = 12;
  std::string result, line = fmt::format("{:<12}", label.str());
  SmallVector<StringRef> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && text.substr(i).starts_with(", ")) {
      parts.push_back(text.slice(begin, i));
      begin = i + 2;
    }
  }
  parts.push_back(text.drop_front(begin));
  for (auto [i, part] : enumerate(parts)) {
    bool last = i + 1 == parts.size();
    if (line.size() > indent && line.size() + 1 + part.size() + !last > width) {
      result += line + "\n";
      line = std::string(indent, ' ');
    } else if (line.size() > indent) {
      line += " ";
    }
    line += part.str() + (last ? "" : ",");
  }
  return result + line + "\n";
}

static std::string toText(const KernelReport &report, const ChipInfo &chip) {
  auto widths = [](const std::map<unsigned, uint64_t> &counts) {
    std::string text;
    for (auto [width, count] : llvm::reverse(counts))
      text += fmt::format("{}{} x {} B", text.empty() ? "" : ", ", count, width);
    return text.empty() ? std::string("none") : text;
  };
  std::string mix;
  for (const auto &[cls, count] : report.mix)
    if (count)
      mix += fmt::format("{}{} {}", mix.empty() ? "" : ", ", cls, count);
  auto bytes = [&](const std::optional<DimExpr> &expr) { return expr ? expr->str() : std::string("unknown"); };
  StringRef each = report.perWorkgroup ? " for each workgroup" : "";
  std::string text = wrap("kernel", fmt::format("{} on {} ({})", report.name, chip.name.str(), chip.arch.str()));
  text += wrap("registers", fmt::format("{} VGPR ({} AGPR), {} SGPR, {} spilled, scratch {} B per lane", report.vgprs,
                                        report.agprs, report.sgprs, report.vgprSpills, report.scratchBytes));
  text += wrap("LDS", fmt::format("{} B", report.ldsBytes));
  text +=
      wrap("occupancy", fmt::format("{} of {} waves per SIMD, {} workgroups of {} per CU, limited by {}",
                                    report.occupancy.wavesPerSIMD, chip.maxWavesPerSIMD,
                                    report.occupancy.workgroupsPerCU, report.threads, report.occupancy.limiter.str()));
  text += wrap("code", fmt::format("{} instructions: {}", report.instructions, mix));
  text += wrap("loads", widths(report.loadWidths));
  text += wrap("stores", widths(report.storeWidths));
  text += wrap("bytes",
               fmt::format("read {}{}, written {}{}{}", bytes(report.bytesRead), each.str(), bytes(report.bytesWritten),
                           each.str(), report.minimalBytes ? ", at least " + report.minimalBytes->str() : ""));
  if (report.loops.empty())
    return text;
  text += fmt::format("loops       {:>6}{:>8}{:>7}{:>7}{:>7}{:>7}{:>10}{:>7}{:>9}{:>8}\n", "line", "trips", "MFMA",
                      "VALU", "SALU", "LDS", "conflicts", "VMEM", "cycles", "share");
  for (const LoopReport &loop : report.loops) {
    std::string trips = loop.trips ? loop.trips->str() : "?";
    bool isLong = trips.size() > 7;
    std::string row = fmt::format(
        "{:<12}{:>6}{:>8}{:>7}{:>7}{:>7}{:>7}{:>10}{:>7}{:>9.0f}{:>6.1f} %\n", std::string(2 * (loop.depth - 1), ' '),
        loop.line ? std::to_string(loop.line) : "?", isLong ? "(below)" : trips, loop.mfmaCycles, loop.valuCycles,
        loop.saluCycles, loop.ldsCycles,
        loop.ldsConflictCycles ? std::to_string(*loop.ldsConflictCycles) + (loop.isLdsAssumed ? "*" : "") : "?",
        loop.vmemCycles, loop.cycles, 100 * loop.mfmaShare);
    text += row;
    if (isLong)
      text += wrap("", "    trips: " + trips);
  }
  if (llvm::any_of(report.loops, [](const LoopReport &l) { return l.isLdsAssumed && l.ldsConflictCycles; }))
    text += wrap("", "* for sample values of what a launch decides, or by an assumed rule of the LDS");
  return text;
}

std::string atrex::toText(const StaticReport &report, const ChipInfo &chip) {
  std::string text;
  for (const KernelReport &kernel : report.kernels)
    text += ::toText(kernel, chip);
  return text;
}
