//===- Manifest.cpp - What a host must know to launch a kernel ------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Runtime/Manifest.h"
#include "atrex/Support/Json.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace atrex;
namespace json = llvm::json;

static constexpr llvm::StringLiteral schemaName = "atrex-mlir/manifest/1";

static llvm::Error makeError(const std::string &message) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), "%s", message.c_str());
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static llvm::StringRef getKindName(ManifestArg::Kind kind) {
  switch (kind) {
  case ManifestArg::Kind::Tensor:
    return "tensor";
  case ManifestArg::Kind::Dim:
    return "dim";
  case ManifestArg::Kind::Scalar:
    return "scalar";
  }
  return "";
}

/// JSON has no infinities and no NaN; they are written as text.
static json::Value numberToJSON(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return value;
}

static json::Value argToJSON(const ManifestArg &arg) {
  json::Object object{{"kind", getKindName(arg.kind)},
                      {"name", arg.name},
                      {"type", getName(arg.type)},
                      {"offset", int64_t(arg.offset)},
                      {"size", int64_t(arg.size)}};
  if (arg.kind == ManifestArg::Kind::Tensor) {
    json::Array shape;
    for (const DimExpr &extent : arg.shape)
      shape.push_back(extent.str());
    object["shape"] = std::move(shape);
    object["output"] = arg.isOutput;
    if (arg.isWorkspace)
      object["workspace"] = true;
    if (arg.tileDim >= 0) {
      json::Object tile{{"dim", arg.tileDim}, {"extent", arg.tileExtent.str()}};
      if (arg.tileAxis != 0)
        tile["axis"] = int64_t(arg.tileAxis);
      object["tile"] = std::move(tile);
    }
    if (arg.rowAxes)
      object["row_axes"] = json::Array(*arg.rowAxes);
  }
  if (arg.value)
    object["value"] = arg.value->str();
  if (arg.defaultValue)
    object[arg.isConstant ? "value" : "default"] = numberToJSON(*arg.defaultValue);
  return object;
}

/// Numbers as numbers, element types as texts.
static json::Object knobsToJSON(const std::map<std::string, std::string> &knobs) {
  json::Object object;
  for (const auto &[name, value] : knobs) {
    int64_t number;
    object[name] = llvm::StringRef(value).getAsInteger(10, number) ? json::Value(value) : json::Value(number);
  }
  return object;
}

json::Value Manifest::toJSON() const {
  json::Object fixed;
  for (const auto &[name, value] : constants)
    fixed[name] = value;
  json::Array conditions;
  for (const ManifestConstraint &constraint : constraints)
    conditions.push_back(
        json::Object{{"lhs", constraint.lhs.str()}, {"op", constraint.op}, {"rhs", constraint.rhs.str()}});
  json::Array launches;
  for (const ManifestKernel &kernel : kernels) {
    json::Array args, grid, workgroup;
    for (const ManifestArg &arg : kernel.args)
      args.push_back(argToJSON(arg));
    for (unsigned axis = 0; axis < 3; ++axis) {
      grid.push_back(kernel.grid[axis].str());
      workgroup.push_back(int64_t(kernel.workgroup[axis]));
    }
    launches.push_back(json::Object{{"name", kernel.name},
                                    {"workgroup", std::move(workgroup)},
                                    {"grid", std::move(grid)},
                                    {"kernarg_bytes", int64_t(kernel.kernargBytes)},
                                    {"dynamic_lds_bytes", int64_t(kernel.dynamicLdsBytes)},
                                    {"args", std::move(args)}});
    if (kernel.feeds)
      (*launches.back().getAsObject())["feeds"] = int64_t(kernel.feeds);
    if (!kernel.knobs.empty())
      (*launches.back().getAsObject())["knobs"] = knobsToJSON(kernel.knobs);
  }
  return json::Object{{"schema", schemaName},
                      {"op", op},
                      {"arch", arch},
                      {"compiler", compiler},
                      {"source_hash", sourceHash},
                      {"schedule_hash", scheduleHash},
                      {"code_object_hash", codeObjectHash},
                      {"schedule", schedule},
                      {"constants", std::move(fixed)},
                      {"knobs", knobsToJSON(knobs)},
                      {"runtime_dims", json::Array(runtimeDims)},
                      {"constraints", std::move(conditions)},
                      {"kernels", std::move(launches)}};
}

std::string Manifest::toText() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::formatv("{0:2}", toJSON()) << "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Reads a JSON tree. The first fault is kept with its path; later calls are
/// harmless no-ops, so that readers need not check after every field.
class Reader {
public:
  bool failed() const { return !message.empty(); }
  llvm::Error takeError() const { return makeError("malformed manifest: " + message); }

  void fail(const std::string &where, const std::string &what) {
    if (message.empty())
      message = where + ": " + what;
  }

  const json::Value *getField(const json::Object &object, const std::string &where, llvm::StringRef key) {
    const json::Value *value = object.get(key);
    if (!value)
      fail(where, fmt::format("field '{}' is missing", key.str()));
    return value;
  }

  std::string getString(const json::Object &object, const std::string &where, llvm::StringRef key) {
    if (const json::Value *value = getField(object, where, key)) {
      if (std::optional<llvm::StringRef> text = value->getAsString())
        return text->str();
      fail(where, fmt::format("field '{}' must be a string", key.str()));
    }
    return "";
  }

  int64_t checkRange(const json::Value &value, const std::string &where, int64_t low, int64_t high) {
    std::optional<int64_t> number = value.getAsInteger();
    if (!number || *number < low || *number > high) {
      fail(where, fmt::format("must be an integer from {} to {}", low, high));
      return low;
    }
    return *number;
  }

  int64_t getInteger(const json::Object &object, const std::string &where, llvm::StringRef key, int64_t low,
                     int64_t high) {
    if (const json::Value *value = getField(object, where, key))
      return checkRange(*value, where + "." + key.str(), low, high);
    return low;
  }

  const json::Array &getArray(const json::Object &object, const std::string &where, llvm::StringRef key) {
    static const json::Array empty;
    if (const json::Value *value = getField(object, where, key)) {
      if (const json::Array *array = value->getAsArray())
        return *array;
      fail(where, fmt::format("field '{}' must be an array", key.str()));
    }
    return empty;
  }

  const json::Object &getObject(const json::Value &value, const std::string &where) {
    static const json::Object empty;
    if (const json::Object *object = value.getAsObject())
      return *object;
    fail(where, "must be an object");
    return empty;
  }

  DimExpr parseExpr(llvm::StringRef text, const std::string &where) {
    llvm::Expected<DimExpr> expr = DimExpr::parse(text);
    if (expr)
      return *expr;
    fail(where, llvm::toString(expr.takeError()));
    return DimExpr();
  }

  DimExpr getExpr(const json::Value &value, const std::string &where) {
    if (std::optional<int64_t> number = value.getAsInteger())
      return DimExpr::constant(*number);
    if (std::optional<llvm::StringRef> text = value.getAsString())
      return parseExpr(*text, where);
    fail(where, "must be an expression over dimensions, as text");
    return DimExpr();
  }

  ManifestArg readArg(const json::Value &value, const std::string &where);
  std::map<std::string, std::string> readKnobs(const json::Object &object, const std::string &where);
  ManifestKernel readKernel(const json::Value &value, const std::string &where);

private:
  std::string message;
};
} // namespace

ManifestArg Reader::readArg(const json::Value &value, const std::string &where) {
  const json::Object &object = getObject(value, where);
  ManifestArg arg;
  std::string kind = getString(object, where, "kind");
  if (kind == "dim")
    arg.kind = ManifestArg::Kind::Dim;
  else if (kind == "scalar")
    arg.kind = ManifestArg::Kind::Scalar;
  else if (kind != "tensor")
    fail(where, fmt::format("kind '{}' is not one of tensor, dim, scalar", kind));
  arg.name = getString(object, where, "name");
  std::string type = getString(object, where, "type");
  if (std::optional<DataType> parsed = parseDataType(type))
    arg.type = *parsed;
  else
    fail(where, fmt::format("unknown type '{}'", type));
  arg.offset = uint32_t(getInteger(object, where, "offset", 0, std::numeric_limits<uint32_t>::max()));
  int64_t expectedSize = arg.kind == ManifestArg::Kind::Scalar ? getSizeInBytes(arg.type) : 8;
  arg.size = uint32_t(getInteger(object, where, "size", expectedSize, expectedSize));
  if (arg.size != 0 && arg.offset % arg.size != 0)
    fail(where, fmt::format("offset {} is not a multiple of the size {}", arg.offset, arg.size));
  if (arg.kind == ManifestArg::Kind::Tensor) {
    for (const auto &[i, extent] : llvm::enumerate(getArray(object, where, "shape")))
      arg.shape.push_back(getExpr(extent, fmt::format("{}.shape[{}]", where, i)));
    if (const json::Value *output = getField(object, where, "output")) {
      if (std::optional<bool> flag = output->getAsBoolean())
        arg.isOutput = *flag;
      else
        fail(where, "field 'output' must be true or false");
    }
    if (const json::Value *tile = object.get("tile")) {
      std::string tileWhere = where + ".tile";
      const json::Object &tileObject = getObject(*tile, tileWhere);
      if (arg.shape.empty())
        fail(tileWhere, "a tensor without dimensions cannot be tiled");
      else
        arg.tileDim = int(getInteger(tileObject, tileWhere, "dim", 0, int64_t(arg.shape.size()) - 1));
      if (const json::Value *extent = getField(tileObject, tileWhere, "extent"))
        arg.tileExtent = getExpr(*extent, tileWhere + ".extent");
      if (tileObject.get("axis"))
        arg.tileAxis = unsigned(getInteger(tileObject, tileWhere, "axis", 0, 2));
    }
  }
  if (object.get("row_axes")) {
    arg.rowAxes.emplace();
    for (const auto &[i, axis] : llvm::enumerate(getArray(object, where, "row_axes")))
      arg.rowAxes->push_back(unsigned(checkRange(axis, fmt::format("{}.row_axes[{}]", where, i), 0, 2)));
  }
  if (const json::Value *flag = object.get("workspace")) {
    arg.isWorkspace = flag->getAsBoolean().value_or(false);
    if (arg.kind != ManifestArg::Kind::Tensor || !flag->getAsBoolean())
      fail(where, "field 'workspace' must be true or false and belongs to tensors");
    if (arg.isWorkspace && arg.isOutput)
      fail(where, "a workspace is no output");
  }
  const json::Value *bound = object.get("value");
  if (bound && arg.kind == ManifestArg::Kind::Dim)
    arg.value = getExpr(*bound, where + ".value");
  else if (bound && arg.kind == ManifestArg::Kind::Tensor)
    fail(where, "field 'value' belongs to dimensions and scalars");
  else
    arg.isConstant = bound;
  if (const json::Value *defaultValue = arg.isConstant ? bound : object.get("default")) {
    if (std::optional<double> number = defaultValue->getAsNumber())
      arg.defaultValue = *number;
    else if (*defaultValue == json::Value("nan"))
      arg.defaultValue = std::numeric_limits<double>::quiet_NaN();
    else if (*defaultValue == json::Value("inf"))
      arg.defaultValue = std::numeric_limits<double>::infinity();
    else if (*defaultValue == json::Value("-inf"))
      arg.defaultValue = -std::numeric_limits<double>::infinity();
    else
      fail(where, fmt::format("field '{}' must be a number, \"inf\", \"-inf\" or \"nan\"",
                              arg.isConstant ? "value" : "default"));
  }
  return arg;
}

std::map<std::string, std::string> Reader::readKnobs(const json::Object &object, const std::string &where) {
  std::map<std::string, std::string> knobs;
  // Older manifests do not tell.
  const json::Value *field = object.get("knobs");
  if (!field)
    return knobs;
  for (const auto &[key, value] : getObject(*field, where + ".knobs")) {
    if (std::optional<int64_t> number = value.getAsInteger())
      knobs[key.str()] = std::to_string(*number);
    else if (std::optional<llvm::StringRef> text = value.getAsString())
      knobs[key.str()] = text->str();
    else
      fail(where + ".knobs." + key.str(), "must be an integer or a string");
  }
  return knobs;
}

ManifestKernel Reader::readKernel(const json::Value &value, const std::string &where) {
  const json::Object &object = getObject(value, where);
  ManifestKernel kernel;
  kernel.name = getString(object, where, "name");
  const json::Array &workgroup = getArray(object, where, "workgroup");
  const json::Array &grid = getArray(object, where, "grid");
  if (workgroup.size() != 3 || grid.size() != 3)
    fail(where, "fields 'workgroup' and 'grid' must have three elements");
  for (unsigned axis = 0; axis < 3 && !failed(); ++axis) {
    kernel.workgroup[axis] =
        uint32_t(checkRange(workgroup[axis], fmt::format("{}.workgroup[{}]", where, axis), 1, 1024));
    kernel.grid[axis] = getExpr(grid[axis], fmt::format("{}.grid[{}]", where, axis));
  }
  kernel.knobs = readKnobs(object, where);
  kernel.kernargBytes = uint32_t(getInteger(object, where, "kernarg_bytes", 0, 1 << 20));
  kernel.dynamicLdsBytes = uint32_t(getInteger(object, where, "dynamic_lds_bytes", 0, 1 << 20));
  if (object.get("feeds"))
    kernel.feeds = uint32_t(getInteger(object, where, "feeds", 1, 1 << 20));
  uint64_t end = 0;
  for (const auto &[i, entry] : llvm::enumerate(getArray(object, where, "args"))) {
    std::string argWhere = fmt::format("{}.args[{}]", where, i);
    ManifestArg arg = readArg(entry, argWhere);
    if (!failed() && arg.offset < end)
      fail(argWhere, fmt::format("offset {} lies inside the argument before it, which ends at {}", arg.offset, end));
    end = uint64_t(arg.offset) + arg.size;
    if (!failed() && end > kernel.kernargBytes)
      fail(argWhere,
           fmt::format("ends at byte {}, beyond the {} bytes of the argument segment", end, kernel.kernargBytes));
    kernel.args.push_back(std::move(arg));
  }
  return kernel;
}

llvm::Expected<Manifest> Manifest::fromText(llvm::StringRef text) {
  llvm::Expected<json::Value> tree = parseJson(text);
  if (!tree)
    return makeError("malformed manifest: " + llvm::toString(tree.takeError()));
  Reader reader;
  const json::Object &object = reader.getObject(*tree, "manifest");
  std::string schema = reader.getString(object, "manifest", "schema");
  if (schema != schemaName)
    reader.fail("manifest", fmt::format("schema is '{}', this build reads '{}'", schema, schemaName.str()));
  Manifest manifest;
  manifest.op = reader.getString(object, "manifest", "op");
  manifest.arch = reader.getString(object, "manifest", "arch");
  manifest.compiler = reader.getString(object, "manifest", "compiler");
  manifest.sourceHash = reader.getString(object, "manifest", "source_hash");
  manifest.scheduleHash = reader.getString(object, "manifest", "schedule_hash");
  manifest.codeObjectHash = reader.getString(object, "manifest", "code_object_hash");
  manifest.schedule = reader.getString(object, "manifest", "schedule");
  if (const json::Value *constants = reader.getField(object, "manifest", "constants"))
    for (const auto &[key, value] : reader.getObject(*constants, "constants"))
      manifest.constants[key.str()] =
          reader.checkRange(value, "constants." + key.str(), 1, std::numeric_limits<int64_t>::max());
  manifest.knobs = reader.readKnobs(object, "manifest");
  for (const auto &[i, value] : llvm::enumerate(reader.getArray(object, "manifest", "runtime_dims"))) {
    if (std::optional<llvm::StringRef> name = value.getAsString())
      manifest.runtimeDims.push_back(name->str());
    else
      reader.fail(fmt::format("runtime_dims[{}]", i), "must be a string");
  }
  for (const auto &[i, value] : llvm::enumerate(reader.getArray(object, "manifest", "constraints"))) {
    std::string where = fmt::format("constraints[{}]", i);
    const json::Object &condition = reader.getObject(value, where);
    ManifestConstraint constraint;
    constraint.lhs = reader.parseExpr(reader.getString(condition, where, "lhs"), where + ".lhs");
    constraint.rhs = reader.parseExpr(reader.getString(condition, where, "rhs"), where + ".rhs");
    constraint.op = reader.getString(condition, where, "op");
    if (!llvm::is_contained({"==", "!=", "<", "<=", ">", ">="}, constraint.op))
      reader.fail(where, fmt::format("operator '{}' is not one of == != < <= > >=", constraint.op));
    manifest.constraints.push_back(std::move(constraint));
  }
  for (const auto &[i, value] : llvm::enumerate(reader.getArray(object, "manifest", "kernels")))
    manifest.kernels.push_back(reader.readKernel(value, fmt::format("kernels[{}]", i)));
  if (reader.failed())
    return reader.takeError();
  return manifest;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

llvm::Expected<DimMap> atrex::resolveDims(const Manifest &manifest, const DimMap &dims) {
  DimMap result;
  for (const auto &[name, value] : manifest.constants)
    result[name] = value;
  // Report unknown names in a stable order.
  std::map<std::string, int64_t> given;
  for (const auto &entry : dims)
    given[entry.getKey().str()] = entry.getValue();
  for (const auto &[name, value] : given) {
    auto fixed = manifest.constants.find(name);
    if (fixed != manifest.constants.end()) {
      if (fixed->second != value)
        return makeError(fmt::format("{}: dimension '{}' is {}, but the code object was compiled for {} = {}; compile "
                                     "it again with that value",
                                     manifest.op, name, value, name, fixed->second));
      continue;
    }
    if (!llvm::is_contained(manifest.runtimeDims, name))
      return makeError(
          fmt::format("{}: unknown dimension '{}'; the run-time dimensions are: {}", manifest.op, name,
                      manifest.runtimeDims.empty() ? std::string("none") : llvm::join(manifest.runtimeDims, ", ")));
    result[name] = value;
  }
  for (const std::string &name : manifest.runtimeDims) {
    auto found = result.find(name);
    if (found == result.end())
      return makeError(fmt::format("{}: dimension '{}' is missing; give it a value", manifest.op, name));
    if (found->second <= 0)
      return makeError(
          fmt::format("{}: dimension '{}' is {}; it must be at least 1", manifest.op, name, found->second));
  }
  for (const ManifestConstraint &constraint : manifest.constraints) {
    llvm::Expected<bool> holds = constraint.evaluate(result);
    if (!holds)
      return holds.takeError();
    if (!*holds)
      return makeError(fmt::format("{}: constraint '{}' does not hold for {}", manifest.op, constraint.str(),
                                   constraint.describeDims(result)));
  }
  return result;
}

/// Stores `value` as `type` at `out`.
static llvm::Error storeScalar(DataType type, double value, uint8_t *out, const std::string &name) {
  auto store = [&](auto bits) {
    std::memcpy(out, &bits, sizeof(bits));
    return llvm::Error::success();
  };
  // Integers: exact, and inside the type.
  auto storeInteger = [&](auto zero) -> llvm::Error {
    using Integer = decltype(zero);
    double low = double(std::numeric_limits<Integer>::min());
    // One past the largest value is a power of two and exact.
    double high = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
    if (!(value >= low && value < high) || std::trunc(value) != value)
      return makeError(fmt::format("scalar '{}': {} is not a value of type {}", name, value, getName(type).str()));
    return store(Integer(value));
  };
  switch (type) {
  case DataType::I1:
    if (value != 0 && value != 1)
      return makeError(fmt::format("scalar '{}': {} is not a value of type i1", name, value));
    return store(uint8_t(value));
  case DataType::I8:
    return storeInteger(int8_t());
  case DataType::I16:
    return storeInteger(int16_t());
  case DataType::I32:
    return storeInteger(int32_t());
  case DataType::I64:
    return storeInteger(int64_t());
  case DataType::U8:
    return storeInteger(uint8_t());
  case DataType::U32:
    return storeInteger(uint32_t());
  case DataType::BF16:
    return store(convertToBF16(float(value)));
  case DataType::F16:
    return store(convertToF16(float(value)));
  case DataType::F32:
    return store(float(value));
  case DataType::F64:
    return store(value);
  case DataType::E4M3FN:
    return store(convertToE4M3FN(float(value)));
  case DataType::E4M3FNUZ:
    return store(convertToE4M3FNUZ(float(value)));
  case DataType::E5M2:
  case DataType::E5M2FNUZ:
  case DataType::E2M1FN:
  case DataType::E2M3FN:
  case DataType::E3M2FN:
    break;
  }
  return makeError(fmt::format("scalar '{}': type {} cannot be passed by value", name, getName(type).str()));
}

llvm::Expected<std::vector<uint8_t>> atrex::packArguments(const Manifest &manifest, const ManifestKernel &kernel,
                                                          const LaunchArguments &arguments) {
  llvm::Expected<DimMap> dims = resolveDims(manifest, arguments.dims);
  if (!dims)
    return dims.takeError();
  std::set<std::string> scalarNames;
  for (const ManifestKernel &other : manifest.kernels)
    for (const ManifestArg &arg : other.args)
      if (arg.kind == ManifestArg::Kind::Scalar && !arg.isConstant)
        scalarNames.insert(arg.name);
  std::set<std::string> unknown;
  for (const auto &entry : arguments.scalars)
    if (!scalarNames.count(entry.getKey().str()))
      unknown.insert(entry.getKey().str());
  if (!unknown.empty())
    return makeError(fmt::format("{}: unknown scalar '{}'; the operator takes: {}", manifest.op, *unknown.begin(),
                                 scalarNames.empty() ? std::string("none") : llvm::join(scalarNames, ", ")));

  std::vector<uint8_t> kernarg(kernel.kernargBytes, 0);
  for (const auto &[index, arg] : llvm::enumerate(kernel.args)) {
    if (uint64_t(arg.offset) + arg.size > kernarg.size())
      return makeError(fmt::format("kernel '{}': argument '{}' ends at byte {}, beyond the {} bytes of the argument "
                                   "segment",
                                   kernel.name, arg.name, uint64_t(arg.offset) + arg.size, kernarg.size()));
    uint8_t *out = kernarg.data() + arg.offset;
    switch (arg.kind) {
    case ManifestArg::Kind::Tensor: {
      uint64_t address = index < arguments.tensors.size() ? arguments.tensors[index] : 0;
      if (address == 0)
        return makeError(
            fmt::format("kernel '{}': tensor argument {} ('{}') has no address", kernel.name, size_t(index), arg.name));
      if (arg.size != sizeof(address))
        return makeError(fmt::format("kernel '{}': tensor argument '{}' has {} bytes instead of 8", kernel.name,
                                     arg.name, arg.size));
      std::memcpy(out, &address, sizeof(address));
      break;
    }
    case ManifestArg::Kind::Dim: {
      llvm::Expected<int64_t> bound = arg.value.value_or(DimExpr::dim(arg.name)).evaluate(*dims);
      if (!bound)
        return makeError(fmt::format("kernel '{}': dimension argument '{}': {}", kernel.name, arg.name,
                                     llvm::toString(bound.takeError())));
      int64_t value = *bound;
      if (arg.size != sizeof(value))
        return makeError(fmt::format("kernel '{}': dimension argument '{}' has {} bytes instead of 8", kernel.name,
                                     arg.name, arg.size));
      std::memcpy(out, &value, sizeof(value));
      break;
    }
    case ManifestArg::Kind::Scalar: {
      std::optional<double> value = arg.defaultValue;
      auto found = arguments.scalars.find(arg.name);
      if (found != arguments.scalars.end() && !arg.isConstant)
        value = found->second;
      if (!value)
        return makeError(
            fmt::format("kernel '{}': scalar '{}' has no value and no default; give it one", kernel.name, arg.name));
      if (arg.size != getSizeInBytes(arg.type))
        return makeError(fmt::format("kernel '{}': scalar '{}' has {} bytes, but {} has {}", kernel.name, arg.name,
                                     arg.size, getName(arg.type).str(), getSizeInBytes(arg.type)));
      if (llvm::Error error = storeScalar(arg.type, *value, out, arg.name))
        return std::move(error);
      break;
    }
    }
  }
  return kernarg;
}

llvm::Expected<std::array<uint32_t, 3>> atrex::evaluateGrid(const ManifestKernel &kernel, const DimMap &dims) {
  std::array<uint32_t, 3> grid = {};
  for (unsigned axis = 0; axis < 3; ++axis) {
    llvm::Expected<int64_t> count = kernel.grid[axis].evaluate(dims);
    if (!count)
      return makeError(
          fmt::format("kernel '{}': grid axis {}: {}", kernel.name, "xyz"[axis], llvm::toString(count.takeError())));
    if (*count < 1)
      return makeError(fmt::format("kernel '{}': grid axis {}: '{}' is {}; it must be at least 1", kernel.name,
                                   "xyz"[axis], kernel.grid[axis].str(), int64_t(*count)));
    constexpr int64_t maxWorkItems = std::numeric_limits<uint32_t>::max();
    if (*count > maxWorkItems / int64_t(std::max<uint32_t>(kernel.workgroup[axis], 1)))
      return makeError(fmt::format("kernel '{}': grid axis {}: {} workgroups of {} exceed the 2^32 - 1 work-items that "
                                   "a launch can have per axis",
                                   kernel.name, "xyz"[axis], int64_t(*count), kernel.workgroup[axis]));
    grid[axis] = uint32_t(*count);
  }
  return grid;
}

llvm::Expected<std::vector<ManifestArg>> atrex::getWorkspaces(const Manifest &manifest) {
  std::vector<ManifestArg> workspaces;
  for (const ManifestKernel &kernel : manifest.kernels)
    for (const ManifestArg &arg : kernel.args) {
      if (!arg.isWorkspace)
        continue;
      auto known = llvm::find_if(workspaces, [&](const ManifestArg &other) { return other.name == arg.name; });
      if (known == workspaces.end())
        workspaces.push_back(arg);
      else if (known->type != arg.type || known->shape != arg.shape)
        return makeError(
            fmt::format("kernel '{}': workspace '{}' has another type or shape than in the launches before",
                        kernel.name, arg.name));
    }
  return workspaces;
}

llvm::Expected<std::vector<int64_t>> atrex::evaluateShape(const ManifestArg &arg, const DimMap &dims) {
  std::vector<int64_t> shape;
  int64_t bytes = getSizeInBytes(arg.type);
  for (const auto &[axis, expr] : llvm::enumerate(arg.shape)) {
    llvm::Expected<int64_t> extent = expr.evaluate(dims);
    if (!extent)
      return makeError(
          fmt::format("tensor '{}': dimension {}: {}", arg.name, size_t(axis), llvm::toString(extent.takeError())));
    if (*extent < 0)
      return makeError(fmt::format("tensor '{}': dimension {}: '{}' is {}; it must not be negative", arg.name,
                                   size_t(axis), expr.str(), int64_t(*extent)));
    shape.push_back(*extent);
    if (llvm::MulOverflow(bytes, *extent, bytes))
      return makeError(
          fmt::format("tensor '{}': its size in bytes overflows 64 bits at dimension {}", arg.name, size_t(axis)));
  }
  return shape;
}

llvm::Expected<uint64_t> atrex::evaluateBytes(const ManifestArg &arg, const DimMap &dims) {
  llvm::Expected<std::vector<int64_t>> shape = evaluateShape(arg, dims);
  if (!shape)
    return shape.takeError();
  uint64_t elements = 1;
  for (int64_t extent : *shape)
    elements *= uint64_t(extent);
  return getSizeInBytes(arg.type, elements);
}
