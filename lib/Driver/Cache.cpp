//===- Cache.cpp - Compiled modules on disk -------------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "atrex/Driver/Cache.h"
#include "atrex/Support/FileInput.h"
#include "atrex/Support/FileOutput.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <link.h>

using namespace llvm;
using namespace atrex;

namespace {

/// First bytes of an entry. SHA-256 of all bytes behind it follows in binary, then
/// the key, the number of parts, and each part behind its length in 8 bytes,
/// little-endian.
constexpr StringLiteral magic = "atrex-mlir/cache/1\n";
constexpr size_t digestBytes = 32;
constexpr size_t keyDigits = 64;
/// Larger files are no entries.
constexpr uint64_t maxEntryBytes = uint64_t(1) << 30;
/// A temporary file of this age belongs to a process that was killed.
constexpr std::chrono::hours staleAge(1);

StringRef getName(CompileCache::Level level) { return level == CompileCache::Level::IR ? "ir" : "object"; }

std::array<uint8_t, digestBytes> digest(StringRef bytes) {
  SHA256 sha;
  sha.update(bytes);
  return sha.final();
}

void appendNumber(std::string &text, uint64_t number) {
  char bytes[8];
  support::endian::write64le(bytes, number);
  text.append(bytes, sizeof(bytes));
}

bool consumeNumber(StringRef &bytes, uint64_t &number) {
  if (bytes.size() < 8)
    return false;
  number = support::endian::read64le(bytes.data());
  bytes = bytes.drop_front(8);
  return true;
}

/// Takes an entry apart; a message when it is not what was written for `key`.
Expected<std::vector<std::string>> parseEntry(StringRef bytes, StringRef key, size_t count) {
  auto fail = [](const Twine &why) { return createStringError(inconvertibleErrorCode(), why); };
  if (!bytes.consume_front(magic))
    return fail("it does not begin like an entry");
  if (bytes.size() < digestBytes)
    return fail("it ends early");
  StringRef stored = bytes.take_front(digestBytes);
  bytes = bytes.drop_front(digestBytes);
  if (toStringRef(digest(bytes)) != stored)
    return fail("its checksum differs");
  // An entry under another's name.
  if (!bytes.consume_front(key))
    return fail("it was written for another compilation");
  uint64_t number, size;
  if (!consumeNumber(bytes, number) || number != count)
    return fail("it does not have " + Twine(count) + " parts");
  std::vector<std::string> parts;
  for (size_t i = 0; i < count; ++i) {
    if (!consumeNumber(bytes, size) || size > bytes.size())
      return fail("it ends early");
    parts.push_back(bytes.take_front(size).str());
    bytes = bytes.drop_front(size);
  }
  if (!bytes.empty())
    return fail("bytes follow its last part");
  return parts;
}

/// Whether a file is one of the cache's own: nothing else is ever removed.
bool isOwnName(StringRef name, bool &isTemporary) {
  StringRef rest = name.drop_front(std::min(name.size(), keyDigits));
  isTemporary = rest.starts_with(".tmp");
  return name.size() >= keyDigits && all_of(name.take_front(keyDigits), isHexDigit) && (rest.empty() || isTemporary);
}

/// Adds name and build id of one loaded file, or what else tells its contents apart.
int addLoadedFile(dl_phdr_info *info, size_t, void *data) {
  auto &key = *static_cast<CacheKey *>(data);
  StringRef path = info->dlpi_name ? info->dlpi_name : "";
  // The kernel's own, which generates no code.
  if (path.starts_with("linux-"))
    return 0;
  key.add(sys::path::filename(path));
  for (const ElfW(Phdr) &header : ArrayRef(info->dlpi_phdr, info->dlpi_phnum)) {
    if (header.p_type != PT_NOTE)
      continue;
    StringRef notes(reinterpret_cast<const char *>(info->dlpi_addr + header.p_vaddr), header.p_memsz);
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
      auto *note = reinterpret_cast<const ElfW(Nhdr) *>(notes.data());
      size_t align = std::max<size_t>(4, header.p_align);
      size_t nameEnd = sizeof(*note) + note->n_namesz;
      size_t begin = alignTo(nameEnd, align), end = begin + note->n_descsz;
      if (end > notes.size())
        break;
      StringRef name = notes.slice(sizeof(*note), nameEnd);
      if (note->n_type == NT_GNU_BUILD_ID && name == StringRef("GNU\0", 4)) {
        key.add(notes.slice(begin, end));
        return 0;
      }
      notes = notes.drop_front(std::min(notes.size(), alignTo(end, align)));
    }
  }
  // Linked without a build id: the contents themselves.
  std::string file = path.empty() ? "/proc/self/exe" : path.str();
  if (auto buffer = MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false))
    key.add((*buffer)->getBuffer());
  return 0;
}

} // namespace

const std::string &atrex::getBuildId() {
  static const std::string id = [] {
    CacheKey key;
    dl_iterate_phdr(addLoadedFile, &key);
    return key.finish();
  }();
  return id;
}

//===----------------------------------------------------------------------===//
// CacheKey
//===----------------------------------------------------------------------===//

void CacheKey::add(StringRef text) {
  add(uint64_t(text.size()));
  sha.update(text);
}

void CacheKey::add(uint64_t number) {
  uint8_t bytes[8];
  support::endian::write64le(bytes, number);
  sha.update(bytes);
}

std::string CacheKey::finish() { return toHex(sha.final(), /*LowerCase=*/true); }

//===----------------------------------------------------------------------===//
// CompileCache
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<CompileCache>> CompileCache::open(StringRef directory, uint64_t maxBytes) {
  if (directory.empty())
    return createStringError(inconvertibleErrorCode(), "the name of the cache's directory is empty");
  for (Level level : {Level::IR, Level::Object}) {
    SmallString<128> path(directory);
    sys::path::append(path, getName(level));
    if (std::error_code ec = sys::fs::create_directories(path))
      return createStringError(ec, "cannot create the cache's directory '" + path + "': " + ec.message());
  }
  return std::unique_ptr<CompileCache>(new CompileCache(directory.str(), maxBytes));
}

std::string CompileCache::getPath(Level level, StringRef key) const {
  SmallString<128> path(directory);
  sys::path::append(path, getName(level), key);
  return path.str().str();
}

std::optional<std::vector<std::string>> CompileCache::load(Level level, StringRef key, size_t count,
                                                           raw_ostream &diagnostics) {
  std::string path = getPath(level, key);
  auto miss = [&] {
    ++misses[size_t(level)];
    return std::nullopt;
  };
  if (!sys::fs::exists(path))
    return miss();
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readRegularFile(path, maxEntryBytes);
  if (!buffer) {
    // Another process may have removed it meanwhile.
    std::string message = toString(buffer.takeError());
    if (sys::fs::exists(path))
      diagnostics << "remark: an entry of the cache is ignored: " << message << "\n";
    return miss();
  }
  Expected<std::vector<std::string>> parts = parseEntry((*buffer)->getBuffer(), key, count);
  if (!parts) {
    diagnostics << "remark: entry '" << path << "' of the cache is damaged and ignored: " << toString(parts.takeError())
                << "\n";
    return miss();
  }
  // What was used last is removed last. A directory of somebody else's is read
  // all the same.
  int fd;
  if (!sys::fs::openFileForRead(path, fd)) {
    (void)sys::fs::setLastAccessAndModificationTime(fd, std::chrono::system_clock::now());
    sys::fs::file_t file = sys::fs::convertFDToNativeFile(fd);
    (void)sys::fs::closeFile(file);
  }
  ++hits[size_t(level)];
  return std::move(*parts);
}

void CompileCache::store(Level level, StringRef key, ArrayRef<StringRef> parts, raw_ostream &diagnostics) {
  std::string body = key.str();
  appendNumber(body, parts.size());
  for (StringRef part : parts) {
    appendNumber(body, part.size());
    body += part;
  }
  std::string entry = (magic + toStringRef(digest(body)) + body).str();
  if (entry.size() > std::min(maxBytes, maxEntryBytes)) {
    diagnostics << "remark: the cache keeps at most " << std::min(maxBytes, maxEntryBytes)
                << " bytes, too few for an entry of " << entry.size() << "\n";
    return;
  }
  std::string path = getPath(level, key);
  if (Error error = writeFile(path, entry)) {
    diagnostics << "remark: nothing is kept in the cache: " << toString(std::move(error)) << "\n";
    return;
  }
  evict(path);
}

void CompileCache::evict(StringRef newest) {
  struct File {
    sys::TimePoint<> used;
    std::string path;
    uint64_t bytes;
  };
  std::vector<File> files;
  uint64_t total = 0;
  auto now = std::chrono::system_clock::now();
  for (Level level : {Level::IR, Level::Object}) {
    SmallString<128> path(directory);
    sys::path::append(path, getName(level));
    std::error_code ec;
    for (sys::fs::directory_iterator file(path, ec), end; file != end && !ec; file.increment(ec)) {
      bool isTemporary;
      sys::fs::file_status status;
      if (!isOwnName(sys::path::filename(file->path()), isTemporary) || sys::fs::status(file->path(), status) ||
          status.type() != sys::fs::file_type::regular_file)
        continue;
      if (isTemporary) {
        if (now - status.getLastModificationTime() > staleAge)
          (void)sys::fs::remove(file->path());
        continue;
      }
      files.push_back({status.getLastModificationTime(), file->path(), status.getSize()});
      total += status.getSize();
    }
  }
  if (total <= maxBytes)
    return;
  sort(files, [](const File &a, const File &b) { return std::tie(a.used, a.path) < std::tie(b.used, b.path); });
  // Some room at once, so that not every entry has to look for it.
  uint64_t goal = maxBytes - maxBytes / 10;
  for (const File &file : files) {
    if (total <= goal)
      break;
    if (file.path == newest)
      continue;
    // Where somebody else was faster the room is there as well.
    (void)sys::fs::remove(file.path);
    total -= file.bytes;
  }
}

CompileCache::Statistics CompileCache::getStatistics() const {
  return {hits[size_t(Level::IR)], misses[size_t(Level::IR)], hits[size_t(Level::Object)],
          misses[size_t(Level::Object)]};
}

json::Object atrex::toJSON(const CompileCache::Statistics &statistics) {
  return json::Object{{"ir_hits", int64_t(statistics.irHits)},
                      {"ir_misses", int64_t(statistics.irMisses)},
                      {"object_hits", int64_t(statistics.objectHits)},
                      {"object_misses", int64_t(statistics.objectMisses)}};
}
