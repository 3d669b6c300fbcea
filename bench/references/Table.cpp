//===- Table.cpp - Operators as rows of a table ---------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Table.h"
#include "References.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

using namespace atrex;
using namespace atrex::bench;

//===----------------------------------------------------------------------===//
// Storage types
//===----------------------------------------------------------------------===//

float bench::roundTo(DataType type, float value) {
  switch (type) {
  case DataType::BF16:
    return convertFromBF16(convertToBF16(value));
  case DataType::F16:
    return convertFromF16(convertToF16(value));
  case DataType::E4M3FN:
    return convertFromE4M3FN(convertToE4M3FN(value));
  case DataType::E4M3FNUZ:
    return convertFromE4M3FNUZ(convertToE4M3FNUZ(value));
  default:
    return value;
  }
}

void bench::encodeFloats(DataType type, const float *values, int64_t count, void *out) {
  switch (type) {
  case DataType::BF16:
    return encodeBF16(values, size_t(count), static_cast<uint16_t *>(out));
  case DataType::F16:
    for (int64_t i = 0; i < count; ++i)
      static_cast<uint16_t *>(out)[i] = convertToF16(values[i]);
    return;
  case DataType::E4M3FN:
    for (int64_t i = 0; i < count; ++i)
      static_cast<uint8_t *>(out)[i] = convertToE4M3FN(values[i]);
    return;
  case DataType::E4M3FNUZ:
    for (int64_t i = 0; i < count; ++i)
      static_cast<uint8_t *>(out)[i] = convertToE4M3FNUZ(values[i]);
    return;
  default:
    std::memcpy(out, values, size_t(count) * sizeof(float));
  }
}

void bench::decodeFloats(DataType type, const void *data, int64_t first, int64_t count, float *out) {
  switch (type) {
  case DataType::BF16:
    return decodeBF16(static_cast<const uint16_t *>(data) + first, size_t(count), out);
  case DataType::F16:
    for (int64_t i = 0; i < count; ++i)
      out[i] = convertFromF16(static_cast<const uint16_t *>(data)[first + i]);
    return;
  case DataType::E4M3FN:
    for (int64_t i = 0; i < count; ++i)
      out[i] = convertFromE4M3FN(static_cast<const uint8_t *>(data)[first + i]);
    return;
  case DataType::E4M3FNUZ:
    for (int64_t i = 0; i < count; ++i)
      out[i] = convertFromE4M3FNUZ(static_cast<const uint8_t *>(data)[first + i]);
    return;
  default:
    std::memcpy(out, static_cast<const float *>(data) + first, size_t(count) * sizeof(float));
  }
}

static std::atomic<unsigned> referenceThreads{0};

void bench::setReferenceThreads(unsigned threads) { referenceThreads = threads; }

void bench::parallelFor(int64_t count, llvm::function_ref<void(int64_t)> body) {
  unsigned wanted = referenceThreads;
  int64_t threads =
      std::min<int64_t>(count, std::clamp<int64_t>(wanted ? wanted : std::thread::hardware_concurrency(), 1, 64));
  if (threads <= 1) {
    for (int64_t i = 0; i < count; ++i)
      body(i);
    return;
  }
  std::atomic<int64_t> next{0};
  auto run = [&] {
    for (int64_t i = next++; i < count; i = next++)
      body(i);
  };
  std::vector<std::thread> workers;
  for (int64_t i = 1; i < threads; ++i)
    workers.emplace_back(run);
  run();
  for (std::thread &worker : workers)
    worker.join();
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

template <typename T> T Layout::take(llvm::Expected<T> value, T fallback) {
  if (value)
    return *value;
  std::string message = llvm::toString(value.takeError());
  if (fault.empty())
    fault = std::move(message);
  return fallback;
}

bool Layout::isAbsent(llvm::StringRef name) const {
  const llvm::json::Value *value = instance.params.getValues().get(name);
  return !value || value->kind() == llvm::json::Value::Null;
}

int64_t Layout::count(llvm::StringRef name) {
  int64_t value = take<int64_t>(instance.params.getInt(name), 1);
  bool fits = value <= (int64_t(1) << 31);
  require(fits, fmt::format("parameter '{}' is {}; at most 2^31 is possible", name.str(), value));
  return fits ? value : 1;
}

int64_t Layout::product(std::initializer_list<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(result, size, result) || result > (int64_t(1) << 46)) {
      require(false, fmt::format("the sizes {} do not fit one tensor", fmt::join(sizes, " x ")));
      return 1;
    }
  return result;
}

int64_t Layout::count(llvm::StringRef name, int64_t fallback) { return isAbsent(name) ? fallback : count(name); }

int64_t Layout::natural(llvm::StringRef name, int64_t fallback) {
  if (isAbsent(name))
    return fallback;
  std::optional<int64_t> value = instance.params.getValues().getInteger(name);
  require(value && *value >= 0 && *value <= (int64_t(1) << 40),
          fmt::format("parameter '{}' must be an integer from 0 to 2^40", name.str()));
  return value && *value >= 0 && *value <= (int64_t(1) << 40) ? *value : fallback;
}

double Layout::number(llvm::StringRef name, double fallback) {
  return isAbsent(name) ? fallback : take<double>(instance.params.getNumber(name, fallback), fallback);
}

bool Layout::flag(llvm::StringRef name, bool fallback) {
  return isAbsent(name) ? fallback : take<bool>(instance.params.getBool(name, fallback), fallback);
}

std::string Layout::text(llvm::StringRef name, llvm::StringRef fallback) {
  const llvm::json::Value *value = instance.params.getValues().get(name);
  if (value && value->kind() == llvm::json::Value::Null)
    return "";
  return take<std::string>(instance.params.getString(name, fallback), fallback.str());
}

DataType Layout::type(llvm::StringRef name, llvm::ArrayRef<DataType> types) {
  if (isAbsent(name))
    return types.front();
  std::string given = text(name, "");
  std::vector<std::string> names;
  for (DataType type : types) {
    if (getCaseName(type) == given)
      return type;
    names.push_back(getCaseName(type).str());
  }
  require(false,
          fmt::format("parameter '{}' is '{}'; it must be one of {}", name.str(), given, fmt::join(names, ", ")));
  return types.front();
}

std::vector<int64_t> Layout::list(llvm::StringRef name, int64_t low) {
  return take<std::vector<int64_t>>(instance.params.getInts(name, low), {});
}

std::vector<int64_t> Layout::list(llvm::StringRef name, int64_t low, const std::vector<int64_t> &fallback) {
  if (isAbsent(name))
    return fallback;
  std::vector<int64_t> values = list(name, low);
  if (!failed())
    require(values.size() == fallback.size(), fmt::format("parameter '{}' has {} entries, but there are {} sequences",
                                                          name.str(), values.size(), fallback.size()));
  return failed() ? fallback : values;
}

void Layout::require(bool condition, const std::string &message) {
  if (!condition && fault.empty())
    fault = fmt::format("{}: {}", op, message);
}

void Layout::input(llvm::StringRef name, DataType type, std::vector<int64_t> shape, Span span, int64_t drawUnit) {
  TensorSpec spec{name.str(), type, std::move(shape), span == Span::Whole};
  spec.drawUnit = drawUnit;
  instance.inputs.push_back(std::move(spec));
}

void Layout::output(llvm::StringRef name, DataType type, std::vector<int64_t> shape, Span span, bool isBound) {
  TensorSpec spec{name.str(), type, std::move(shape), span == Span::Whole};
  spec.isBound = isBound;
  instance.outputs.push_back(std::move(spec));
}

void Layout::dims(int64_t rows, Dims model, Dims traffic, Dims optional) {
  instance.rows = rows;
  auto add = [&](Dims dims, std::map<std::string, int64_t> &to) {
    for (auto [name, value] : dims) {
      to[name] = value;
      instance.shapeText += fmt::format("{}{}={}", instance.shapeText.empty() ? "" : " ", name, value);
    }
  };
  add(traffic, instance.trafficDims);
  add(model, instance.modelDims);
  add(optional, instance.modelDims);
  for (auto [name, value] : optional)
    instance.optionalDims.push_back(name);
}

//===----------------------------------------------------------------------===//
// Draw
//===----------------------------------------------------------------------===//

static int64_t lookupDim(const Instance &instance, const char *name) {
  auto it = instance.modelDims.find(name);
  return it != instance.modelDims.end() ? it->second : instance.trafficDims.at(name);
}

int64_t Draw::dim(const char *name) const { return lookupDim(instance, name); }

void Draw::normal(llvm::StringRef tag) const {
  stream(tag.empty() ? llvm::StringRef(spec.name) : tag).fillNormal(uint64_t(first), size_t(count), values);
}

void Draw::half(float factor, llvm::StringRef tag) const {
  normal(tag);
  if (factor == 1)
    return;
  for (int64_t i = 0; i < count; ++i)
    values[i] = roundTo(spec.type, values[i]) * factor;
}

void Draw::scaledRows(int64_t width, llvm::function_ref<float(int64_t)> factor) const {
  normal();
  for (int64_t i = 0; i < count; ++i)
    values[i] *= factor((first + i) / width);
}

float bench::cycleRows(llvm::ArrayRef<float> sizes, int64_t row, int64_t rows) {
  if (rows >= 3 && row == rows - 1)
    return 0;
  return sizes[size_t(row % int64_t(sizes.size()))];
}

std::vector<int64_t> bench::drawPermutation(const RandomStream &stream, int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::vector<uint64_t> words(order.size());
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = stream.getWord(i);
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return words[size_t(a)] != words[size_t(b)] ? words[size_t(a)] < words[size_t(b)] : a < b;
  });
  return order;
}

void bench::softmaxRounded(const float *values, int64_t count, float *out) {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < count; ++i)
    top = std::max(top, double(values[i]));
  std::vector<double> powers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    sum += powers[size_t(i)] = std::exp(double(values[i]) - top);
  for (int64_t i = 0; i < count; ++i)
    out[i] = float(powers[size_t(i)] / sum);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

int64_t Work::dim(const char *name) const { return lookupDim(instance, name); }

int64_t Work::integer(unsigned input, int64_t index) const {
  if (instance.inputs[input].type == DataType::I64)
    return static_cast<const int64_t *>(inputs[input])[index];
  return static_cast<const int32_t *>(inputs[input])[index];
}

void Work::store(unsigned output, int64_t first, int64_t count, const float *values) const {
  DataType type = instance.outputs[output].type;
  encodeFloats(type, values, count, static_cast<char *>(outputs[output]) + first * int64_t(getSizeInBytes(type)));
}

void Work::storeInteger(unsigned output, int64_t index, int64_t value) const {
  static_cast<int32_t *>(outputs[output])[index] = int32_t(value);
}

llvm::Error bench::checkRange(const Work &work, unsigned input, int64_t low, int64_t high) {
  const TensorSpec &spec = work.instance.inputs[input];
  for (int64_t i = 0; i < spec.getElements(); ++i)
    if (int64_t value = work.integer(input, i); value < low || value >= high)
      return makeError(
          fmt::format("input '{}': element {} is {}; it must lie in {} .. {}", spec.name, i, value, low, high - 1));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The wrapper
//===----------------------------------------------------------------------===//

namespace {
class TableOperator : public Operator {
public:
  explicit TableOperator(const OperatorTable &table) : table(table) {}
  llvm::StringRef getName() const override { return table.name; }

  llvm::Expected<Instance> instantiate(const Params &params, InputVariant variant) const override {
    Instance instance;
    instance.params = params;
    Layout layout(instance, table.name, variant != InputVariant::Published);
    table.layOut(layout);
    if (layout.failed())
      return layout.takeError();
    for (const std::vector<TensorSpec> *tensors : {&instance.inputs, &instance.outputs})
      for (const TensorSpec &tensor : *tensors) {
        int64_t bytes = getSizeInBytes(tensor.type);
        for (int64_t extent : tensor.shape)
          if (llvm::MulOverflow(bytes, extent, bytes) || bytes > (int64_t(1) << 46))
            return makeError(fmt::format("{}: tensor '{}' would be larger than 64 TiB; check the parameters {}",
                                         table.name, tensor.name, params.str()));
      }
    return instance;
  }

  llvm::Error validate(const Instance &instance, llvm::ArrayRef<const void *> inputs) const override {
    return table.validate ? table.validate(Work{instance, inputs, {}, instance.rows, 0}) : llvm::Error::success();
  }

  std::vector<std::vector<int64_t>> resolveOutputs(const Instance &instance,
                                                   llvm::ArrayRef<const void *> inputs) const override {
    std::vector<std::vector<int64_t>> shapes = Operator::resolveOutputs(instance, inputs);
    if (table.resolve) {
      std::vector<int64_t> extents = table.resolve(Work{instance, inputs, {}, instance.rows, 0});
      for (size_t i = 0; i < shapes.size(); ++i)
        if (instance.outputs[i].isBound)
          shapes[i].front() = extents[i];
    }
    return shapes;
  }

  void compute(const Instance &instance, llvm::ArrayRef<const void *> inputs, int64_t rows,
               llvm::ArrayRef<void *> outputs, int64_t rowBegin) const override {
    table.compute(Work{instance, inputs, outputs, rows, rowBegin});
  }

protected:
  void draw(const Instance &instance, unsigned input, InputVariant variant, uint64_t seed, int64_t rowBegin,
            int64_t rowEnd, void *out) const override {
    const TensorSpec &spec = instance.inputs[input];
    Draw request{instance, spec, table.name, variant != InputVariant::Published, seed, nullptr};
    std::shared_ptr<const void> plan;
    if (table.plan)
      plan = table.plan(request);
    request.plan = plan.get();
    // Whole units, in blocks that several threads can take.
    int64_t begin = rowBegin * spec.getRowElements(), end = rowEnd * spec.getRowElements();
    int64_t unit = spec.drawUnit ? spec.drawUnit : std::max<int64_t>(1, spec.getElements());
    constexpr int64_t wanted = int64_t(1) << 18;
    int64_t block = std::max<int64_t>(1, wanted / unit) * unit;
    int64_t firstBlock = begin / block, lastBlock = ceilDiv(end, block);
    unsigned bytes = getSizeInBytes(spec.type);
    parallelFor(lastBlock - firstBlock, [&](int64_t index) {
      int64_t blockBegin = (firstBlock + index) * block;
      // Units at the edges are drawn whole and cut.
      int64_t low = std::max(blockBegin, begin / unit * unit);
      int64_t high = std::min({blockBegin + block, ceilDiv(end, unit) * unit, spec.getElements()});
      if (low >= high)
        return;
      Draw part = request;
      part.first = low;
      part.count = high - low;
      int64_t from = std::max(low, begin), to = std::min(high, end);
      char *target = static_cast<char *>(out) + (from - begin) * bytes;
      if (isFloat(spec.type)) {
        std::vector<float> values(static_cast<size_t>(part.count));
        part.values = values.data();
        table.draw(part);
        encodeFloats(spec.type, values.data() + (from - low), to - from, target);
        return;
      }
      std::vector<int64_t> integers(static_cast<size_t>(part.count));
      part.integers = integers.data();
      table.draw(part);
      for (int64_t i = from; i < to; ++i) {
        int64_t value = integers[size_t(i - low)];
        if (spec.type == DataType::I64)
          reinterpret_cast<int64_t *>(target)[i - from] = value;
        else
          reinterpret_cast<int32_t *>(target)[i - from] = int32_t(value);
      }
    });
  }

private:
  OperatorTable table;
};
} // namespace

std::unique_ptr<Operator> bench::makeOperator(const OperatorTable &table) {
  return std::make_unique<TableOperator>(table);
}
