//===- Catalogue.cpp - Operators and shapes -------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Bench/Catalogue.h"
#include "atrex/Bench/Embedded.h"
#include "atrex/Support/Json.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace atrex;
using namespace atrex::bench;
namespace json = llvm::json;

llvm::Error bench::makeError(const std::string &message) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), "%s", message.c_str());
}

//===----------------------------------------------------------------------===//
// Params
//===----------------------------------------------------------------------===//

static constexpr int64_t maxParameter = int64_t(1) << 40;

llvm::Expected<int64_t> Params::getInt(llvm::StringRef name) const {
  const json::Value *value = values.get(name);
  if (!value)
    return makeError(fmt::format("{}: parameter '{}' is missing", owner, name.str()));
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < 1 || *number > maxParameter)
    return makeError(fmt::format("{}: parameter '{}' must be an integer from 1 to 2^40", owner, name.str()));
  return *number;
}

llvm::Expected<double> Params::getNumber(llvm::StringRef name, double fallback) const {
  const json::Value *value = values.get(name);
  if (!value)
    return fallback;
  if (std::optional<double> number = value->getAsNumber())
    return *number;
  return makeError(fmt::format("{}: parameter '{}' must be a number", owner, name.str()));
}

llvm::Expected<bool> Params::getBool(llvm::StringRef name, bool fallback) const {
  const json::Value *value = values.get(name);
  if (!value)
    return fallback;
  if (std::optional<bool> flag = value->getAsBoolean())
    return *flag;
  return makeError(fmt::format("{}: parameter '{}' must be true or false", owner, name.str()));
}

llvm::Expected<std::string> Params::getString(llvm::StringRef name, llvm::StringRef fallback) const {
  const json::Value *value = values.get(name);
  if (!value)
    return fallback.str();
  if (std::optional<llvm::StringRef> text = value->getAsString())
    return text->str();
  return makeError(fmt::format("{}: parameter '{}' must be a string", owner, name.str()));
}

llvm::Expected<std::vector<int64_t>> Params::getInts(llvm::StringRef name, int64_t low) const {
  auto fail = [&] {
    return makeError(
        fmt::format("{}: parameter '{}' must be a list of integers from {} to 2^40", owner, name.str(), low));
  };
  const json::Value *value = values.get(name);
  if (!value)
    return makeError(fmt::format("{}: parameter '{}' is missing", owner, name.str()));
  std::vector<int64_t> result;
  auto isInRange = [&](std::optional<int64_t> number, int64_t least) {
    return number && *number >= least && *number <= maxParameter;
  };
  if (const json::Array *array = value->getAsArray()) {
    for (const json::Value &entry : *array) {
      std::optional<int64_t> number = entry.getAsInteger();
      if (!isInRange(number, low))
        return fail();
      result.push_back(*number);
    }
    return result;
  }
  const json::Object *object = value->getAsObject();
  const json::Array *runs = object ? object->getArray("rle") : nullptr;
  if (!runs)
    return fail();
  for (const json::Value &entry : *runs) {
    const json::Array *pair = entry.getAsArray();
    if (!pair || pair->size() != 2)
      return fail();
    std::optional<int64_t> number = (*pair)[0].getAsInteger(), count = (*pair)[1].getAsInteger();
    if (!isInRange(number, low) || !isInRange(count, 1) || result.size() + size_t(*count) > (size_t(1) << 24))
      return fail();
    result.insert(result.end(), size_t(*count), *number);
  }
  return result;
}

std::string Params::str() const {
  std::vector<std::string> parts;
  for (const auto &[key, value] : values) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (std::optional<double> number = value.getAsNumber(); number && !value.getAsInteger())
      stream << fmt::format("{}", *number);
    else
      stream << value;
    parts.push_back(key.str() + "=" + (value.getAsString() ? value.getAsString()->str() : text));
  }
  llvm::sort(parts);
  return llvm::join(parts, " ");
}

//===----------------------------------------------------------------------===//
// Catalogue
//===----------------------------------------------------------------------===//

const CatalogueShape *CatalogueOperator::lookupShape(int64_t id) const {
  for (const CatalogueShape &shape : shapes)
    if (shape.id == id)
      return &shape;
  return nullptr;
}

Params CatalogueOperator::makeParams(const json::Object &given) const {
  json::Object merged = defaults;
  for (const auto &[key, value] : given)
    merged[key] = value;
  return Params(name, std::move(merged));
}

namespace {
/// Reads the fields of a catalogue file; keeps the first fault.
class Reader {
public:
  explicit Reader(llvm::StringRef file) : file(file) {}

  void fail(const std::string &what) {
    if (message.empty())
      message = fmt::format("catalogue file '{}': {}", file.str(), what);
  }
  bool failed() const { return !message.empty(); }
  llvm::Error takeError() const { return makeError(message); }

  std::string getString(const json::Object &object, llvm::StringRef key) {
    if (std::optional<llvm::StringRef> text = object.getString(key))
      return text->str();
    fail(fmt::format("field '{}' must be a string", key.str()));
    return "";
  }
  double getNumber(const json::Object &object, llvm::StringRef key) {
    if (std::optional<double> number = object.getNumber(key))
      return *number;
    fail(fmt::format("field '{}' must be a number", key.str()));
    return 0;
  }
  const json::Object &getObject(const json::Object &object, llvm::StringRef key) {
    static const json::Object empty;
    if (const json::Object *value = object.getObject(key))
      return *value;
    fail(fmt::format("field '{}' must be an object", key.str()));
    return empty;
  }
  std::map<std::string, double> getNumbers(const json::Object &object, llvm::StringRef key) {
    std::map<std::string, double> result;
    const json::Object &numbers = getObject(object, key);
    for (const auto &[name, value] : numbers) {
      if (std::optional<double> number = value.getAsNumber())
        result[name.str()] = *number;
      else
        fail(fmt::format("field '{}.{}' must be a number", key.str(), name.str()));
    }
    return result;
  }

private:
  llvm::StringRef file;
  std::string message;
};
} // namespace

llvm::Expected<CatalogueOperator> Catalogue::parse(llvm::StringRef text, llvm::StringRef fileName) {
  Reader reader(fileName);
  llvm::Expected<json::Value> tree = parseJson(text);
  if (!tree) {
    reader.fail(llvm::toString(tree.takeError()));
    return reader.takeError();
  }
  const json::Object *object = tree->getAsObject();
  if (!object) {
    reader.fail("must hold a JSON object");
    return reader.takeError();
  }
  CatalogueOperator op;
  if (reader.getString(*object, "schema") != "atrex-mlir/bench-catalogue/1")
    reader.fail("schema must be 'atrex-mlir/bench-catalogue/1'");
  op.name = reader.getString(*object, "name");
  op.id = reader.getString(*object, "id");
  op.phase = reader.getString(*object, "phase");
  op.importance = reader.getNumber(*object, "importance");
  op.dtype = reader.getString(*object, "dtype");
  op.defaults = reader.getObject(*object, "defaults");
  auto readTensors = [&](llvm::StringRef key) {
    std::vector<std::pair<std::string, std::string>> result;
    const json::Array *pairs = object->getArray(key);
    if (!pairs) {
      reader.fail(fmt::format("field '{}' must be an array of [name, type]", key.str()));
      return result;
    }
    for (const json::Value &entry : *pairs) {
      const json::Array *pair = entry.getAsArray();
      std::optional<llvm::StringRef> name, type;
      if (pair && pair->size() == 2) {
        name = (*pair)[0].getAsString();
        type = (*pair)[1].getAsString();
      }
      if (name && type)
        result.emplace_back(name->str(), type->str());
      else
        reader.fail(fmt::format("field '{}' must be an array of [name, type]", key.str()));
    }
    return result;
  };
  op.inputs = readTensors("inputs");
  op.outputs = readTensors("outputs");
  const json::Array *shapes = object->getArray("shapes");
  if (!shapes)
    reader.fail("field 'shapes' must be an array");
  else
    for (const json::Value &entry : *shapes) {
      const json::Object *shapeObject = entry.getAsObject();
      if (!shapeObject) {
        reader.fail("every shape must be an object");
        break;
      }
      CatalogueShape shape;
      shape.id = int64_t(reader.getNumber(*shapeObject, "id"));
      shape.params = op.makeParams(reader.getObject(*shapeObject, "params"));
      shape.flops = reader.getNumber(*shapeObject, "flops");
      shape.readBytes = reader.getNumber(*shapeObject, "read_bytes");
      shape.writeBytes = reader.getNumber(*shapeObject, "write_bytes");
      shape.solMs = reader.getNumbers(*shapeObject, "sol_ms");
      shape.productionUs = reader.getNumbers(*shapeObject, "production_us");
      if (shapeObject->get("realised"))
        shape.realised = reader.getNumbers(*shapeObject, "realised");
      op.shapes.push_back(std::move(shape));
    }
  if (reader.failed())
    return reader.takeError();
  return op;
}

llvm::Expected<Catalogue> Catalogue::load() {
  Catalogue catalogue;
  for (const EmbeddedFile &file : getEmbeddedCatalogue()) {
    llvm::Expected<CatalogueOperator> op = parse(file.text, file.name);
    if (!op)
      return op.takeError();
    catalogue.operators.push_back(std::move(*op));
  }
  llvm::sort(catalogue.operators,
             [](const CatalogueOperator &a, const CatalogueOperator &b) { return a.name < b.name; });
  return catalogue;
}

llvm::Expected<const CatalogueOperator *> Catalogue::lookup(llvm::StringRef name) const {
  std::vector<std::string> names;
  for (const CatalogueOperator &op : operators) {
    if (op.name == name)
      return &op;
    names.push_back(op.name);
  }
  std::string nearest = findNearest(name, names);
  return makeError(fmt::format("unknown operator '{}'{}", name.str(),
                               nearest.empty() ? std::string("; 'atrex-bench-mlir list' shows all operators")
                                               : fmt::format("; did you mean '{}'?", nearest)));
}

size_t Catalogue::getShapeCount() const {
  size_t count = 0;
  for (const CatalogueOperator &op : operators)
    count += op.shapes.size();
  return count;
}

double Catalogue::getTotalImportance() const {
  double sum = 0;
  for (const CatalogueOperator &op : operators)
    sum += op.importance;
  return sum;
}

std::string bench::findNearest(llvm::StringRef name, const std::vector<std::string> &candidates) {
  std::string best;
  unsigned bestDistance = std::max<unsigned>(2, unsigned(std::min<size_t>(name.size(), 64)) / 3) + 1;
  for (const std::string &candidate : candidates) {
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, bestDistance);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

llvm::Expected<std::vector<int64_t>> bench::parseShapeList(llvm::StringRef text, const CatalogueOperator &op) {
  std::vector<int64_t> ids;
  if (text.empty()) {
    for (const CatalogueShape &shape : op.shapes)
      ids.push_back(shape.id);
    return ids;
  }
  int64_t last = op.shapes.empty() ? 0 : op.shapes.back().id;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    llvm::StringRef lowText, highText;
    std::tie(lowText, highText) = part.trim().split('-');
    bool isRange = part.contains('-');
    int64_t low, high;
    if (lowText.trim().getAsInteger(10, low) || (isRange && highText.trim().getAsInteger(10, high)) || low < 0)
      return makeError(fmt::format("--shapes '{}': '{}' is neither an id nor a range; write for example 0,3-5",
                                   text.str(), part.str()));
    if (!isRange)
      high = low;
    if (high < low)
      return makeError(fmt::format("--shapes '{}': the range '{}' runs backwards; write {}-{}", text.str(),
                                   part.trim().str(), high, low));
    if (high > last || (!isRange && !op.lookupShape(low)))
      return makeError(fmt::format("--shapes '{}': {} has no shape {}; its ids go from 0 to {}", text.str(), op.name,
                                   high > last ? high : low, last));
    // Published ids have gaps; a range steps over them.
    for (int64_t id = low; id <= high; ++id)
      if (op.lookupShape(id) && !llvm::is_contained(ids, id))
        ids.push_back(id);
  }
  return ids;
}
