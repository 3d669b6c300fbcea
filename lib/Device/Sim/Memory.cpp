//===- Memory.cpp - Device memory and access tracking ---------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Device/Sim/Memory.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <sys/mman.h>

using namespace llvm;
using namespace atrex::device;
using namespace atrex::device::sim;

static constexpr uint64_t pageBytes = 4096;
/// Inaccessible bytes behind every allocation.
static constexpr uint64_t guardBytes = 64 * 1024;
static constexpr uint64_t lineBytes = 128;
/// Entries of an owner array, and words of a bitmap, that one dirty byte covers.
static constexpr uint64_t ownersPerPage = 1024, wordsPerPage = 512;

template <class... Ts> static Error makeError(const char *format, Ts &&...args) {
  return createStringError(inconvertibleErrorCode(), formatv(format, std::forward<Ts>(args)...).str());
}

DeviceMemory::~DeviceMemory() {
  for (auto &[base, a] : allocs)
    if (a.tracking)
      munmap(a.tracking, a.trackingBytes);
  if (spaceBase)
    munmap(reinterpret_cast<void *>(spaceBase), spaceSize);
}

Error DeviceMemory::reserve() {
  if (spaceBase)
    return Error::success();
  // Limits on virtual memory make a smaller reservation necessary.
  for (unsigned log : {42, 40, 38, 36, 34, 32}) {
    // The same addresses in every run where the host has them free: reports name
    // addresses.
    void *const wanted = reinterpret_cast<void *>(uintptr_t(0x100000000000));
    void *p = mmap(wanted, 1ull << log, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
      continue;
    spaceBase = reinterpret_cast<uint64_t>(p);
    spaceSize = 1ull << log;
    spaceUsed = guardBytes;
    return Error::success();
  }
  return makeError("cannot reserve an address space for the device: {0}", std::strerror(errno));
}

Error DeviceMemory::mapTracking(Allocation &a) {
  uint64_t lines = divideCeil(a.mem.size, lineBytes), words = divideCeil(a.mem.size, uint64_t(64));
  uint64_t ownerBytes = alignTo(lines * 4, pageBytes), bitmapBytes = alignTo(words * 8, pageBytes);
  uint64_t ownerDirty = alignTo(divideCeil(lines, ownersPerPage), uint64_t(64));
  uint64_t bitmapDirty = alignTo(divideCeil(words, wordsPerPage), uint64_t(64));
  a.trackingBytes = alignTo(2 * ownerBytes + 2 * bitmapBytes + 2 * ownerDirty + 2 * bitmapDirty, pageBytes);
  void *p = mmap(nullptr, a.trackingBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return makeError("cannot map {0} bytes to track accesses to '{1}': {2}", a.trackingBytes, a.label,
                     std::strerror(errno));
  a.tracking = p;
  uint8_t *q = static_cast<uint8_t *>(p);
  a.mem.readOwner = reinterpret_cast<u32 *>(q);
  a.mem.writeOwner = reinterpret_cast<u32 *>(q + ownerBytes);
  a.mem.written = reinterpret_cast<u64 *>(q + 2 * ownerBytes);
  a.mem.initialized = reinterpret_cast<u64 *>(q + 2 * ownerBytes + bitmapBytes);
  q += 2 * ownerBytes + 2 * bitmapBytes;
  a.mem.readDirty = q;
  a.mem.writeDirty = q + ownerDirty;
  a.mem.writtenDirty = q + 2 * ownerDirty;
  a.mem.initializedBlocks = q + 2 * ownerDirty + bitmapDirty;
  return Error::success();
}

Expected<DevicePtr> DeviceMemory::allocate(uint64_t bytes, StringRef label, bool tracked, bool readOnly) {
  if (Error e = reserve())
    return std::move(e);
  if (!bytes)
    bytes = 1;
  if (bytes > spaceSize)
    return makeError("cannot allocate {0} bytes for '{1}': more than the device's address space", bytes, label);
  uint64_t mapped = alignTo(bytes, pageBytes) + guardBytes;
  uint64_t base;
  auto reuse = freeRanges.lower_bound(mapped);
  if (reuse != freeRanges.end() && reuse->first <= mapped * 2) {
    base = reuse->second;
    mapped = reuse->first;
    freeRanges.erase(reuse);
  } else {
    if (mapped > spaceSize - spaceUsed)
      return makeError("cannot allocate {0} bytes for '{1}': the device's address space is full", bytes, label);
    base = spaceBase + spaceUsed;
    spaceUsed += mapped;
  }
  void *p = reinterpret_cast<void *>(base);
  if (mprotect(p, alignTo(bytes, pageBytes), PROT_READ | PROT_WRITE)) {
    int err = errno;
    freeRanges.emplace(mapped, base);
    return makeError("cannot allocate {0} bytes for '{1}': {2}", bytes, label, std::strerror(err));
  }
  Allocation a;
  a.mem.base = base;
  a.mem.size = bytes;
  a.mem.readOnly = readOnly;
  a.mapped = mapped;
  a.label = label.str();
  if (tracked)
    if (Error e = mapTracking(a)) {
      mprotect(p, alignTo(bytes, pageBytes), PROT_NONE);
      freeRanges.emplace(mapped, base);
      return std::move(e);
    }
  allocs.emplace(base, std::move(a));
  return base;
}

Error DeviceMemory::free(DevicePtr ptr) {
  auto it = allocs.find(ptr);
  if (it == allocs.end())
    return makeError("cannot free {0:x}: not the start of an allocation", ptr);
  Allocation &a = it->second;
  if (a.tracking)
    munmap(a.tracking, a.trackingBytes);
  // Mapping afresh returns the pages and makes the next owner read zeros.
  mmap(reinterpret_cast<void *>(ptr), a.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  freeRanges.emplace(a.mapped, ptr);
  allocs.erase(it);
  return Error::success();
}

std::string DeviceMemory::describe(uint64_t addr) const {
  auto text = [&](const Allocation &a) {
    return formatv("'{0}' ({1:x}, {2} bytes)", a.label.empty() ? "unnamed" : a.label, a.mem.base, a.mem.size).str();
  };
  auto next = allocs.upper_bound(addr);
  const Allocation *below = next == allocs.begin() ? nullptr : &std::prev(next)->second;
  const Allocation *above = next == allocs.end() ? nullptr : &next->second;
  if (below && addr - below->mem.base < below->mem.size)
    return formatv("offset {0} of {1}", addr - below->mem.base, text(*below)).str();
  uint64_t past = below ? addr - (below->mem.base + below->mem.size) : ~0ull;
  uint64_t before = above ? above->mem.base - addr : ~0ull;
  if (past == ~0ull && before == ~0ull)
    return "there is no allocation";
  if (past <= before)
    return formatv("{0} bytes past the end of {1}", past, text(*below)).str();
  return formatv("{0} bytes before the start of {1}", before, text(*above)).str();
}

Error DeviceMemory::check(DevicePtr ptr, uint64_t bytes, StringRef what) const {
  auto next = allocs.upper_bound(ptr);
  if (next != allocs.begin()) {
    const MemAlloc &m = std::prev(next)->second.mem;
    uint64_t off = ptr - m.base;
    if (off <= m.size && bytes <= m.size - off)
      return Error::success();
  }
  return makeError("{0} of {1} bytes at {2:x} is outside of the device's allocations: {3}", what, bytes, ptr,
                   describe(ptr));
}

std::vector<MemAlloc> DeviceMemory::snapshot() const {
  std::vector<MemAlloc> result;
  result.reserve(allocs.size());
  for (const auto &[base, a] : allocs)
    result.push_back(a.mem);
  return result;
}

Expected<std::vector<ByteRange>> DeviceMemory::getWrittenRanges(DevicePtr ptr) const {
  auto it = allocs.find(ptr);
  if (it == allocs.end())
    return makeError("{0:x} is not the start of an allocation", ptr);
  const MemAlloc &m = it->second.mem;
  std::vector<ByteRange> ranges;
  if (!m.written)
    return ranges;
  auto add = [&](uint64_t from, uint64_t to) {
    if (!ranges.empty() && ranges.back().offset + ranges.back().size == from)
      ranges.back().size += to - from;
    else
      ranges.push_back({from, to - from});
  };
  uint64_t words = divideCeil(m.size, uint64_t(64));
  for (uint64_t page = 0; page * wordsPerPage < words; ++page) {
    if (!m.writtenDirty[page])
      continue;
    for (uint64_t k = page * wordsPerPage; k < std::min(words, (page + 1) * wordsPerPage); ++k) {
      uint64_t bits = m.written[k];
      if (bits == ~0ull) {
        add(k * 64, k * 64 + 64);
        continue;
      }
      for (unsigned pos = 0; bits >> pos;) {
        unsigned first = pos + countr_zero(bits >> pos);
        unsigned len = countr_one(bits >> first);
        add(k * 64 + first, k * 64 + first + len);
        pos = first + len;
        if (pos >= 64)
          break;
      }
    }
  }
  return ranges;
}

void DeviceMemory::clearWritten() {
  for (auto &[base, a] : allocs) {
    const MemAlloc &m = a.mem;
    if (!m.written)
      continue;
    uint64_t words = divideCeil(m.size, uint64_t(64));
    for (uint64_t page = 0; page * wordsPerPage < words; ++page) {
      if (!m.writtenDirty[page])
        continue;
      uint64_t first = page * wordsPerPage, last = std::min(words, first + wordsPerPage);
      if (!m.allWritten)
        for (uint64_t k = first; k < last; ++k)
          if (m.written[k])
            m.initialized[k] |= m.written[k];
      std::memset(m.written + first, 0, (last - first) * 8);
      m.writtenDirty[page] = 0;
    }
  }
}

DeviceMemory::Allocation *DeviceMemory::find(uint64_t addr) {
  auto next = allocs.upper_bound(addr);
  if (next == allocs.begin())
    return nullptr;
  Allocation &a = std::prev(next)->second;
  return addr - a.mem.base < a.mem.size ? &a : nullptr;
}

void DeviceMemory::markInitialized(DevicePtr ptr, uint64_t bytes) {
  Allocation *a = bytes ? find(ptr) : nullptr;
  if (!a || !a->mem.initialized || a->mem.allWritten)
    return;
  MemAlloc &m = a->mem;
  if (ptr == m.base && bytes == m.size) {
    m.allWritten = 1;
    return;
  }
  uint64_t first = ptr - m.base, last = first + bytes - 1;
  uint64_t firstBits = ~0ull << (first & 63), lastBits = ~0ull >> (63 - (last & 63));
  uint64_t from = first >> 6, to = last >> 6;
  if (from == to) {
    m.initialized[from] |= firstBits & lastBits;
    return;
  }
  m.initialized[from++] |= firstBits;
  m.initialized[to] |= lastBits;
  // Whole blocks would make a sparse bitmap dense.
  uint64_t block = divideCeil(from, wordsPerPage), lastBlock = to / wordsPerPage;
  if (block < lastBlock) {
    std::memset(m.initializedBlocks + block, 1, lastBlock - block);
    std::memset(m.initialized + from, 0xff, (block * wordsPerPage - from) * 8);
    from = lastBlock * wordsPerPage;
  }
  std::memset(m.initialized + from, 0xff, (to - from) * 8);
}

void DeviceMemory::assumeWritten() {
  for (auto &[base, a] : allocs)
    a.mem.allWritten = 1;
}

void DeviceMemory::collectLines(ExecutionStats &stats) {
  auto scan = [](u32 *owners, u8 *dirty, uint64_t lines, uint64_t &exclusive, uint64_t &shared) {
    for (uint64_t page = 0; page * ownersPerPage < lines; ++page) {
      if (!dirty[page])
        continue;
      dirty[page] = 0;
      uint64_t first = page * ownersPerPage, last = std::min(lines, first + ownersPerPage);
      for (uint64_t k = first; k < last; ++k) {
        exclusive += owners[k] != 0 && owners[k] != sharedOwner;
        shared += owners[k] == sharedOwner;
      }
      std::memset(owners + first, 0, (last - first) * 4);
    }
  };
  for (auto &[base, a] : allocs) {
    const MemAlloc &m = a.mem;
    if (!m.readOwner)
      continue;
    uint64_t lines = divideCeil(m.size, lineBytes);
    scan(m.readOwner, m.readDirty, lines, stats.readLinesExclusive, stats.readLinesShared);
    scan(m.writeOwner, m.writeDirty, lines, stats.writeLinesExclusive, stats.writeLinesShared);
  }
}
