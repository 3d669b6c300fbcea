//===- Clocks.h - What an execution comes behind ----------------*- C++ -*-===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks as trees that share what they have in common: hundreds of
// workgroups in a chain each know all their predecessors, and taking that over is
// one pointer. A join costs what differs.
//
//===----------------------------------------------------------------------===//
#ifndef ATREX_LIB_DEVICE_SIM_CLOCKS_H
#define ATREX_LIB_DEVICE_SIM_CLOCKS_H

#include "lib/Device/Sim/Core.h"
#include <utility>

namespace atrex::device::sim {

/// What an execution is known to come behind: for one wave, all of its events up
/// to a number, separately for its two memories.
struct ClockBound {
  u32 memory = 0, lds = 0;
};

/// Bounds by wave; zero where nothing was put. Not thread-safe.
class Clock {
public:
  Clock() = default;
  Clock(const Clock &o) : root(retain(o.root)) {}
  Clock(Clock &&o) noexcept : root(std::exchange(o.root, nullptr)) {}
  Clock &operator=(Clock o) noexcept {
    std::swap(root, o.root);
    return *this;
  }
  ~Clock() { release(root); }

  bool empty() const { return !root; }
  ClockBound get(u32 key) const {
    const Node *n = root;
    if (!n || (n->height < 7 && key >> (4 * (n->height + 1))))
      return {};
    while (n && n->height) {
      n = n->child[(key >> (4 * n->height)) & 15];
    }
    return n ? n->leaf[key & 15] : ClockBound();
  }
  /// The larger of both, for this wave.
  void put(u32 key, ClockBound b) {
    ClockBound old = get(key);
    if (b.memory <= old.memory && b.lds <= old.lds)
      return;
    if (!root)
      root = create(0);
    while (root->height < 7 && key >> (4 * (root->height + 1)))
      root = raise(root);
    Node **at = &root;
    while (true) {
      *at = own(*at);
      Node *n = *at;
      if (!n->height) {
        ClockBound &x = n->leaf[key & 15];
        x.memory = b.memory > x.memory ? b.memory : x.memory;
        x.lds = b.lds > x.lds ? b.lds : x.lds;
        return;
      }
      Node *&next = n->child[(key >> (4 * n->height)) & 15];
      if (!next)
        next = create(n->height - 1);
      at = &next;
    }
  }
  /// The larger of both, for every wave.
  void join(const Clock &o) {
    Node *n = join(root, o.root);
    release(root);
    root = n;
  }

private:
  struct Node {
    Node() {}
    u32 refs;
    /// Zero: bounds; otherwise children, each of which stands for 16^height waves.
    u32 height;
    union {
      Node *child[16];
      ClockBound leaf[16];
    };
  };
  static Node *create(u32 height) {
    Node *n = new Node;
    n->refs = 1;
    n->height = height;
    for (u32 k = 0; k < 16; ++k)
      if (height)
        n->child[k] = nullptr;
      else
        n->leaf[k] = {};
    return n;
  }
  static Node *retain(Node *n) {
    if (n)
      ++n->refs;
    return n;
  }
  static void release(Node *n) {
    if (!n || --n->refs)
      return;
    if (n->height)
      for (Node *c : n->child)
        release(c);
    delete n;
  }
  /// A node above, of which this one is the first child. Takes the reference.
  static Node *raise(Node *n) {
    Node *above = create(n->height + 1);
    above->child[0] = n;
    return above;
  }
  /// A node that nobody else sees. Takes the reference.
  static Node *own(Node *n) {
    if (n->refs == 1)
      return n;
    Node *copy = create(n->height);
    for (u32 k = 0; k < 16; ++k)
      if (n->height)
        copy->child[k] = retain(n->child[k]);
      else
        copy->leaf[k] = n->leaf[k];
    release(n);
    return copy;
  }
  /// One of the two where it covers the other.
  static Node *join(Node *a, Node *b) {
    if (!b || a == b)
      return retain(a);
    if (!a)
      return retain(b);
    if (a->height < b->height)
      return join(b, a);
    if (a->height > b->height) {
      Node *first = join(a->child[0], b);
      if (first == a->child[0]) {
        release(first);
        return retain(a);
      }
      Node *n = create(a->height);
      n->child[0] = first;
      for (u32 k = 1; k < 16; ++k)
        n->child[k] = retain(a->child[k]);
      return n;
    }
    bool isA = true, isB = true;
    if (!a->height) {
      ClockBound r[16];
      for (u32 k = 0; k < 16; ++k) {
        r[k].memory = a->leaf[k].memory > b->leaf[k].memory ? a->leaf[k].memory : b->leaf[k].memory;
        r[k].lds = a->leaf[k].lds > b->leaf[k].lds ? a->leaf[k].lds : b->leaf[k].lds;
        isA &= r[k].memory == a->leaf[k].memory && r[k].lds == a->leaf[k].lds;
        isB &= r[k].memory == b->leaf[k].memory && r[k].lds == b->leaf[k].lds;
      }
      if (isA || isB)
        return retain(isA ? a : b);
      Node *n = create(0);
      for (u32 k = 0; k < 16; ++k)
        n->leaf[k] = r[k];
      return n;
    }
    Node *r[16];
    for (u32 k = 0; k < 16; ++k) {
      r[k] = join(a->child[k], b->child[k]);
      isA &= r[k] == a->child[k];
      isB &= r[k] == b->child[k];
    }
    if (isA || isB) {
      for (Node *c : r)
        release(c);
      return retain(isA ? a : b);
    }
    Node *n = create(a->height);
    for (u32 k = 0; k < 16; ++k)
      n->child[k] = r[k];
    return n;
  }

  Node *root = nullptr;
};

} // namespace atrex::device::sim

#endif // ATREX_LIB_DEVICE_SIM_CLOCKS_H
