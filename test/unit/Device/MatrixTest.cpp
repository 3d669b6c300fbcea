//===- MatrixTest.cpp - Matrix instructions against a naive product -------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every matrix instruction runs on the device as decoded machine code and is
// compared with a model that shares nothing with it: positions from the closed
// formulas of the register layouts, sums in integers of 128 bits.
//
//===----------------------------------------------------------------------===//

#include "atrex/Device/Sim/Coverage.h"
#include "atrex/Device/Sim/MatrixRunner.h"
#include "lib/Device/Sim/Decoder.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace llvm;
using namespace atrex;
using namespace atrex::device;

namespace {

using Int = __int128;

template <class T> T take(Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << toString(value.takeError());
    std::abort();
  }
  return std::move(*value);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// significand * 2^exponent; `e` is the exponent the matrix unit aligns by, with
/// `fraction` bits below it in the significand.
struct Number {
  bool nan = false, inf = false, negative = false;
  int64_t s = 0;
  int e = -126, fraction = 0;
};

struct Format {
  int ebits, mbits, bias;
  enum { IEEE, OneNaN, FNUZ, Finite } special;
};
Format getFormat(MatrixType t, bool fnuz) {
  switch (t) {
  case MatrixType::F16:
    return {5, 10, 15, Format::IEEE};
  case MatrixType::BF16:
    return {8, 7, 127, Format::IEEE};
  case MatrixType::FP8:
    return fnuz ? Format{4, 3, 8, Format::FNUZ} : Format{4, 3, 7, Format::OneNaN};
  case MatrixType::BF8:
    return fnuz ? Format{5, 2, 16, Format::FNUZ} : Format{5, 2, 15, Format::IEEE};
  case MatrixType::FP6:
    return {2, 3, 1, Format::Finite};
  case MatrixType::BF6:
    return {3, 2, 3, Format::Finite};
  case MatrixType::FP4:
    return {2, 1, 1, Format::Finite};
  default:
    return {8, 23, 127, Format::IEEE};
  }
}

Number decode(uint64_t bits, Format f) {
  Number n;
  uint64_t m = bits & ((1ull << f.mbits) - 1), e = bits >> f.mbits & ((1ull << f.ebits) - 1);
  n.negative = bits >> (f.mbits + f.ebits) & 1;
  n.fraction = f.mbits;
  uint64_t top = (1ull << f.ebits) - 1;
  if (f.special == Format::FNUZ && n.negative && !m && !e) {
    n.nan = true;
    return n;
  }
  if (f.special == Format::OneNaN && e == top && m == (1ull << f.mbits) - 1) {
    n.nan = true;
    return n;
  }
  if (f.special == Format::IEEE && e == top) {
    (m ? n.nan : n.inf) = true;
    return n;
  }
  n.s = int64_t(m | (e ? 1ull << f.mbits : 0));
  if (n.s)
    n.e = (e ? int(e) : 1) - f.bias;
  if (n.negative)
    n.s = -n.s;
  return n;
}

/// x * 2^shift, rounded toward minus infinity (or zero).
Int shifted(Int x, int shift, bool towardZero) {
  if (shift >= 0) {
    assert(shift < 100);
    return x << shift;
  }
  bool negate = towardZero && x < 0;
  if (negate)
    x = -x;
  x = shift < -120 ? (x < 0 ? -1 : 0) : x >> -shift;
  return negate ? -x : x;
}

/// x * 2^e to the nearest f32, ties to even.
uint32_t roundToFloat(Int x, int e) {
  if (!x)
    return 0;
  uint32_t sign = x < 0 ? 0x80000000u : 0;
  unsigned __int128 u = x < 0 ? -(unsigned __int128)x : (unsigned __int128)x;
  int top = 127;
  while (!(u >> top & 1))
    --top;
  // The least bit that is kept.
  int least = std::max(top - 23, -149 - e);
  if (least > 0) {
    if (least > 126)
      return sign;
    unsigned __int128 rest = u & (((unsigned __int128)1 << least) - 1), half = (unsigned __int128)1 << (least - 1);
    u >>= least;
    if (rest > half || (rest == half && (u & 1)))
      ++u;
    e += least;
  }
  while (u >> 24) // Only after a carry; the bit that leaves is zero.
    u >>= 1, ++e;
  uint64_t m = uint64_t(u);
  // Normalize what has fewer bits than a significand.
  while (m && m < (1u << 23) && e > -149)
    m <<= 1, --e;
  if (m < (1u << 23))
    return sign | uint32_t(m);
  int field = e + 23 + 127;
  if (field >= 255)
    return sign | 0x7f800000u;
  return sign | uint32_t(field) << 23 | uint32_t(m & 0x7fffff);
}

constexpr uint32_t nan32 = 0x7fc00000;

/// One chain of groups: c plus the products a[k] b[k], the scales in `shift`.
uint32_t chain(ArrayRef<Number> a, ArrayRef<Number> b, uint32_t c, unsigned group, bool evenOdd) {
  for (size_t first = 0; first < a.size(); first += group) {
    Number d = decode(c, {8, 23, 127, Format::IEEE});
    bool nan = d.nan, plus = d.inf && !d.negative, minus = d.inf && d.negative;
    struct Product {
      Int s = 0;
      int e = 0, fraction = 0;
    };
    SmallVector<Product, 16> products;
    for (size_t k = first; k < first + group; ++k) {
      const Number &x = a[k], &y = b[k];
      bool negative = x.negative != y.negative;
      if (x.nan || y.nan || (x.inf && !y.inf && !y.s) || (y.inf && !x.inf && !x.s)) {
        nan = true;
      } else if (x.inf || y.inf) {
        (negative ? minus : plus) = true;
      } else {
        Product p{Int(x.s) * y.s, x.e + y.e, x.fraction + y.fraction};
        Int magnitude = p.s < 0 ? -p.s : p.s;
        // At least 2^128?
        int shift = p.e - p.fraction - 128;
        if (magnitude && (shift >= 0 || (-shift < 120 && magnitude >> -shift)))
          (negative ? minus : plus) = true;
        products.push_back(p);
      }
    }
    if (nan || (plus && minus))
      return nan32;
    if (plus || minus) {
      c = plus ? 0x7f800000 : 0xff800000;
      continue;
    }
    unsigned halves = evenOdd ? 2 : 1;
    int E[2] = {-100000, -100000};
    for (auto [n, p] : enumerate(products))
      E[n % halves] = std::max(E[n % halves], p.e);
    Int S[2] = {0, 0};
    for (auto [n, p] : enumerate(products))
      S[n % halves] += shifted(p.s, 24 + p.e - E[n % halves] - p.fraction, true);
    int top = std::max(E[0], E[1]);
    Int sum = 0;
    for (unsigned h = 0; h < halves; ++h)
      sum += shifted(S[h], E[h] - top, false);
    int M = std::max(top, d.e);
    Int left = shifted(sum, 7 + top - M, false);
    Int right = shifted(d.s, 24 + d.e - M - 23, false);
    if (evenOdd && d.e < M - 25)
      right = 0;
    c = roundToFloat(left + right * 128, M - 31);
  }
  return decode(c, {8, 23, 127, Format::IEEE}).nan ? nan32 : c;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

struct Place {
  unsigned lane, value;
};

/// A[block][i][k] with `rows` rows and k elements of k stored.
Place placeFactor(const MatrixInstruction &inst, unsigned rows, unsigned K, MatrixType type, unsigned block, unsigned i,
                  unsigned k) {
  if (inst.c == MatrixType::F64)
    return inst.m == 4 ? Place{16 * k + 4 * block + i, 0} : Place{16 * k + i, 0};
  if (inst.isF8F6F4() && (type == MatrixType::FP8 || type == MatrixType::BF8)) {
    unsigned half = k / (K / 2), rest = k % (K / 2);
    return {rows * (rest / 16) + i, 16 * half + rest % 16};
  }
  unsigned perLane = K * inst.blocks * rows / 64, q = K / perLane;
  return {rows * (block * q + k / perLane) + i, k % perLane};
}

Place placeResult(const MatrixInstruction &inst, unsigned block, unsigned i, unsigned j) {
  if (inst.c == MatrixType::F64)
    return inst.m == 4 ? Place{16 * i + 4 * block + j, 0} : Place{16 * (i % 4) + j, i / 4};
  if (inst.m == 32)
    return {32 * (i / 4 % 2) + j, 16 * block + 4 * (i / 8) + i % 4};
  if (inst.m == 16)
    return {16 * (i / 4) + j, 4 * block + i % 4};
  return {4 * block + j, i};
}

template <class Rows> uint64_t get(const Rows &rows, Place p, unsigned bits) {
  uint64_t x = 0;
  for (unsigned n = 0; n < bits; ++n) {
    unsigned at = p.value * bits + n;
    x |= uint64_t(rows[at / 32][p.lane] >> (at % 32) & 1) << n;
  }
  return x;
}

//===----------------------------------------------------------------------===//
// The model of an instruction
//===----------------------------------------------------------------------===//

struct Modifiers {
  unsigned cbsz = 0, abid = 0, blgp = 0;
  unsigned byteA = 0, byteB = 0;
};

unsigned laneOfB(unsigned lane, unsigned blgp) {
  static const unsigned first[8] = {0, 0, 32, 0, 0, 16, 32, 48};
  switch (blgp) {
  case 0:
    return lane;
  case 1:
  case 2:
    return first[blgp] + lane % 32;
  case 3:
    return (lane + 16) % 64;
  default:
    return first[blgp] + lane % 16;
  }
}

/// Expected D of element (block, i, j).
uint64_t model(const MatrixForm &form, const Modifiers &mods, const MatrixRegisters &r, uint64_t c, unsigned block,
               unsigned i, unsigned j) {
  const MatrixInstruction &inst = *form.inst;
  bool fnuz = form.arch == "gfx942", sparse = inst.kind == MatrixKind::Sparse;
  MatrixType ta = form.getTypeA(), tb = form.getTypeB();
  unsigned wa = getBitWidth(ta), wb = getBitWidth(tb), K = inst.k, stored = sparse ? K / 2 : K;
  unsigned blockOfA = block;
  if (mods.cbsz && !sparse)
    blockOfA = (block >> mods.cbsz << mods.cbsz) + mods.abid;
  std::vector<uint64_t> a, b;
  std::vector<unsigned> ks;
  for (unsigned s = 0; s < stored; ++s) {
    unsigned k = s;
    if (sparse) {
      unsigned group = s / 2, perLane = K * inst.m / 64 / 4;
      unsigned lane = inst.m * (group / perLane) + i;
      unsigned sets = 32 / (4 * perLane), set = mods.cbsz ? 0 : mods.abid % sets;
      unsigned bit = set * 4 * perLane + 4 * (group % perLane) + 2 * (s % 2);
      k = 4 * group + (r.index[lane] >> bit & 3);
    }
    ks.push_back(k);
    a.push_back(get(r.a, placeFactor(inst, inst.m, stored, ta, blockOfA, i, s), wa));
    Place p = placeFactor(inst, inst.n, K, tb, block, j, k);
    if (!(inst.c == MatrixType::F64))
      p.lane = laneOfB(p.lane, mods.blgp);
    b.push_back(get(r.b, p, wb));
  }

  if (inst.c == MatrixType::F64) {
    auto value = [&](uint64_t x, unsigned bit) { return bit_cast<double>(x ^ uint64_t(mods.blgp >> bit & 1) << 63); };
    double d = value(c, 2);
    for (unsigned s = 0; s < stored; ++s)
      d = std::fma(value(a[s], 0), value(b[s], 1), d);
    return d != d ? 0x7ff8000000000000ull : bit_cast<uint64_t>(d);
  }
  if (inst.c == MatrixType::I32) {
    uint32_t d = uint32_t(c);
    for (unsigned s = 0; s < stored; ++s)
      d += uint32_t(int32_t(int8_t(a[s])) * int32_t(int8_t(b[s])));
    return d;
  }
  auto scale = [&](const auto &reg, unsigned row, unsigned rows, unsigned k, unsigned byte) {
    return reg[rows * (k / 32) + row] >> (8 * byte) & 255;
  };
  std::vector<Number> na, nb;
  for (unsigned s = 0; s < stored; ++s) {
    if (ta == MatrixType::XF32)
      for (uint64_t *x : {&a[s], &b[s]})
        if ((*x & 0x7fffffff) <= 0x7f800000)
          *x &= ~uint64_t(0x1fff);
    Number x = decode(a[s], getFormat(ta, fnuz)), y = decode(b[s], getFormat(tb, fnuz));
    if (inst.kind == MatrixKind::Scaled) {
      for (auto [n, e] : {std::pair(&x, scale(r.scaleA, i, inst.m, ks[s], mods.byteA)),
                          std::pair(&y, scale(r.scaleB, j, inst.n, ks[s], mods.byteB))}) {
        n->nan |= e == 255;
        if (n->s)
          n->e += int(e) - 127;
      }
    }
    na.push_back(x);
    nb.push_back(y);
  }
  if (ta == MatrixType::F32 || form.arithmetic == MatrixArithmetic::Fast) {
    auto value = [](const Number &n) {
      double magnitude = n.nan ? NAN : n.inf ? INFINITY : std::fabs(std::ldexp(double(n.s), n.e - n.fraction));
      // Scaled operands round to float before they are multiplied.
      return float(n.negative ? -magnitude : magnitude);
    };
    float d = bit_cast<float>(uint32_t(c));
    for (unsigned s = 0; s < stored; ++s)
      d = std::fma(value(na[s]), value(nb[s]), d);
    return d != d ? nan32 : bit_cast<uint32_t>(d);
  }
  bool evenOdd = wa <= 8;
  unsigned group = ta == MatrixType::XF32 ? 4 : std::min(evenOdd ? 16u : 8u, stored);
  return chain(na, nb, uint32_t(c), group, evenOdd);
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

enum class Data { Moderate, Bits, Finite, Small, Cancel, Zeros };

/// ATREX_TEST_SEED (default 0) chooses other operands for all tests here.
unsigned getSeedBase() {
  static const unsigned base = [] {
    const char *text = std::getenv("ATREX_TEST_SEED");
    unsigned seed = 0;
    return text && !StringRef(text).getAsInteger(10, seed) ? seed * 100000u : 0u;
  }();
  return base;
}

class Generator {
public:
  explicit Generator(unsigned seed) : engine(seed + getSeedBase()) {}
  uint32_t word() { return engine(); }
  unsigned below(unsigned n) { return unsigned(engine() % n); }

  /// An element of `bits` bits.
  uint64_t element(MatrixType t, bool fnuz, Data data) {
    unsigned bits = getBitWidth(t);
    uint64_t raw = engine() | uint64_t(engine()) << 32;
    if (bits < 64)
      raw &= (1ull << bits) - 1;
    if (t == MatrixType::I8 || t == MatrixType::I32 || data == Data::Bits)
      return raw;
    bool wide = t == MatrixType::F64;
    Format f = wide ? Format{11, 52, 1023, Format::IEEE} : getFormat(t, fnuz);
    uint64_t sign = raw & 1ull << (bits - 1), m = raw & ((1ull << f.mbits) - 1);
    uint64_t top = (1ull << f.ebits) - 1, one = uint64_t(f.bias), e = raw >> f.mbits & top;
    switch (data) {
    case Data::Moderate:
      e = std::min<uint64_t>(top - 1, one > 3 ? one - 3 + below(6) : below(unsigned(top)));
      break;
    case Data::Small:
      e = below(3);
      break;
    case Data::Cancel:
      m &= ~0ull << (f.mbits > 2 ? f.mbits - 2 : 0);
      e = std::min<uint64_t>(top - 1, one + below(2));
      break;
    case Data::Zeros:
      if (below(2))
        return f.special == Format::FNUZ ? 0 : sign;
      e = std::min<uint64_t>(top - 1, e);
      break;
    default:
      e = std::min<uint64_t>(top - 1, e);
      break;
    }
    // FNUZ has no negative zero.
    if (f.special == Format::FNUZ && !e && !m)
      sign = 0;
    return sign | e << f.mbits | m;
  }

private:
  std::mt19937 engine;
};

template <class Rows> void fill(Rows &rows, unsigned lane, unsigned value, unsigned bits, uint64_t x) {
  for (unsigned n = 0; n < bits; ++n) {
    unsigned at = value * bits + n;
    rows[at / 32][lane] |= uint32_t(x >> n & 1) << (at % 32);
  }
}

MatrixRegisters makeRegisters(const MatrixForm &form, Generator &g, Data data) {
  const MatrixInstruction &inst = *form.inst;
  bool fnuz = form.arch == "gfx942";
  MatrixRegisters r;
  auto fillAll = [&](auto &rows, MatrixOperand operand, MatrixType type, Data d) {
    unsigned bits = getBitWidth(type), values = getNumRegisters(inst, operand, type) * 32 / bits;
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned v = 0; v < values; ++v)
        fill(rows, lane, v, bits, g.element(type, fnuz, d));
  };
  fillAll(r.a, MatrixOperand::A, form.getTypeA(), data);
  fillAll(r.b, MatrixOperand::B, form.getTypeB(), data);
  fillAll(r.c, MatrixOperand::C, inst.c, data == Data::Cancel ? Data::Moderate : data);
  for (unsigned lane = 0; lane < 64; ++lane) {
    r.index[lane] = g.word();
    auto scales = [&] {
      if (data == Data::Bits)
        return g.word();
      uint32_t x = 0;
      for (unsigned n = 0; n < 4; ++n)
        x |= (127 - 12 + g.below(24)) << (8 * n);
      return x;
    };
    r.scaleA[lane] = scales();
    r.scaleB[lane] = scales();
  }
  return r;
}

/// Runs a form on random data and compares every element; returns the number of
/// differences that are more than the sign of a zero.
unsigned compare(const MatrixForm &form, const Modifiers &mods, ArrayRef<Data> classes, unsigned seed,
                 std::optional<uint64_t> constantC = std::nullopt) {
  const MatrixInstruction &inst = *form.inst;
  auto runner = take(MatrixRunner::create(form));
  Generator g(seed);
  std::vector<MatrixRegisters> waves;
  for (Data data : classes)
    waves.push_back(makeRegisters(form, g, data));
  if (Error e = runner->run(waves)) {
    ADD_FAILURE() << toString(std::move(e));
    return 1;
  }
  unsigned bits = getBitWidth(inst.c), differences = 0;
  for (auto [w, r] : enumerate(waves))
    for (unsigned block = 0; block < inst.blocks; ++block)
      for (unsigned i = 0; i < inst.m; ++i)
        for (unsigned j = 0; j < inst.n; ++j) {
          Place p = placeResult(inst, block, i, j);
          uint64_t c = constantC ? *constantC : get(r.c, p, bits), got = get(r.d, p, bits);
          uint64_t want = model(form, mods, r, c, block, i, j);
          if (got == want)
            continue;
          if (!differences++)
            ADD_FAILURE() << inst.mnemonic.str() << form.modifiers << " on " << form.arch << " ("
                          << getName(form.getTypeA()).str() << ", " << getName(form.getTypeB()).str() << "), data "
                          << int(classes[w]) << ", block " << block << ", row " << i << ", column " << j << ": got "
                          << std::hex << got << ", expected " << want << ", C " << c;
        }
  return differences;
}

/// All classes; two of them for the mixes of f8f6f4 formats, of which there are
/// many.
ArrayRef<Data> classesFor(const MatrixForm &form) {
  static const Data all[] = {Data::Moderate, Data::Bits, Data::Finite, Data::Small, Data::Cancel, Data::Zeros};
  return form.inst->isF8F6F4() && form.a != form.b ? ArrayRef(all).take_front(2) : ArrayRef(all);
}

/// Calls `run` for every instruction of both chips, and for f8f6f4 every pair of
/// formats.
template <class F> void forEachForm(F run) {
  for (StringRef arch : {"gfx942", "gfx950"})
    for (const MatrixInstruction &inst : getMatrixInstructions()) {
      if (!inst.isAvailable(arch))
        continue;
      MatrixForm form;
      form.inst = &inst;
      form.arch = arch.str();
      if (!inst.isF8F6F4()) {
        run(form);
        continue;
      }
      for (unsigned a = 0; a < 5; ++a)
        for (unsigned b = 0; b < 5; ++b) {
          form.a = *getF8F6F4Type(a);
          form.b = *getF8F6F4Type(b);
          run(form);
        }
    }
}

} // namespace

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

TEST(MatrixTable, CoversWhatLLVMDisassembles) {
  // Opcodes of the encoding, with operands that every instruction accepts.
  for (StringRef arch : {"gfx942", "gfx950"}) {
    auto disassembler = take(sim::Disassembler::create(arch));
    std::set<std::string> seen;
    for (unsigned op = 0; op < 128; ++op) {
      uint32_t words[4] = {0xd3800000u | op << 16 | 8, 256 | (256 + 16) << 9 | (256 + 64) << 18, 0, 0};
      auto result = disassembler->decode(ArrayRef(reinterpret_cast<uint8_t *>(words), 16), 0, false);
      StringRef name = result.mnemonic;
      if (!result.size || !(name.starts_with("v_mfma_") || name.starts_with("v_smfmac_")) ||
          name == "v_mfma_ld_scale_b32")
        continue;
      const MatrixInstruction *inst = lookupMatrixInstruction(name);
      ASSERT_TRUE(inst) << name.str();
      EXPECT_TRUE(inst->isAvailable(arch)) << name.str();
      seen.insert(name.str());
    }
    for (const MatrixInstruction &inst : getMatrixInstructions())
      if (inst.kind != MatrixKind::Scaled && inst.isAvailable(arch))
        EXPECT_TRUE(seen.count(inst.mnemonic.str())) << inst.mnemonic.str();
    EXPECT_EQ(seen.size(), arch == "gfx942" ? 46u : 66u);
    auto missing = take(getMissingMnemonics(arch));
    for (const std::string &name : missing)
      EXPECT_FALSE(StringRef(name).contains("mfma") && lookupMatrixInstruction(name)) << name;
  }
}

TEST(MatrixTable, LayoutsAreBijections) {
  forEachForm([](const MatrixForm &form) {
    const MatrixInstruction &inst = *form.inst;
    for (auto [operand, type] : {std::pair(MatrixOperand::A, form.getTypeA()),
                                 std::pair(MatrixOperand::B, form.getTypeB()), std::pair(MatrixOperand::C, inst.c)}) {
      ThreadValueLayout layout = getThreadValueLayout(inst, operand, type);
      ASSERT_EQ(layout.getNumLanes(), 64u) << inst.mnemonic.str();
      EXPECT_EQ((layout.getNumValues() * getBitWidth(type) + 31) / 32, getNumRegisters(inst, operand, type));
      std::set<unsigned> seen;
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned v = 0; v < layout.getNumValues(); ++v)
          seen.insert(layout.at(lane, v));
      EXPECT_EQ(seen.size(), 64u * layout.getNumValues()) << inst.mnemonic.str() << layout.str();
      EXPECT_EQ(*seen.rbegin(), 64u * layout.getNumValues() - 1) << inst.mnemonic.str() << layout.str();
    }
  });
}

TEST(MatrixTable, LayoutText) {
  auto text = [](StringRef name, MatrixOperand operand) {
    return getThreadValueLayout(*lookupMatrixInstruction(name), operand).str();
  };
  EXPECT_EQ(text("v_mfma_f32_16x16x16_f16", MatrixOperand::A), "((16,4),4):((1,64),16)");
  EXPECT_EQ(text("v_mfma_f32_32x32x8_bf16", MatrixOperand::B), "((32,2),4):((1,128),32)");
  EXPECT_EQ(text("v_mfma_f32_32x32x8_bf16", MatrixOperand::D), "((32,2),(4,4)):((32,4),(1,8))");
  EXPECT_EQ(text("v_mfma_f32_16x16x4_f32", MatrixOperand::D), "((16,4),4):((16,4),1)");
  const MatrixInstruction &inst = *lookupMatrixInstruction("v_mfma_f32_16x16x128_f8f6f4");
  EXPECT_EQ(getThreadValueLayout(inst, MatrixOperand::A, MatrixType::FP8).str(), "((16,4),(16,2)):((1,256),(16,1024))");
  EXPECT_EQ(getThreadValueLayout(inst, MatrixOperand::A, MatrixType::FP4).str(), "((16,4),32):((1,512),16)");
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

TEST(Matrix, ExactEveryInstruction) {
  unsigned seed = 1;
  forEachForm([&](MatrixForm form) { compare(form, {}, classesFor(form), seed++); });
}

TEST(Matrix, FastEveryInstruction) {
  unsigned seed = 1001;
  forEachForm([&](MatrixForm form) {
    form.arithmetic = MatrixArithmetic::Fast;
    compare(form, {}, classesFor(form), seed++);
  });
}

TEST(Matrix, RegisterFiles) {
  unsigned seed = 2001;
  forEachForm([&](MatrixForm form) {
    if (form.inst->isF8F6F4() && form.a != form.b)
      return;
    unsigned bits = seed++;
    form.accA = bits & 1;
    form.accB = bits & 2;
    form.accC = bits & 4;
    form.inPlace = bits & 8;
    compare(form, {}, Data::Moderate, bits);
    form.accA = form.accB = form.accC = true;
    form.inPlace = !form.inPlace;
    compare(form, {}, Data::Moderate, bits);
  });
}

TEST(Matrix, ConstantC) {
  struct Constant {
    const char *text;
    uint64_t f32, f64, i32;
  };
  const Constant constants[] = {{"0", 0, 0, 0},
                                {"-3", 0xfffffffd, 0xfffffffffffffffd, 0xfffffffd},
                                {"64", 64, 64, 64},
                                {"1.0", 0x3f800000, 0x3ff0000000000000, 0x3f800000},
                                {"-4.0", 0xc0800000, 0xc010000000000000, 0xc0800000}};
  unsigned seed = 3001;
  forEachForm([&](MatrixForm form) {
    if (form.inst->kind == MatrixKind::Sparse || (form.inst->isF8F6F4() && form.a != MatrixType::FP6))
      return;
    const Constant &c = constants[seed++ % std::size(constants)];
    form.constantC = c.text;
    compare(form, {}, Data::Moderate, seed,
            form.inst->c == MatrixType::F64   ? c.f64
            : form.inst->c == MatrixType::I32 ? c.i32
                                              : c.f32);
  });
}

TEST(Matrix, BroadcastsAndLaneGroups) {
  unsigned seed = 4001;
  forEachForm([&](MatrixForm form) {
    const MatrixInstruction &inst = *form.inst;
    for (unsigned cbsz = 0; inst.hasBroadcast && 1u << cbsz <= inst.blocks; ++cbsz) {
      Modifiers mods;
      mods.cbsz = cbsz;
      mods.abid = seed % (1u << cbsz);
      form.modifiers = " cbsz:" + std::to_string(cbsz) + " abid:" + std::to_string(mods.abid);
      compare(form, mods, Data::Moderate, seed++);
    }
    for (unsigned blgp = 1; inst.hasLaneGroups && blgp < 8; ++blgp) {
      Modifiers mods;
      mods.blgp = blgp;
      form.modifiers = " blgp:" + std::to_string(blgp);
      compare(form, mods, Data::Moderate, seed++);
    }
    for (unsigned neg = 1; inst.hasNegation && neg < 8; ++neg) {
      Modifiers mods;
      mods.blgp = neg;
      form.modifiers = " neg:[" + std::to_string(neg & 1) + "," + std::to_string(neg >> 1 & 1) + "," +
                       std::to_string(neg >> 2) + "]";
      compare(form, mods, Data::Moderate, seed++);
    }
  });
}

TEST(Matrix, SparseIndexSets) {
  unsigned seed = 5001;
  forEachForm([&](MatrixForm form) {
    if (form.inst->kind != MatrixKind::Sparse)
      return;
    for (unsigned abid = 0; abid < 4; ++abid)
      for (unsigned cbsz = 0; cbsz < 2; ++cbsz) {
        Modifiers mods;
        mods.cbsz = cbsz;
        mods.abid = abid;
        form.modifiers = " cbsz:" + std::to_string(cbsz) + " abid:" + std::to_string(abid);
        compare(form, mods, Data::Finite, seed++);
      }
  });
}

TEST(Matrix, ScaleBytes) {
  unsigned seed = 6001;
  for (const char *name : {"v_mfma_scale_f32_16x16x128_f8f6f4", "v_mfma_scale_f32_32x32x64_f8f6f4"})
    for (unsigned byteA = 0; byteA < 4; ++byteA)
      for (unsigned byteB = 0; byteB < 4; ++byteB)
        for (MatrixArithmetic arithmetic : {MatrixArithmetic::Exact, MatrixArithmetic::Fast}) {
          MatrixForm form;
          form.inst = lookupMatrixInstruction(name);
          form.arch = "gfx950";
          form.arithmetic = arithmetic;
          form.b = MatrixType::FP4;
          Modifiers mods;
          mods.byteA = byteA;
          mods.byteB = byteB;
          auto list = [](unsigned a, unsigned b) { return "[" + std::to_string(a) + "," + std::to_string(b) + ",0]"; };
          form.modifiers = " op_sel:" + list(byteA & 1, byteB & 1) + " op_sel_hi:" + list(byteA >> 1, byteB >> 1);
          const Data classes[] = {Data::Moderate, Data::Bits};
          compare(form, mods, classes, seed++);
        }
}

/// Single products whose rounding shows one rule each; the rest is zero.
TEST(Matrix, RoundingRules) {
  MatrixForm form;
  form.inst = lookupMatrixInstruction("v_mfma_f32_16x16x16_f16");
  auto runner = take(MatrixRunner::create(form));
  // Row 0 of A times column 0 of B: A[0][k] in lane 16 (k div 4), half k mod 4.
  auto run = [&](ArrayRef<std::pair<uint16_t, uint16_t>> products, uint32_t c) {
    std::vector<MatrixRegisters> waves(1);
    for (auto [k, p] : enumerate(products)) {
      waves[0].a[k % 4 / 2][16 * (k / 4)] |= uint32_t(p.first) << (16 * (k % 2));
      waves[0].b[k % 4 / 2][16 * (k / 4)] |= uint32_t(p.second) << (16 * (k % 2));
    }
    waves[0].c[0][0] = c;
    cantFail(runner->run(waves));
    return waves[0].d[0][0];
  };
  constexpr uint16_t one = 0x3c00, minus = 0xbc00, tiny = 0x0001, big = 0x7bff, inf = 0x7c00, nan = 0x7e01;
  // Subnormal inputs count: 2^-24 * 2^-24.
  EXPECT_EQ(run({{tiny, tiny}}, 0), 0x27800000u);
  // Subnormal C passes unchanged beside zero products, negative as well.
  EXPECT_EQ(run({{0, 0}}, 0x00000001), 0x00000001u);
  // A small negative C is floored to -2^-24 of the largest exponent: 1 - 2^-24.
  EXPECT_EQ(run({{one, one}}, 0x80000001), 0x3f7fffffu);
  EXPECT_EQ(run({{one, one}}, 0x00000001), 0x3f800000u);
  // Products are cut toward zero 24 bits below the largest: 1 + 2^-24 * 0.5.
  EXPECT_EQ(run({{one, one}, {tiny, 0x3800}, {minus, one}}, 0), 0u);
  EXPECT_EQ(run({{one, one}, {tiny, one}, {minus, one}}, 0), 0x33800000u);
  // The second group of eight is added to the rounded first: 2^-24 vanishes.
  SmallVector<std::pair<uint16_t, uint16_t>> products(16, {0, 0});
  products[0] = {one, one};
  products[1] = {tiny, one};
  products[8] = {minus, one};
  EXPECT_EQ(run(products, 0), 0u);
  // A zero sum is +0, also of negative zeros.
  EXPECT_EQ(run({{one, one}, {minus, one}}, 0x80000000), 0u);
  EXPECT_EQ(run({{0x8000, one}}, 0x80000000), 0u);
  // Infinities and NaN.
  EXPECT_EQ(run({{inf, one}}, 0), 0x7f800000u);
  EXPECT_EQ(run({{inf, one}, {inf, minus}}, 0), nan32);
  EXPECT_EQ(run({{inf, 0}}, 0), nan32);
  EXPECT_EQ(run({{nan, one}}, 0), nan32);
  EXPECT_EQ(run({{one, one}}, 0xff800000), 0xff800000u);
  EXPECT_EQ(run({{inf, one}}, 0xff800000), nan32);
  EXPECT_EQ(run({{one, one}}, 0x7f800001), nan32);
  // Overflow on rounding.
  EXPECT_EQ(run({{big, big}}, 0x7f7fffff), 0x7f7fffffu);
  EXPECT_EQ(run({}, 0x7f7fffff), 0x7f7fffffu);
}

TEST(Matrix, ProductsBeyondTheRange) {
  MatrixForm form;
  form.inst = lookupMatrixInstruction("v_mfma_f32_16x16x16_bf16");
  auto runner = take(MatrixRunner::create(form));
  auto run = [&](uint16_t a0, uint16_t b0, uint16_t a1, uint16_t b1, uint32_t c) {
    std::vector<MatrixRegisters> waves(1);
    waves[0].a[0][0] = a0 | uint32_t(a1) << 16;
    waves[0].b[0][0] = b0 | uint32_t(b1) << 16;
    waves[0].c[0][0] = c;
    cantFail(runner->run(waves));
    return waves[0].d[0][0];
  };
  // 2^64 * 2^64 is infinite although another product would cancel it.
  EXPECT_EQ(run(0x5f80, 0x5f80, 0, 0, 0), 0x7f800000u);
  EXPECT_EQ(run(0x5f80, 0x5f80, 0xdf80, 0x5f80, 0), nan32);
  EXPECT_EQ(run(0xdf80, 0x5f80, 0, 0, 0x3f800000), 0xff800000u);
  // 2^63 * 2^64 is not, and twice that is rounded to infinity.
  EXPECT_EQ(run(0x5f00, 0x5f80, 0, 0, 0), 0x7f000000u);
  EXPECT_EQ(run(0x5f00, 0x5f80, 0x5f00, 0x5f80, 0), 0x7f800000u);
  // Both operands subnormal: far below the least float, but not below the sum.
  EXPECT_EQ(run(0x0001, 0x0001, 0, 0, 0), 0u);
  EXPECT_EQ(run(0x0001, 0x3f80, 0, 0, 0), 0x00010000u);
}

TEST(Matrix, IntegersWrap) {
  MatrixForm form;
  form.inst = lookupMatrixInstruction("v_mfma_i32_16x16x32_i8");
  auto runner = take(MatrixRunner::create(form));
  std::vector<MatrixRegisters> waves(1);
  for (auto *rows : {&waves[0].a, &waves[0].b})
    for (auto &row : *rows)
      row.fill(0x80808080);
  for (auto &row : waves[0].c)
    row.fill(0x7fffffff);
  cantFail(runner->run(waves));
  // 32 * 16384 beyond the largest integer.
  EXPECT_EQ(waves[0].d[3][63], 0x7fffffffu + 32u * 16384u);
}

TEST(Matrix, CountsCycles) {
  MatrixForm form;
  form.inst = lookupMatrixInstruction("v_mfma_f32_32x32x8_f16");
  form.repeat = 37;
  auto runner = take(MatrixRunner::create(form));
  std::vector<MatrixRegisters> waves(3);
  cantFail(runner->run(waves));
  EXPECT_EQ(runner->getStats().instructions[unsigned(InstClass::MFMA)], 3u * 37u);
  EXPECT_EQ(runner->getStats().matrixCycles, 3u * 37u * 32u);
}

TEST(Matrix, RepeatAccumulates) {
  MatrixForm form;
  form.inst = lookupMatrixInstruction("v_mfma_f32_16x16x16_f16");
  form.repeat = 40;
  auto runner = take(MatrixRunner::create(form));
  std::vector<MatrixRegisters> waves(1);
  for (auto *rows : {&waves[0].a, &waves[0].b})
    for (auto &row : *rows)
      row.fill(0x3c003c00);
  cantFail(runner->run(waves));
  EXPECT_EQ(waves[0].d[0][5], bit_cast<uint32_t>(640.0f));
}

/// Runs `text` between the load of the output pointer into s[8:9], with the
/// lane's byte in v1, and the store of `registers`; dwords of lane 0.
static std::vector<uint32_t> runText(StringRef body, ArrayRef<unsigned> registers, StringRef arch = "gfx942") {
  std::string text = "s_load_dwordx2 s[8:9], s[0:1], 0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n";
  text += body;
  for (auto [n, r] : enumerate(registers))
    text += "global_store_dword v1, v" + std::to_string(r) + ", s[8:9] offset:" + std::to_string(256 * n) + "\n";
  text += "s_endpgm\n";
  std::string object = take(assembleKernel(text, arch, 8));
  SimOptions options;
  options.chip = arch.str();
  options.jobs = 1;
  auto device = take(createSimDevice(options));
  auto module = take(device->load(MemoryBufferRef(object, "test")));
  DevicePtr out = take(device->allocate(256 * registers.size()));
  LaunchConfig config;
  config.kernarg = ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&out), 8);
  take(device->launch(*module->lookup("kernel"), config));
  std::vector<uint32_t> all(64 * registers.size()), result;
  cantFail(device->copyFromDevice(all.data(), out, all.size() * 4));
  for (size_t n = 0; n < registers.size(); ++n)
    result.push_back(all[64 * n]);
  return result;
}

/// All operands are read before D is written, however they overlap.
TEST(Matrix, OverlappingOperands) {
  std::string text;
  for (unsigned r = 32; r < 36; ++r)
    text += "v_mov_b32 v" + std::to_string(r) + ", " + std::to_string(r - 31) + "\n";
  text += "v_mov_b32 v8, 0\nv_mov_b32 v9, 0\n";
  // D v[34:37], C v[32:35], A and B zero: D is C. The assembler refuses this.
  std::string mfma = ".long " + std::to_string(0xd3cd0000 | 34) + "\n.long " +
                     std::to_string((256 + 8) | (256 + 8) << 9 | (256u + 32) << 18) + "\n";
  EXPECT_EQ(runText(text + mfma, {34, 35, 36, 37}), (std::vector<uint32_t>{1, 2, 3, 4}));
  // D over A and B: ones, k = 16.
  text = "v_mov_b32 v8, 0x3c003c00\nv_mov_b32 v9, v8\nv_mov_b32 v10, v8\nv_mov_b32 v11, v8\n"
         "v_mfma_f32_16x16x16_f16 v[8:11], v[8:9], v[10:11], 1.0\n";
  EXPECT_EQ(runText(text, {8, 9, 10, 11}), std::vector<uint32_t>(4, bit_cast<uint32_t>(17.0f)));
}

/// Whether the device, told to, refuses machine code with a text.
static std::string refusal(ArrayRef<uint32_t> words, StringRef arch = "gfx942") {
  std::string text;
  for (uint32_t w : words)
    text += ".long " + std::to_string(w) + "\n";
  text += "s_endpgm\n";
  std::string object = take(assembleKernel(text, arch, 0));
  SimOptions options;
  options.chip = arch.str();
  options.jobs = 1;
  auto device = take(createSimDevice(options));
  auto module = take(device->load(MemoryBufferRef(object, "test")));
  auto result = device->launch(*module->lookup("kernel"), {});
  return result ? "" : toString(result.takeError());
}

TEST(Matrix, Refusals) {
  auto expect = [](ArrayRef<uint32_t> words, StringRef text, StringRef arch = "gfx942") {
    std::string message = refusal(words, arch);
    EXPECT_NE(message.find(text), std::string::npos) << message << " lacks " << text.str();
  };
  constexpr uint32_t f16 = 0xd3cd0000, sources = 0x04000000 | (256 + 8) | (256 + 16) << 9 | 32 << 18;
  EXPECT_EQ(refusal({f16, sources}), "");
  expect({f16 | 1, sources}, "a matrix operand that begins at an odd register is not supported");
  expect({f16 | 254, sources}, "a matrix operand beyond the last register is not supported");
  expect({f16 | 1 << 8, sources}, "cbsz of a matrix instruction that cannot broadcast blocks");
  expect({f16, sources | 1u << 29}, "blgp of a matrix instruction that cannot permute lanes of B");
  expect({f16, (sources & ~511u) | 4}, "a matrix operand A or B that is no vector register");
  expect({f16, (sources & ~(511u << 18)) | 4 << 18}, "a matrix operand C that is neither vector register nor");
  // Four blocks; 2^3 are too many.
  expect({0xd3c90000 | 3 << 8, sources}, "a cbsz that spans more blocks");
  expect({0xd3ad0000 | 5 << 8, sources}, "a format code above 4", "gfx950");
  // LLVM's disassembler does not survive scalar A of these.
  expect({0xd3ad0000, 4 | (256 + 16) << 9 | 128 << 18}, "the code is no instruction of gfx950", "gfx950");
  expect({0xd3ac0000, 0x18020000 | (256 + 8) | (256 + 9) << 9, 0xd3ad0800, 255 | (256 + 16) << 9 | 128 << 18},
         "the code is no instruction of gfx950", "gfx950");
  expect({0xd3ac0000, 4 | (256 + 9) << 9, 0xd3ad0800, (256 + 8) | (256 + 16) << 9 | 128 << 18},
         "a scale that is neither vector register nor inline constant", "gfx950");
  expect({0xd3ac0000, 0x18020000 | (256 + 8) | (256 + 9) << 9}, "a v_mfma_ld_scale_b32 without", "gfx950");
}

/// Inline constants as scales: the assembler refuses them, the hardware's
/// encoding has them.
TEST(Matrix, ConstantScales) {
  // v[0:3] = 1.0 (fp4, all elements) times itself: 128, times the scales.
  auto run = [](uint32_t codeA, uint32_t codeB, unsigned byteA) {
    std::string text;
    for (unsigned r = 8; r < 16; ++r)
      text += "v_mov_b32 v" + std::to_string(r) + ", 0x22222222\n";
    uint32_t words[] = {0xd3ac0000 | (byteA & 1) << 11, codeA | codeB << 9 | (byteA >> 1) << 27,
                        0xd3ad0000 | 16 | 4 << 8 | 1 << 11, (256 + 8) | (256 + 12) << 9 | 128 << 18 | 4u << 29};
    for (uint32_t w : words)
      text += ".long " + std::to_string(w) + "\n";
    return bit_cast<float>(runText(text, 16, "gfx950").front());
  };
  // 64 is 2^-63; 1.0 is 0x3f800000, of which byte 3 is 63 and byte 2 is 128.
  EXPECT_EQ(run(128 + 64, 128 + 64, 0), std::ldexp(128.0f, -126));
  EXPECT_EQ(run(242, 128 + 64, 3), std::ldexp(128.0f, -127));
  EXPECT_EQ(run(242, 128 + 64, 2), std::ldexp(128.0f, 1 - 63));
}
