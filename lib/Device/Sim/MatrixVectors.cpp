//===- MatrixVectors.cpp - Checking matrix instructions by vectors --------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Sim/MatrixRunner.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace atrex;
using namespace atrex::device;

namespace {

struct Tile {
  std::string cls;
  std::vector<uint64_t> a, b, c, d;
};

struct VectorFile {
  const MatrixInstruction *inst = nullptr;
  std::string arch;
  std::vector<Tile> tiles;
};

/// One element of an operand in its registers.
template <class Rows> uint64_t getElement(const Rows &rows, unsigned lane, unsigned v, unsigned bits) {
  unsigned at = v * bits, reg = at / 32;
  if (bits == 64)
    return rows[reg][lane] | uint64_t(rows[reg + 1][lane]) << 32;
  return (rows[reg][lane] >> (at % 32)) & (bits == 32 ? ~0u : (1u << bits) - 1);
}
template <class Rows> void setElement(Rows &rows, unsigned lane, unsigned v, unsigned bits, uint64_t x) {
  unsigned at = v * bits, reg = at / 32;
  rows[reg][lane] |= uint32_t(x << (at % 32));
  if (bits == 64)
    rows[reg + 1][lane] |= uint32_t(x >> 32);
}

} // namespace

/// Largest file of vectors.
static constexpr uint64_t maxFileBytes = 1ull << 30;

static Expected<VectorFile> parseVectors(StringRef path) {
  auto fail = [&](const Twine &message) { return createStringError("'" + path + "': " + message); };
  auto buffer = readRegularFile(path, maxFileBytes);
  if (!buffer)
    return buffer.takeError();
  auto value = parseJson((*buffer)->getBuffer());
  if (!value)
    return fail(toString(value.takeError()));
  const json::Object *root = value->getAsObject();
  if (!root)
    return fail("the file is no JSON object");
  VectorFile file;
  auto name = root->getString("instruction");
  if (!name)
    return fail("'instruction' is missing or no string");
  file.inst = lookupMatrixInstruction(*name);
  if (!file.inst)
    return fail("instruction '" + *name + "' is no matrix instruction of gfx942 or gfx950");
  const MatrixInstruction &inst = *file.inst;
  file.arch = root->getString("arch").value_or("").str();
  if (!inst.isAvailable(file.arch))
    return fail("instruction '" + *name + "' does not exist on arch '" + file.arch + "'");
  if (inst.kind != MatrixKind::Dense || inst.isF8F6F4())
    return fail("instruction '" + *name + "' has index, scales or formats, which the schema has no place for");
  auto checkNumber = [&](StringRef key, int64_t expected) -> Error {
    std::optional<int64_t> n = root->getInteger(key);
    if (!n)
      return fail("'" + key + "' is missing or no integer");
    if (*n != expected)
      return fail(formatv("'{0}' is {1}, but {2} has {3}", key, *n, *name, expected));
    return Error::success();
  };
  for (auto [key, expected] : std::initializer_list<std::pair<StringRef, int64_t>>{
           {"M", inst.m}, {"N", inst.n}, {"K", inst.k}, {"blocks_per_instruction", inst.blocks}})
    if (Error e = checkNumber(key, expected))
      return std::move(e);
  // xf32 operands are patterns of f32.
  auto typeName = [](MatrixType t) { return getName(t == MatrixType::XF32 ? MatrixType::F32 : t); };
  const json::Object *types = root->getObject("types");
  if (!types)
    return fail("'types' is missing or no object");
  for (auto [key, type] : std::initializer_list<std::pair<StringRef, MatrixType>>{
           {"A", inst.a}, {"B", inst.b}, {"C", inst.c}, {"D", inst.c}})
    if (types->getString(key) != typeName(type))
      return fail("type of '" + key + "' is '" + types->getString(key).value_or("") + "', but " + *name + " has '" +
                  typeName(type) + "'");
  const json::Array *tiles = root->getArray("tiles");
  if (!tiles || tiles->empty())
    return fail("'tiles' is missing, empty or no array");
  for (auto [index, entry] : enumerate(*tiles)) {
    const json::Object *o = entry.getAsObject();
    if (!o)
      return fail(formatv("tile {0} is no object", index));
    Tile tile;
    tile.cls = o->getString("class").value_or("").str();
    auto parse = [&](StringRef key, unsigned count, MatrixType type, std::vector<uint64_t> &out) -> Error {
      auto text = o->getString(key);
      if (!text)
        return fail(formatv("tile {0}: '{1}' is missing or no string", index, key));
      unsigned digits = getBitWidth(type) / 4;
      if (text->size() != size_t(count) * digits)
        return fail(formatv("tile {0}: '{1}' has {2} digits, but {3} elements of {4} have {5}", index, key,
                            text->size(), count, getName(type), count * digits));
      for (unsigned n = 0; n < count; ++n) {
        uint64_t x;
        StringRef element = text->substr(n * digits, digits);
        if (!all_of(element, isHexDigit) || element.getAsInteger(16, x))
          return fail(formatv("tile {0}: element {1} of '{2}' is '{3}', which is no hexadecimal number", index, n, key,
                              element));
        out.push_back(x);
      }
      return Error::success();
    };
    if (Error e = parse("A", inst.m * inst.k, inst.a, tile.a))
      return std::move(e);
    if (Error e = parse("B", inst.k * inst.n, inst.b, tile.b))
      return std::move(e);
    if (Error e = parse("C", inst.m * inst.n, inst.c, tile.c))
      return std::move(e);
    if (Error e = parse("D", inst.m * inst.n, inst.c, tile.d))
      return std::move(e);
    file.tiles.push_back(std::move(tile));
  }
  return std::move(file);
}

Expected<MatrixVectorResult> atrex::device::runMatrixVectors(StringRef path, unsigned maxDetails) {
  auto file = parseVectors(path);
  if (!file)
    return file.takeError();
  const MatrixInstruction &inst = *file->inst;
  MatrixForm form;
  form.inst = &inst;
  form.arch = file->arch;
  auto runner = MatrixRunner::create(form);
  if (!runner)
    return createStringError("'" + path + "': " + toString(runner.takeError()));

  // A tile is one block. Wave w holds tile w in block 0 and the following ones
  // in the other blocks, so that every tile passes through several places.
  unsigned m = inst.m, n = inst.n, k = inst.k, count = unsigned(file->tiles.size());
  ThreadValueLayout la = getThreadValueLayout(inst, MatrixOperand::A),
                    lb = getThreadValueLayout(inst, MatrixOperand::B),
                    lc = getThreadValueLayout(inst, MatrixOperand::C);
  unsigned bitsA = getBitWidth(inst.a), bitsB = getBitWidth(inst.b), bitsC = getBitWidth(inst.c);
  std::vector<MatrixRegisters> waves(count);
  for (unsigned w = 0; w < count; ++w) {
    auto tileOf = [&](unsigned block) -> const Tile & { return file->tiles[(w + block) % count]; };
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (unsigned v = 0; v < la.getNumValues(); ++v) {
        unsigned x = la.at(lane, v), block = x / (m * k), i = x % m, kk = x / m % k;
        setElement(waves[w].a, lane, v, bitsA, tileOf(block).a[i * k + kk]);
      }
      for (unsigned v = 0; v < lb.getNumValues(); ++v) {
        unsigned x = lb.at(lane, v), block = x / (n * k), j = x % n, kk = x / n % k;
        setElement(waves[w].b, lane, v, bitsB, tileOf(block).b[kk * n + j]);
      }
      for (unsigned v = 0; v < lc.getNumValues(); ++v) {
        unsigned x = lc.at(lane, v), block = x / (m * n), i = x % m, j = x / m % n;
        setElement(waves[w].c, lane, v, bitsC, tileOf(block).c[i * n + j]);
      }
    }
  }
  if (Error e = (*runner)->run(waves))
    return createStringError("'" + path + "': " + toString(std::move(e)));

  // 0 agrees, 1 differs in the sign of a zero, 2 differs.
  std::vector<std::vector<uint8_t>> outcome(count, std::vector<uint8_t>(m * n, 0));
  MatrixVectorResult result;
  result.file = path.str();
  result.instruction = inst.mnemonic.str();
  uint64_t sign = 1ull << (bitsC - 1);
  for (unsigned w = 0; w < count; ++w)
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned v = 0; v < lc.getNumValues(); ++v) {
        unsigned x = lc.at(lane, v), block = x / (m * n), i = x % m, j = x / m % n, t = (w + block) % count;
        const Tile &tile = file->tiles[t];
        uint64_t got = getElement(waves[w].d, lane, v, bitsC), want = tile.d[i * n + j];
        if (got == want)
          continue;
        bool zeros = inst.c != MatrixType::I32 && !((got | want) & (sign - 1));
        uint64_t infinity = bitsC == 64 ? 0x7ffull << 52 : 0x7f800000;
        auto isNaN = [&](uint64_t bits) { return (bits & (sign - 1)) > infinity; };
        // Which NaN is not known of the hardware.
        if (inst.c != MatrixType::I32 && isNaN(got) && isNaN(want))
          continue;
        uint8_t &o = outcome[t][i * n + j];
        if (!zeros && o != 2 && result.details.size() < maxDetails) {
          unsigned digits = bitsC / 4;
          std::string text =
              formatv("tile {0} ({1}), row {2}, column {3}, block {4}: got {5}, expected {6}; C {7}", t, tile.cls, i, j,
                      block, format_hex_no_prefix(got, digits), format_hex_no_prefix(want, digits),
                      format_hex_no_prefix(tile.c[i * n + j], digits))
                  .str();
          for (unsigned kk = 0; kk < k; ++kk)
            text +=
                formatv("{0}{1} * {2}", kk ? ", " : "; A * B: ", format_hex_no_prefix(tile.a[i * k + kk], bitsA / 4),
                        format_hex_no_prefix(tile.b[kk * n + j], bitsB / 4))
                    .str();
          result.details.push_back(std::move(text));
        }
        o = std::max<uint8_t>(o, zeros ? 1 : 2);
      }
  for (const auto &tile : outcome)
    for (uint8_t o : tile) {
      ++(o == 2 ? result.disagree : result.agree);
      result.zeroSigns += o == 1;
    }
  return std::move(result);
}
