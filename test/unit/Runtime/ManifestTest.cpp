//===- ManifestTest.cpp - Manifests and launches --------------------------===//
//
// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "atrex/Runtime/Manifest.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace atrex;

static DimExpr expr(llvm::StringRef text) { return llvm::cantFail(DimExpr::parse(text)); }

static Manifest makeManifest() {
  Manifest manifest;
  manifest.op = "rms_norm";
  manifest.arch = "gfx942";
  manifest.compiler = "test";
  manifest.schedule = "builtin.module()";
  manifest.constants["H"] = 1024;
  manifest.runtimeDims = {"T"};
  manifest.constraints.push_back({expr("H % 8"), expr("0"), "=="});
  ManifestKernel kernel;
  kernel.name = "rms_norm";
  kernel.workgroup = {256, 1, 1};
  kernel.grid[0] = expr("cdiv(T, 2)");
  ManifestArg x;
  x.name = "x";
  x.type = DataType::BF16;
  x.shape = {expr("T"), expr("1024")};
  x.tileDim = 0;
  x.tileExtent = DimExpr::constant(2);
  ManifestArg out = x;
  out.name = "out";
  out.isOutput = true;
  out.offset = 8;
  ManifestArg T;
  T.kind = ManifestArg::Kind::Dim;
  T.name = "T";
  T.type = DataType::I64;
  T.offset = 16;
  ManifestArg eps;
  eps.kind = ManifestArg::Kind::Scalar;
  eps.name = "eps";
  eps.type = DataType::F32;
  eps.offset = 24;
  eps.size = 4;
  eps.defaultValue = 1e-6;
  kernel.args = {x, out, T, eps};
  kernel.kernargBytes = 32;
  manifest.kernels.push_back(kernel);
  return manifest;
}

static std::string replaceOnce(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

static std::string readError(const std::string &text) {
  llvm::Expected<Manifest> manifest = Manifest::fromText(text);
  return manifest ? "" : llvm::toString(manifest.takeError());
}

TEST(Manifest, RoundTrips) {
  std::string text = makeManifest().toText();
  llvm::Expected<Manifest> again = Manifest::fromText(text);
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  EXPECT_EQ(again->toText(), text);
  EXPECT_EQ(again->kernels[0].args[0].tileExtent.str(), "2");
  EXPECT_EQ(again->kernels[0].args[3].defaultValue, 1e-6);
}

TEST(Manifest, KeepsDefaultsThatJSONCannotHold) {
  Manifest manifest = makeManifest();
  manifest.kernels[0].args[3].defaultValue = -std::numeric_limits<double>::infinity();
  llvm::Expected<Manifest> again = Manifest::fromText(manifest.toText());
  ASSERT_TRUE(bool(again));
  EXPECT_EQ(again->kernels[0].args[3].defaultValue, manifest.kernels[0].args[3].defaultValue);
}

TEST(Manifest, MalformedTextIsDiagnosed) {
  std::string text = makeManifest().toText();
  EXPECT_NE(readError("{"), "");
  EXPECT_NE(readError("[]"), "");
  EXPECT_NE(readError(replaceOnce(text, "manifest/1", "manifest/9")).find("schema is 'atrex-mlir/manifest/9'"),
            std::string::npos);
  EXPECT_NE(readError(replaceOnce(text, "\"type\": \"f32\"", "\"type\": \"f31\"")).find("unknown type 'f31'"),
            std::string::npos);
  EXPECT_NE(readError(replaceOnce(text, "\"offset\": 24", "\"offset\": 20")).find("lies inside the argument before"),
            std::string::npos);
  EXPECT_NE(readError(replaceOnce(text, "\"offset\": 24", "\"offset\": 64")).find("beyond the 32 bytes"),
            std::string::npos);
  EXPECT_NE(readError(replaceOnce(text, "cdiv(T, 2)", "cdiv(T, ")).find("kernels[0].grid[0]"), std::string::npos);
  EXPECT_NE(readError(replaceOnce(text, "\"==\"", "\"=\"")).find("operator '='"), std::string::npos);
  EXPECT_NE(readError(replaceOnce(text, "\"dim\": 0", "\"dim\": 7")).find("tile.dim"), std::string::npos);
  // Every truncation is an error, none a crash.
  for (size_t length = 0; length + 2 < text.size(); length += 7)
    EXPECT_NE(readError(text.substr(0, length)), "");
}

TEST(Manifest, ResolveDims) {
  Manifest manifest = makeManifest();
  auto resolveError = [&](const DimMap &dims) {
    llvm::Expected<DimMap> result = resolveDims(manifest, dims);
    return result ? std::string() : llvm::toString(result.takeError());
  };
  DimMap dims;
  EXPECT_EQ(resolveError(dims), "rms_norm: dimension 'T' is missing; give it a value");
  dims["T"] = 0;
  EXPECT_EQ(resolveError(dims), "rms_norm: dimension 'T' is 0; it must be at least 1");
  dims["T"] = 5;
  llvm::Expected<DimMap> result = resolveDims(manifest, dims);
  ASSERT_TRUE(bool(result));
  EXPECT_EQ(result->lookup("H"), 1024);
  dims["H"] = 1024;
  EXPECT_EQ(resolveError(dims), "");
  dims["H"] = 512;
  EXPECT_NE(resolveError(dims).find("compiled for H = 1024"), std::string::npos);
  dims.erase("H");
  dims["Q"] = 1;
  EXPECT_EQ(resolveError(dims), "rms_norm: unknown dimension 'Q'; the run-time dimensions are: T");
  dims.erase("Q");
  manifest.constraints.push_back({expr("T % 4"), expr("0"), "=="});
  EXPECT_EQ(resolveError(dims), "rms_norm: constraint 'T % 4 == 0' does not hold for T = 5");
}

TEST(Manifest, PackArguments) {
  Manifest manifest = makeManifest();
  LaunchArguments arguments;
  arguments.dims["T"] = 5;
  arguments.tensors = {0x1000, 0x2000};
  auto pack = [&] { return packArguments(manifest, manifest.kernels[0], arguments); };
  auto packError = [&] {
    llvm::Expected<std::vector<uint8_t>> result = pack();
    return result ? std::string() : llvm::toString(result.takeError());
  };
  llvm::Expected<std::vector<uint8_t>> bytes = pack();
  ASSERT_TRUE(bool(bytes));
  ASSERT_EQ(bytes->size(), 32u);
  uint64_t words[3];
  float eps;
  std::memcpy(words, bytes->data(), 24);
  std::memcpy(&eps, bytes->data() + 24, 4);
  EXPECT_EQ(words[0], 0x1000u);
  EXPECT_EQ(words[1], 0x2000u);
  EXPECT_EQ(words[2], 5u);
  EXPECT_EQ(eps, 1e-6f);
  arguments.scalars["epsilon"] = 1;
  EXPECT_EQ(packError(), "rms_norm: unknown scalar 'epsilon'; the operator takes: eps");
  arguments.scalars.clear();
  arguments.tensors[1] = 0;
  EXPECT_EQ(packError(), "kernel 'rms_norm': tensor argument 1 ('out') has no address");
  arguments.tensors[1] = 0x2000;
  manifest.kernels[0].args[3].defaultValue.reset();
  EXPECT_EQ(packError(), "kernel 'rms_norm': scalar 'eps' has no value and no default; give it one");
  manifest.kernels[0].args[3].type = DataType::I32;
  arguments.scalars["eps"] = 0.5;
  EXPECT_EQ(packError(), "scalar 'eps': 0.5 is not a value of type i32");
  arguments.scalars["eps"] = 2147483648.0;
  EXPECT_NE(packError(), "");
  arguments.scalars["eps"] = -2147483648.0;
  EXPECT_EQ(packError(), "");
}

TEST(Manifest, GridAndShapeLimits) {
  Manifest manifest = makeManifest();
  DimMap dims;
  dims["T"] = 5;
  llvm::Expected<std::array<uint32_t, 3>> grid = evaluateGrid(manifest.kernels[0], dims);
  ASSERT_TRUE(bool(grid));
  EXPECT_EQ((*grid)[0], 3u);
  // 2^32 work-items are one too many.
  dims["T"] = int64_t(1) << 25;
  grid = evaluateGrid(manifest.kernels[0], dims);
  ASSERT_FALSE(bool(grid));
  EXPECT_NE(llvm::toString(grid.takeError()).find("exceed the 2^32 - 1 work-items"), std::string::npos);
  dims["T"] = (int64_t(1) << 25) - 2;
  grid = evaluateGrid(manifest.kernels[0], dims);
  EXPECT_TRUE(bool(grid));
  dims["T"] = int64_t(1) << 54;
  llvm::Expected<std::vector<int64_t>> shape = evaluateShape(manifest.kernels[0].args[0], dims);
  ASSERT_FALSE(bool(shape));
  EXPECT_EQ(llvm::toString(shape.takeError()), "tensor 'x': its size in bytes overflows 64 bits at dimension 1");
}

TEST(Manifest, LaunchesOfAPlan) {
  Manifest manifest = makeManifest();
  ManifestKernel second = manifest.kernels[0];
  ManifestArg workspace = second.args[0];
  workspace.name = "workspace.0";
  workspace.tileDim = -1;
  workspace.isWorkspace = true;
  manifest.kernels[0].args[1] = workspace;
  manifest.kernels[0].args[1].offset = 8;
  second.args[0] = workspace;
  second.args[2].name = "N";
  second.args[2].value = expr("T * 1024");
  second.args[3].isConstant = true;
  second.args[3].defaultValue = 3.0;
  manifest.kernels.push_back(second);
  llvm::Expected<Manifest> again = Manifest::fromText(manifest.toText());
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  EXPECT_EQ(again->toText(), manifest.toText());

  llvm::Expected<std::vector<ManifestArg>> workspaces = getWorkspaces(*again);
  ASSERT_TRUE(bool(workspaces));
  ASSERT_EQ(workspaces->size(), 1u);
  EXPECT_EQ((*workspaces)[0].name, "workspace.0");
  LaunchArguments arguments;
  arguments.dims["T"] = 5;
  arguments.scalars["eps"] = 0.5;
  arguments.tensors = {0x1000, 0x2000};
  // The second launch takes an expression for its dimension and its own constant.
  llvm::Expected<std::vector<uint8_t>> bytes = packArguments(*again, again->kernels[1], arguments);
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  uint64_t N;
  float eps;
  std::memcpy(&N, bytes->data() + 16, 8);
  std::memcpy(&eps, bytes->data() + 24, 4);
  EXPECT_EQ(N, 5 * 1024u);
  EXPECT_EQ(eps, 3.0f);
  bytes = packArguments(*again, again->kernels[0], arguments);
  ASSERT_TRUE(bool(bytes));
  std::memcpy(&eps, bytes->data() + 24, 4);
  EXPECT_EQ(eps, 0.5f);

  again->kernels[1].args[0].shape[0] = expr("T + 1");
  workspaces = getWorkspaces(*again);
  ASSERT_FALSE(bool(workspaces));
  EXPECT_EQ(llvm::toString(workspaces.takeError()),
            "kernel 'rms_norm': workspace 'workspace.0' has another type or shape than in the launches before");
  std::string text = manifest.toText();
  EXPECT_NE(readError(replaceOnce(text, "\"workspace\": true", "\"workspace\": 1")).find("field 'workspace'"),
            std::string::npos);
  EXPECT_NE(readError(replaceOnce(text,
                                  "\"output\": false,\n          \"shape\": [\n            \"T\",\n            "
                                  "\"1024\"\n          ],\n          \"size\": 8,\n          \"type\": "
                                  "\"bf16\",\n          \"workspace\": true",
                                  "\"output\": true, \"shape\": [\"T\", \"1024\"], \"size\": 8, \"type\": \"bf16\", "
                                  "\"workspace\": true"))
                .find("a workspace is no output"),
            std::string::npos);
  EXPECT_NE(readError(replaceOnce(text, "\"value\": \"T * 1024\"", "\"value\": \"T *\"")).find("value"),
            std::string::npos);
}
