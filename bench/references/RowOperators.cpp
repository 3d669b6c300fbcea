//===- RowOperators.cpp - Norms, activations and sums by row --------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operators whose output rows depend on the same row of the inputs and on
// weights shared by all rows.
//
//===----------------------------------------------------------------------===//
#include "References.h"
#include "atrex/Bench/Operator.h"
#include "atrex/Bench/Random.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace atrex;
using namespace atrex::bench;

namespace {

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

/// x * sigmoid(x) in binary64, rounded once to binary32.
float silu(float x) { return float(double(x) / (1.0 + std::exp(-double(x)))); }

float sigmoid(float x) { return float(1.0 / (1.0 + std::exp(-double(x)))); }

float rsqrt(float x) { return float(1.0 / std::sqrt(double(x))); }

/// Sum of squares; four partial sums keep the additions pipelined and the order
/// fixed.
double sumOfSquares(const float *x, int64_t n) {
  double partial[4] = {0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int j = 0; j < 4; ++j)
      partial[j] += double(x[i + j]) * double(x[i + j]);
  for (; i < n; ++i)
    partial[0] += double(x[i]) * double(x[i]);
  return (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

/// Factor of row `row` out of `rows`: sizes in turn; of three or more rows the
/// last is all zero.
float getRowFactor(llvm::ArrayRef<float> sizes, int64_t row, int64_t rows) {
  if (rows >= 3 && row == rows - 1)
    return 0;
  return sizes[size_t(row % int64_t(sizes.size()))];
}

constexpr float normSizes[] = {1, 0x1p-10f, 32, 0x1p-4f};
constexpr float l2Sizes[] = {1, 0x1p-16f, 32, 0x1p-4f};

/// Common parts: parameters are read with the first fault kept, tensors are
/// bf16, draws go by row.
class RowOperator : public Operator {
public:
  explicit RowOperator(llvm::StringRef name) : name(name) {}
  llvm::StringRef getName() const override { return name; }

  llvm::Expected<Instance> instantiate(const Params &params, InputVariant) const override {
    Instance instance;
    instance.params = params;
    if (llvm::Error error = layOut(instance))
      return std::move(error);
    for (const std::vector<TensorSpec> *tensors : {&instance.inputs, &instance.outputs})
      for (const TensorSpec &tensor : *tensors) {
        int64_t bytes = getSizeInBytes(tensor.type);
        for (int64_t extent : tensor.shape)
          if (llvm::MulOverflow(bytes, extent, bytes) || bytes > (int64_t(1) << 46))
            return makeError(fmt::format("{}: tensor '{}' would be larger than 64 TiB; check the parameters {}",
                                         name.str(), tensor.name, params.str()));
      }
    return instance;
  }

  void draw(const Instance &instance, unsigned input, InputVariant variant, uint64_t seed, int64_t rowBegin,
            int64_t rowEnd, void *out) const override {
    const TensorSpec &tensor = instance.inputs[input];
    RandomStream stream(name, tensor.name, seed);
    int64_t width = tensor.getRowElements();
    std::vector<float> row(static_cast<size_t>(width));
    for (int64_t r = rowBegin; r < rowEnd; ++r) {
      stream.fillNormal(uint64_t(r) * uint64_t(width), size_t(width), row.data());
      shape(instance, input, variant, r, row);
      encodeBF16(row.data(), size_t(width), static_cast<uint16_t *>(out) + (r - rowBegin) * width);
    }
  }

  void compute(const Instance &instance, llvm::ArrayRef<const void *> inputs, int64_t rows,
               llvm::ArrayRef<void *> outputs, int64_t) const override {
    // Shared inputs are decoded once, the others row by row.
    std::vector<std::vector<float>> in(inputs.size()), out(outputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      in[i].resize(size_t(instance.inputs[i].getRowElements()));
      if (instance.inputs[i].isShared)
        decodeBF16(static_cast<const uint16_t *>(inputs[i]), in[i].size(), in[i].data());
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      out[i].resize(size_t(instance.outputs[i].getRowElements()));
    for (int64_t r = 0; r < rows; ++r) {
      for (size_t i = 0; i < inputs.size(); ++i)
        if (!instance.inputs[i].isShared)
          decodeBF16(static_cast<const uint16_t *>(inputs[i]) + r * int64_t(in[i].size()), in[i].size(), in[i].data());
      computeRow(instance, in, out);
      for (size_t i = 0; i < outputs.size(); ++i)
        encodeBF16(out[i].data(), out[i].size(), static_cast<uint16_t *>(outputs[i]) + r * int64_t(out[i].size()));
    }
  }

protected:
  virtual llvm::Error layOut(Instance &instance) const = 0;

  /// Turns normal values of row `row` into the input's values; they are rounded
  /// to bf16 afterwards.
  virtual void shape(const Instance &instance, unsigned input, InputVariant variant, int64_t row,
                     std::vector<float> &values) const = 0;

  /// One row; outputs are rounded to bf16 afterwards.
  virtual void computeRow(const Instance &instance, const std::vector<std::vector<float>> &in,
                          std::vector<std::vector<float>> &out) const = 0;

  /// factor * N the way a half-precision library computes it: N is rounded, then
  /// the product.
  static void scaleRounded(std::vector<float> &values, float factor) {
    roundToBF16(values.data(), values.size());
    for (float &value : values)
      value *= factor;
  }
  static void scale(std::vector<float> &values, float factor) {
    for (float &value : values)
      value *= factor;
  }
  /// Weights around one: bf16(0.02 N) + 1, or 1 + N / 2 for strict inputs.
  static void shapeWeight(InputVariant variant, std::vector<float> &values) {
    if (variant == InputVariant::Strict) {
      for (float &value : values)
        value = 1.0f + 0.5f * value;
      return;
    }
    scaleRounded(values, 0.02f);
    roundToBF16(values.data(), values.size());
    for (float &value : values)
      value += 1.0f;
  }

  /// Reads two integer parameters.
  llvm::Error readDims(Instance &instance, llvm::StringRef rowsParameter, llvm::StringRef rowsDim,
                       llvm::StringRef widthParameter, llvm::StringRef widthDim) const {
    llvm::Expected<int64_t> rows = instance.params.getInt(rowsParameter);
    if (!rows)
      return rows.takeError();
    llvm::Expected<int64_t> width = instance.params.getInt(widthParameter);
    if (!width)
      return width.takeError();
    setDims(instance, rowsDim, *rows, widthDim, *width);
    return llvm::Error::success();
  }

  /// Reads the parameter `shape`; leading axes are flattened into rows.
  llvm::Expected<std::pair<int64_t, int64_t>> readShape(const Instance &instance) const {
    llvm::Expected<std::vector<int64_t>> shape = instance.params.getInts("shape", 1);
    if (!shape)
      return shape.takeError();
    if (shape->empty())
      return makeError(fmt::format("{}: parameter 'shape' must have at least one extent", name.str()));
    int64_t rows = 1;
    for (int64_t extent : llvm::ArrayRef(*shape).drop_back())
      if (llvm::MulOverflow(rows, extent, rows) || rows > (int64_t(1) << 40))
        return makeError(fmt::format("{}: parameter 'shape' describes more than 2^40 rows", name.str()));
    return std::make_pair(rows, shape->back());
  }

  static void setDims(Instance &instance, llvm::StringRef rowsDim, int64_t rows, llvm::StringRef widthDim,
                      int64_t width) {
    instance.rows = rows;
    instance.trafficDims[rowsDim.str()] = rows;
    instance.modelDims[widthDim.str()] = width;
    instance.shapeText = fmt::format("{} x {}", rows, width);
  }

  llvm::Error readScalar(Instance &instance, llvm::StringRef parameter, llvm::StringRef scalar, double fallback) const {
    llvm::Expected<double> value = instance.params.getNumber(parameter, fallback);
    if (!value)
      return value.takeError();
    instance.scalars[scalar.str()] = *value;
    return llvm::Error::success();
  }

  static TensorSpec makeTensor(llvm::StringRef name, std::vector<int64_t> shape, bool isShared = false) {
    return TensorSpec{name.str(), DataType::BF16, std::move(shape), isShared};
  }

  static float getScalar(const Instance &instance, const char *name) {
    return float(instance.scalars.find(name)->second);
  }

private:
  llvm::StringRef name;
};

/// x * rsqrt(mean(x^2) + eps) * weight in binary32.
void normalize(const std::vector<float> &x, const std::vector<float> &weight, float eps, std::vector<float> &out) {
  float meanSquare = float(sumOfSquares(x.data(), int64_t(x.size())) / double(x.size()));
  float factor = rsqrt(meanSquare + eps);
  for (size_t i = 0; i < x.size(); ++i)
    out[i] = (x[i] * factor) * weight[i];
}

//===----------------------------------------------------------------------===//
// rms_norm, fused_add_rms_norm, gated_rms_norm
//===----------------------------------------------------------------------===//

class RmsNorm : public RowOperator {
public:
  RmsNorm() : RowOperator("rms_norm") {}

protected:
  llvm::Error layOut(Instance &instance) const override {
    if (llvm::Error error = readDims(instance, "token_count", "T", "hidden_size", "H"))
      return error;
    int64_t T = instance.rows, H = instance.modelDims["H"];
    instance.inputs = {makeTensor("x", {T, H}), makeTensor("weight", {H}, true)};
    instance.outputs = {makeTensor("out", {T, H})};
    return readScalar(instance, "eps", "eps", 1e-6);
  }

  void shape(const Instance &instance, unsigned input, InputVariant variant, int64_t row,
             std::vector<float> &values) const override {
    if (input == 1)
      shapeWeight(variant, values);
    else if (variant == InputVariant::Strict)
      scale(values, getRowFactor(normSizes, row, instance.rows));
    else
      scaleRounded(values, 0.02f);
  }

  void computeRow(const Instance &instance, const std::vector<std::vector<float>> &in,
                  std::vector<std::vector<float>> &out) const override {
    normalize(in[0], in[1], getScalar(instance, "eps"), out[0]);
  }
};

class FusedAddRmsNorm : public RowOperator {
public:
  FusedAddRmsNorm() : RowOperator("fused_add_rms_norm") {}

protected:
  llvm::Error layOut(Instance &instance) const override {
    if (llvm::Error error = readDims(instance, "token_count", "T", "hidden_size", "H"))
      return error;
    int64_t T = instance.rows, H = instance.modelDims["H"];
    instance.inputs = {makeTensor("x", {T, H}), makeTensor("residual", {T, H}), makeTensor("weight", {H}, true)};
    instance.outputs = {makeTensor("out", {T, H}), makeTensor("residual", {T, H})};
    return readScalar(instance, "eps", "eps", 1e-6);
  }

  void shape(const Instance &instance, unsigned input, InputVariant variant, int64_t row,
             std::vector<float> &values) const override {
    if (input == 2)
      shapeWeight(variant, values);
    else if (variant == InputVariant::Strict)
      scale(values, getRowFactor(normSizes, row, instance.rows));
    else if (input == 0)
      scaleRounded(values, 0.02f);
  }

  void computeRow(const Instance &instance, const std::vector<std::vector<float>> &in,
                  std::vector<std::vector<float>> &out) const override {
    // The mean is taken over the rounded sum.
    for (size_t i = 0; i < in[0].size(); ++i)
      out[1][i] = in[0][i] + in[1][i];
    roundToBF16(out[1].data(), out[1].size());
    normalize(out[1], in[2], getScalar(instance, "eps"), out[0]);
  }
};

class GatedRmsNorm : public RowOperator {
public:
  GatedRmsNorm() : RowOperator("gated_rms_norm") {}

protected:
  llvm::Error layOut(Instance &instance) const override {
    if (llvm::Error error = readDims(instance, "rows", "N", "hidden_size", "H"))
      return error;
    int64_t N = instance.rows, H = instance.modelDims["H"];
    instance.inputs = {makeTensor("x", {N, H}), makeTensor("weight", {H}, true), makeTensor("z", {N, H})};
    instance.outputs = {makeTensor("out", {N, H})};
    llvm::Expected<std::string> activation = instance.params.getString("activation", "silu");
    if (!activation)
      return activation.takeError();
    if (*activation != "silu" && *activation != "swish" && *activation != "sigmoid")
      return makeError(fmt::format("gated_rms_norm: activation '{}' is not one of silu, swish, sigmoid", *activation));
    llvm::Expected<bool> before = instance.params.getBool("norm_before_gate", true);
    if (!before)
      return before.takeError();
    return readScalar(instance, "eps", "eps", 1e-6);
  }

  void shape(const Instance &instance, unsigned input, InputVariant variant, int64_t row,
             std::vector<float> &values) const override {
    bool isStrict = variant == InputVariant::Strict;
    if (input == 1)
      shapeWeight(variant, values);
    else if (input == 2 && isStrict)
      scaleRounded(values, 2);
    else if (input == 0 && isStrict)
      scale(values, getRowFactor(normSizes, row, instance.rows));
    else if (input == 0)
      scaleRounded(values, 0.02f);
  }

  void computeRow(const Instance &instance, const std::vector<std::vector<float>> &in,
                  std::vector<std::vector<float>> &out) const override {
    // instantiate has checked both parameters.
    bool isSigmoid = llvm::cantFail(instance.params.getString("activation", "silu")) == "sigmoid";
    bool normBeforeGate = llvm::cantFail(instance.params.getBool("norm_before_gate", true));
    std::vector<float> gate(in[2].size());
    for (size_t i = 0; i < gate.size(); ++i)
      gate[i] = isSigmoid ? sigmoid(in[2][i]) : silu(in[2][i]);
    if (normBeforeGate) {
      normalize(in[0], in[1], getScalar(instance, "eps"), out[0]);
      for (size_t i = 0; i < gate.size(); ++i)
        out[0][i] *= gate[i];
      return;
    }
    for (size_t i = 0; i < gate.size(); ++i)
      gate[i] *= in[0][i];
    normalize(gate, in[1], getScalar(instance, "eps"), out[0]);
  }
};

//===----------------------------------------------------------------------===//
// l2_norm, layer_norm
//===----------------------------------------------------------------------===//

class L2Norm : public RowOperator {
public:
  L2Norm() : RowOperator("l2_norm") {}

protected:
  llvm::Error layOut(Instance &instance) const override {
    if (llvm::Error error = readDims(instance, "num_tokens", "T", "hidden_size", "H"))
      return error;
    int64_t T = instance.rows, H = instance.modelDims["H"];
    instance.inputs = {makeTensor("x", {T, H})};
    instance.outputs = {makeTensor("out", {T, H})};
    return readScalar(instance, "eps", "eps", 1e-6);
  }

  void shape(const Instance &instance, unsigned input, InputVariant variant, int64_t row,
             std::vector<float> &values) const override {
    if (variant == InputVariant::Strict)
      scale(values, getRowFactor(l2Sizes, row, instance.rows));
  }

  void computeRow(const Instance &instance, const std::vector<std::vector<float>> &in,
                  std::vector<std::vector<float>> &out) const override {
    const std::vector<float> &x = in[0];
    float factor = rsqrt(float(sumOfSquares(x.data(), int64_t(x.size()))) + getScalar(instance, "eps"));
    for (size_t i = 0; i < x.size(); ++i)
      out[0][i] = x[i] * factor;
  }
};

class LayerNorm : public RowOperator {
public:
  LayerNorm() : RowOperator("layer_norm") {}

protected:
  llvm::Error layOut(Instance &instance) const override {
    llvm::Expected<std::pair<int64_t, int64_t>> shape = readShape(instance);
    if (!shape)
      return shape.takeError();
    auto [N, D] = *shape;
    setDims(instance, "N", N, "D", D);
    instance.inputs = {makeTensor("x", {N, D}), makeTensor("weight", {D}, true), makeTensor("bias", {D}, true)};
    instance.outputs = {makeTensor("out", {N, D})};
    return llvm::Error::success();
  }

  void shape(const Instance &instance, unsigned input, InputVariant variant, int64_t row,
             std::vector<float> &values) const override {
    if (input != 0 || variant != InputVariant::Strict)
      return;
    // Offsets up to 16 deviations, one row in four of small variance, the last
    // row constant.
    constexpr float deviations[] = {1, 0x1p-8f, 4, 1}, offsets[] = {0, 0.5f, -3, 16};
    bool isConstant = instance.rows >= 3 && row == instance.rows - 1;
    for (float &value : values)
      value = isConstant ? 3.0f : value * deviations[row % 4] + offsets[row % 4];
  }

  void computeRow(const Instance &instance, const std::vector<std::vector<float>> &in,
                  std::vector<std::vector<float>> &out) const override {
    const std::vector<float> &x = in[0];
    double sum = 0, squares = 0;
    for (float value : x)
      sum += value;
    double mean = sum / double(x.size());
    for (float value : x)
      squares += (value - mean) * (value - mean);
    double deviation = std::sqrt(squares / double(x.size()) + 1e-5);
    for (size_t i = 0; i < x.size(); ++i)
      out[0][i] = float((x[i] - mean) / deviation * in[1][i] + in[2][i]);
  }
};

//===----------------------------------------------------------------------===//
// silu_and_mul, moe_sum_reduce
//===----------------------------------------------------------------------===//

class SiluAndMul : public RowOperator {
public:
  SiluAndMul() : RowOperator("silu_and_mul") {}

protected:
  llvm::Error layOut(Instance &instance) const override {
    llvm::Expected<std::pair<int64_t, int64_t>> shape = readShape(instance);
    if (!shape)
      return shape.takeError();
    auto [T, width] = *shape;
    if (width < 2 || width % 2 != 0)
      return makeError(
          fmt::format("silu_and_mul: the last extent of 'shape' is {}; it must be even and at least 2", width));
    setDims(instance, "T", T, "I", width / 2);
    instance.inputs = {makeTensor("x", {T, width})};
    instance.outputs = {makeTensor("out", {T, width / 2})};
    return llvm::Error::success();
  }

  void shape(const Instance &instance, unsigned input, InputVariant variant, int64_t row,
             std::vector<float> &values) const override {
    if (variant != InputVariant::Strict)
      return;
    scaleRounded(values, 2);
    // Gates far out on both sides.
    for (size_t i = 7; i < values.size() / 2; i += 16)
      values[i] = 40;
    for (size_t i = 11; i < values.size() / 2; i += 16)
      values[i] = -100;
  }

  void computeRow(const Instance &instance, const std::vector<std::vector<float>> &in,
                  std::vector<std::vector<float>> &out) const override {
    size_t half = out[0].size();
    for (size_t i = 0; i < half; ++i)
      out[0][i] = silu(in[0][i]);
    // The activation is rounded before the product.
    roundToBF16(out[0].data(), half);
    for (size_t i = 0; i < half; ++i)
      out[0][i] *= in[0][half + i];
  }
};

class MoeSumReduce : public RowOperator {
public:
  MoeSumReduce() : RowOperator("moe_sum_reduce") {}

protected:
  llvm::Error layOut(Instance &instance) const override {
    if (llvm::Error error = readDims(instance, "token_count", "T", "hidden_size", "H"))
      return error;
    llvm::Expected<int64_t> slots = instance.params.getInt("top_k");
    if (!slots)
      return slots.takeError();
    int64_t T = instance.rows, H = instance.modelDims["H"], K = *slots;
    instance.modelDims["K"] = K;
    instance.shapeText = fmt::format("{} x {} x {}", T, K, H);
    instance.inputs = {makeTensor("expert_outputs", {T, K, H})};
    instance.outputs = {makeTensor("out", {T, H})};
    return readScalar(instance, "routed_scaling_factor", "scale", 1.0);
  }

  void shape(const Instance &instance, unsigned input, InputVariant variant, int64_t row,
             std::vector<float> &values) const override {
    if (variant != InputVariant::Strict) {
      scaleRounded(values, 0.02f);
      return;
    }
    // No slot may be left out, none dominates.
    constexpr float sizes[] = {1, 2, 0.5f};
    size_t width = size_t(instance.modelDims.find("H")->second);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] *= sizes[i / width % 3];
  }

  void computeRow(const Instance &instance, const std::vector<std::vector<float>> &in,
                  std::vector<std::vector<float>> &out) const override {
    size_t width = out[0].size(), slots = in[0].size() / width;
    float factor = getScalar(instance, "scale");
    for (size_t i = 0; i < width; ++i) {
      double sum = 0;
      for (size_t k = 0; k < slots; ++k)
        sum += in[0][k * width + i];
      out[0][i] = float(sum) * factor;
    }
  }
};

} // namespace

llvm::ArrayRef<const Operator *> bench::getRowOperators() {
  static const RmsNorm rmsNorm;
  static const FusedAddRmsNorm fusedAddRmsNorm;
  static const GatedRmsNorm gatedRmsNorm;
  static const L2Norm l2Norm;
  static const LayerNorm layerNorm;
  static const SiluAndMul siluAndMul;
  static const MoeSumReduce moeSumReduce;
  static const Operator *const operators[] = {&fusedAddRmsNorm, &gatedRmsNorm, &l2Norm,    &layerNorm,
                                              &moeSumReduce,    &rmsNorm,      &siluAndMul};
  return operators;
}
