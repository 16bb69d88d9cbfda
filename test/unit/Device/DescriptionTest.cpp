//===- DescriptionTest.cpp - Tests of the kernel description --------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Device/KernelDescription.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace wavesmith;
using testing::HasSubstr;

namespace {

std::string errorOf(llvm::StringRef json) {
  llvm::Expected<CodeObjectDescription> description =
      CodeObjectDescription::parse(json);
  return description ? "success" : llvm::toString(description.takeError());
}

/// A description with one kernel of these arguments.
std::string withArguments(std::string arguments) {
  return R"({"wavesmith": 1, "target": "gfx942", "kernels": [{"name": "k",
    "workgroup_size": [64, 1, 1], "zones_per_workgroup": 64, "arguments": [)" +
         arguments + "]}]}";
}

std::string replaced(std::string text, llvm::StringRef from,
                     llvm::StringRef to) {
  size_t at = text.find(from.str());
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, from.size(), to.str());
}

TEST(KernelDescription, Reads) {
  llvm::Expected<CodeObjectDescription> description =
      CodeObjectDescription::parse(R"(
{"wavesmith": 1, "target": "gfx942", "code_object_version": 5,
 "kernels": [{"name": "rhs", "workgroup_size": [64,2,1], "zones_per_workgroup": 128,
   "arguments": [
     {"name": "t", "kind": "scalar", "type": "f64"},
     {"name": "y", "kind": "input", "type": "f32", "shape": [53, "zones"]},
     {"name": "result0", "kind": "output", "type": "f64", "shape": ["zones", 53]},
     {"name": "workspace0", "kind": "workspace", "type": "f64", "shape": [7]},
     {"name": "num_zones", "kind": "zones", "type": "i64"}],
   "resources": {"vgprs": 0}, "schedule": {"block": 4}}]})");
  ASSERT_TRUE(bool(description)) << llvm::toString(description.takeError());
  EXPECT_EQ(description->target, "gfx942");
  ASSERT_EQ(description->kernels.size(), 1u);
  const KernelDescription &kernel = description->kernels[0];
  EXPECT_EQ(kernel.name, "rhs");
  EXPECT_EQ(kernel.workgroupSize, (std::array<uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(kernel.zonesPerWorkgroup, 128u);
  ASSERT_EQ(kernel.arguments.size(), 5u);
  EXPECT_EQ(kernel.arguments[0].kind, ArgumentKind::Scalar);
  EXPECT_EQ(kernel.arguments[1].type, ElementType::F32);
  EXPECT_EQ(kernel.arguments[1].formatShape(), "[53, zones]");
  EXPECT_EQ(kernel.arguments[1].getZonesDimension(), 1);
  EXPECT_EQ(formatShape(kernel.arguments[2].getShape(10)), "[10, 53]");
  EXPECT_EQ(kernel.arguments[3].getZonesDimension(), -1);
  EXPECT_EQ(kernel.arguments[4].kind, ArgumentKind::Zones);
  EXPECT_EQ(*kernel.schedule.getAsObject()->getInteger("block"), 4);
  EXPECT_EQ(kernel.findArgument("y"), &kernel.arguments[1]);
  EXPECT_EQ(kernel.findArgument("z"), nullptr);
}

TEST(KernelDescription, ReadsGrids) {
  auto parse = [](const std::string &grid, const std::string &shape) {
    return CodeObjectDescription::parse(
        R"({"wavesmith": 1, "target": "gfx942", "kernels": [{"name": "k",
            "workgroup_size": [256, 1, 1], "grid": )" +
        grid + R"(, "arguments": [
            {"name": "q", "kind": "input", "type": "bf16", "shape": )" +
        shape + R"(}, {"name": "a", "kind": "input", "type": "f16"},
            {"name": "queries", "kind": "dimension", "type": "i64"}]}]})");
  };
  llvm::Expected<CodeObjectDescription> description =
      parse(R"(["queries ceildiv 128", "8", "queries * 2"])",
            R"(["batch", 8, "queries"])");
  ASSERT_TRUE(bool(description)) << llvm::toString(description.takeError());
  const KernelDescription &kernel = description->kernels[0];
  ASSERT_TRUE(kernel.isGrid());
  EXPECT_EQ(kernel.grid[0].dimension, "queries");
  EXPECT_EQ(kernel.grid[0].divisor, 128);
  EXPECT_EQ(kernel.grid[1].size, 8);
  EXPECT_FALSE(kernel.grid[2].isKnown());
  auto sums = parse(R"(["batch + 1", "batch", "batch + -1"])", R"(["batch"])");
  ASSERT_TRUE(bool(sums)) << llvm::toString(sums.takeError());
  llvm::ArrayRef<GridSize> grid = sums->kernels[0].grid;
  EXPECT_EQ(grid[0].dimension, "batch");
  EXPECT_EQ(grid[0].addend, 1);
  EXPECT_EQ(grid[1].dimension, "batch");
  EXPECT_EQ(grid[1].addend, 0);
  EXPECT_FALSE(grid[2].isKnown());
  EXPECT_EQ(kernel.arguments[0].formatShape(), "[batch, 8, queries]");
  llvm::StringMap<int64_t> sizes;
  sizes["batch"] = 3, sizes["queries"] = 5;
  EXPECT_EQ(formatShape(kernel.arguments[0].getShape(sizes)), "[3, 8, 5]");
  EXPECT_TRUE(kernel.arguments[1].shape.empty());
  EXPECT_EQ(kernel.arguments[2].kind, ArgumentKind::Dimension);

  EXPECT_EQ(llvm::toString(parse(R"(["8"])", "[8]").takeError()),
            "kernels[0].grid: expected an array of 3 expressions, got "
            "[\"8\"]");
  EXPECT_EQ(
      llvm::toString(parse(R"(["8", "1", "1"])", R"(["zones"])").takeError()),
      "kernels[0].arguments[0].shape[0]: expected a positive integer or the "
      "name of a size, got \"zones\"");
}

TEST(KernelDescription, FindsKernels) {
  std::string one = withArguments("");
  llvm::Expected<CodeObjectDescription> description =
      CodeObjectDescription::parse(one);
  ASSERT_TRUE(bool(description)) << llvm::toString(description.takeError());
  llvm::Expected<const KernelDescription &> kernel =
      description->findKernel("");
  ASSERT_TRUE(bool(kernel));
  EXPECT_EQ(kernel->name, "k");
  description->kernels.push_back(description->kernels[0]);
  description->kernels[1].name = "l";
  kernel = description->findKernel("l");
  ASSERT_TRUE(bool(kernel));
  EXPECT_EQ(kernel->name, "l");
  kernel = description->findKernel("");
  EXPECT_EQ(llvm::toString(kernel.takeError()),
            "the description has several kernels, so one has to be named: k, "
            "l");
  kernel = description->findKernel("m");
  EXPECT_EQ(llvm::toString(kernel.takeError()),
            "the description has no kernel 'm'; it has k, l");
}

TEST(KernelDescription, BadDocuments) {
  EXPECT_NE(errorOf(""), "success");
  EXPECT_NE(errorOf("{"), "success");
  EXPECT_EQ(errorOf("[]"), "kernel description: expected an object, got []");
  EXPECT_EQ(errorOf("{}"), "wavesmith: expected format version 1, got nothing");
  std::string good = withArguments("");
  ASSERT_EQ(errorOf(good), "success");
  EXPECT_EQ(errorOf(replaced(good, "\"wavesmith\": 1", "\"wavesmith\": 2")),
            "wavesmith: expected format version 1, got 2");
  EXPECT_EQ(errorOf(replaced(good, "gfx942", "gfx9")),
            "target: unknown target architecture 'gfx9'; known are gfx90a, "
            "gfx942");
  EXPECT_EQ(errorOf(replaced(good, "\"gfx942\"", "942")),
            "target: expected a string that is not empty, got 942");
  EXPECT_EQ(errorOf(R"({"wavesmith": 1, "target": "gfx942", "kernels": []})"),
            "kernels: expected an array that is not empty, got []");
  EXPECT_EQ(errorOf(R"({"wavesmith": 1, "target": "gfx942", "kernels": [3]})"),
            "kernels[0]: expected an object, got 3");
  EXPECT_EQ(errorOf(replaced(good, "\"k\"", "\"\"")),
            "kernels[0].name: expected a string that is not empty, got \"\"");
  EXPECT_EQ(errorOf(replaced(good, "[64, 1, 1]", "[64, 1]")),
            "kernels[0].workgroup_size: expected an array of 3 integers, got "
            "[64,1]");
  EXPECT_EQ(errorOf(replaced(good, "[64, 1, 1]", "[64, 1.5, 1]")),
            "kernels[0].workgroup_size[1]: expected a positive 32-bit integer, "
            "got 1.5");
  EXPECT_EQ(errorOf(replaced(good, "[64, 1, 1]", "[64, 17, 1]")),
            "kernels[0].workgroup_size: expected at most 1024 work-items, got "
            "[64,17,1]");
  EXPECT_EQ(errorOf(replaced(good, "workgroup\": 64", "workgroup\": 0")),
            "kernels[0].zones_per_workgroup: expected a positive 32-bit "
            "integer, got 0");
  EXPECT_EQ(errorOf(replaced(good, "[]", "null")),
            "kernels[0].arguments: expected an array, got null");
  EXPECT_EQ(errorOf(replaced(good, "]}]}", R"(]}, {"name": "k",
    "workgroup_size": [64, 1, 1], "zones_per_workgroup": 64, "arguments": []}]})")),
            "kernels[1]: second kernel named 'k'");
}

TEST(KernelDescription, BadArguments) {
  auto error = [](std::string arguments) {
    return errorOf(withArguments(arguments));
  };
  EXPECT_EQ(error("1"), "kernels[0].arguments[0]: expected an object, got 1");
  EXPECT_EQ(error(R"({"kind": "scalar", "type": "f64"})"),
            "kernels[0].arguments[0].name: expected a string that is not "
            "empty, got nothing");
  EXPECT_EQ(error(R"({"name": "a", "kind": "inout", "type": "f64"})"),
            "kernels[0].arguments[0].kind: expected one of scalar, input, "
            "output, workspace, zones, got \"inout\"");
  EXPECT_EQ(error(R"({"name": "a", "kind": "scalar", "type": "f8"})"),
            "kernels[0].arguments[0].type: expected one of f64, f32, i64, i32, "
            "f16, bf16, f8E4M3FNUZ, got \"f8\"");
  EXPECT_EQ(error(R"({"name": "a", "kind": "zones", "type": "f64"})"),
            "kernels[0].arguments[0].type: expected i64 or i32 for the number "
            "of zones, got \"f64\"");
  EXPECT_EQ(
      error(R"({"name": "a", "kind": "scalar", "type": "f64", "shape": [1]})"),
      "kernels[0].arguments[0].shape: expected nothing for a scalar, got [1]");
  EXPECT_EQ(error(R"({"name": "a", "kind": "input", "type": "f64"})"),
            "kernels[0].arguments[0].shape: expected an array of sizes, at "
            "most one of them \"zones\", got nothing");
  EXPECT_EQ(
      error(
          R"({"name": "a", "kind": "input", "type": "f64", "shape": ["zone"]})"),
      "kernels[0].arguments[0].shape[0]: expected a positive integer or "
      "\"zones\", got \"zone\"");
  EXPECT_EQ(
      error(
          R"({"name": "a", "kind": "input", "type": "f64", "shape": [3, 0]})"),
      "kernels[0].arguments[0].shape[1]: expected a positive 32-bit integer, "
      "got 0");
  EXPECT_EQ(
      error(
          R"({"name": "a", "kind": "input", "type": "f64", "shape": ["zones", "zones"]})"),
      "kernels[0].arguments[0].shape: expected \"zones\" at one place only, "
      "got [\"zones\",\"zones\"]");
  EXPECT_EQ(
      error(R"({"name": "a", "kind": "scalar", "type": "f64", "units": "K"})"),
      "kernels[0].arguments[0].units: unknown member of an argument");
  EXPECT_EQ(error(R"({"name": "a", "kind": "scalar", "type": "f64"},
                     {"name": "a", "kind": "scalar", "type": "f64"})"),
            "kernels[0].arguments[1]: second argument named 'a'");
  EXPECT_EQ(error(R"({"name": "a", "kind": "zones", "type": "i64"},
                     {"name": "b", "kind": "zones", "type": "i64"})"),
            "kernels[0].arguments[1]: second argument of kind zones");
}

TEST(KernelDescription, DeepNestingIsAnError) {
  EXPECT_EQ(errorOf(std::string(1000000, '[')),
            "JSON nests deeper than 64 levels");
  EXPECT_EQ(errorOf("\"" + std::string(1000, '[') + "\\\"\""),
            "kernel description: expected an object, got \"" +
                std::string(59, '[') + "...");
}

} // namespace
