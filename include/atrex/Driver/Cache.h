//===- Cache.h - Compiled modules on disk -----------------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directory of what compiling left, found by a hash of everything it depends
// on. Two levels: the module as the backend takes it, which knows nothing of
// backend options, and the finished code. The format is described in
// docs/formats.md.
//
// Processes and threads may share a directory without a lock: an entry appears
// whole, by a rename, and never changes its meaning; who reads checks it.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_DRIVER_CACHE_H
#define ATREX_DRIVER_CACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atrex {

/// Hashes a list of texts; the list can be told from its concatenation.
class CacheKey {
public:
  void add(llvm::StringRef text);
  void add(uint64_t number);
  /// 64 hexadecimal digits.
  std::string finish();

private:
  llvm::SHA256 sha;
};

class CompileCache {
public:
  /// What the entries hold.
  enum class Level : uint8_t {
    /// The module as the backend takes it.
    IR,
    /// Code object or assembly.
    Object,
  };

  /// Look-ups since the cache was opened. Where the finished code is found, no
  /// module is looked for.
  struct Statistics {
    uint64_t irHits = 0, irMisses = 0, objectHits = 0, objectMisses = 0;
  };

  /// Bytes that the entries of a directory may take, unless said otherwise.
  static constexpr uint64_t defaultMaxBytes = uint64_t(1) << 30;

  /// Creates the directory when it does not exist.
  static llvm::Expected<std::unique_ptr<CompileCache>> open(llvm::StringRef directory,
                                                            uint64_t maxBytes = defaultMaxBytes);

  /// The `count` parts of an entry. Nothing when there is none, or, with a remark,
  /// when it is damaged or cannot be read.
  std::optional<std::vector<std::string>> load(Level level, llvm::StringRef key, size_t count,
                                               llvm::raw_ostream &diagnostics);

  /// Keeps an entry, then removes those that were not used for the longest time
  /// until the others fit. What cannot be written is a remark: the result of the
  /// compilation does not depend on it.
  void store(Level level, llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> parts, llvm::raw_ostream &diagnostics);

  Statistics getStatistics() const;

private:
  CompileCache(std::string directory, uint64_t maxBytes) : directory(std::move(directory)), maxBytes(maxBytes) {}

  std::string getPath(Level level, llvm::StringRef key) const;
  void evict(llvm::StringRef newest);

  std::string directory;
  uint64_t maxBytes;
  std::atomic<uint64_t> hits[2] = {}, misses[2] = {};
};

/// `ir_hits`, `ir_misses`, `object_hits`, `object_misses`.
llvm::json::Object toJSON(const CompileCache::Statistics &statistics);

/// Tells builds of this program and of the libraries it runs with apart.
const std::string &getBuildId();

} // namespace atrex

#endif // ATREX_DRIVER_CACHE_H
