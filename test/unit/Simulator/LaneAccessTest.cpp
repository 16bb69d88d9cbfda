//===- LaneAccessTest.cpp - All lanes at once and lane by lane ------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory is accessed at once where the lanes allow it, else lane by lane. The
// tests bring about both, with all lanes and with some, and compare with the
// same accesses on the host.
//
//===----------------------------------------------------------------------===//

#include "InstructionRunner.h"
#include <array>
#include <cmath>
#include <numeric>

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

namespace {

const char *const prelude = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define LOCAL __builtin_amdgcn_workitem_id_x()
#define BARRIER __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
)";

class LaneAccessTest : public OnTarget {
protected:
  std::shared_ptr<const CodeObject> cl(const std::string &source) {
    return build(prelude + source, "cl", target(), "-cl-std=CL2.0");
  }
  Device device;
};

constexpr uint32_t lanes = 64, elements = 256;

/// Places of 64 lanes: behind each other, in other orders, far apart, all one.
std::vector<std::vector<uint32_t>> patterns() {
  std::vector<std::vector<uint32_t>> result(6, std::vector<uint32_t>(lanes));
  std::mt19937 random(7);
  for (uint32_t l = 0; l < lanes; ++l) {
    result[0][l] = l;
    result[1][l] = 17 + l;
    result[2][l] = lanes - 1 - l;
    result[3][l] = 3 * l;
    result[4][l] = random() % elements;
    result[5][l] = 9;
  }
  return result;
}

// Element is a type of so many dwords.
template <unsigned Dwords> struct Element {
  std::array<uint32_t, Dwords> words;
  bool operator==(const Element &other) const { return words == other.words; }
};

template <unsigned Dwords>
std::vector<Element<Dwords>> numbered(size_t count, uint32_t first) {
  std::vector<Element<Dwords>> result(count);
  for (Element<Dwords> &e : result)
    for (uint32_t &word : e.words)
      word = first++ * 2654435761u;
  return result;
}

template <unsigned Dwords>
void copyElements(Device &device, const CodeObject &object,
                  const std::string &kernel) {
  using E = Element<Dwords>;
  for (const auto &from : patterns())
    for (const auto &to : patterns())
      for (uint32_t active : {lanes, 41u}) {
        auto in = numbered<Dwords>(elements, 1);
        auto out = numbered<Dwords>(elements, 5000);
        uint64_t ins = device.upload(in), outs = device.upload(out);
        Counters c = device.run(object, kernel, 1, lanes,
                                Arguments()
                                    .add(outs)
                                    .add(ins)
                                    .add(device.upload(from))
                                    .add(device.upload(to))
                                    .add(active));
        // Of lanes that store to one place the last one stays.
        for (uint32_t l = 0; l < active; ++l)
          out[to[l]] = in[from[l]];
        ASSERT_TRUE(device.download<E>(outs, elements) == out)
            << kernel << ", " << active << " lanes";
        // The elements, and two indices a lane.
        ASSERT_EQ(c.globalBytesRead, active * (sizeof(E) + 8));
        ASSERT_EQ(c.globalBytesWritten, active * sizeof(E));
      }
}

TEST_P(LaneAccessTest, GlobalMemory) {
  std::string source;
  for (std::string type : {"uint", "uint2", "uint4"})
    source += "kernel void copy_" + type + "(global " + type +
              " *out, global const " + type +
              " *in, global const uint *from, global const uint *to, uint n) {"
              "  int l = LOCAL;"
              "  if (l < n) out[to[l]] = in[from[l]]; }\n";
  auto object = cl(source);
  ASSERT_TRUE(object);
  copyElements<1>(device, *object, "copy_uint");
  copyElements<2>(device, *object, "copy_uint2");
  copyElements<4>(device, *object, "copy_uint4");
}

template <unsigned Dwords>
void throughLDS(Device &device, const CodeObject &object,
                const std::string &kernel) {
  using E = Element<Dwords>;
  for (const auto &to : patterns())
    for (const auto &from : patterns())
      for (uint32_t active : {lanes, 41u}) {
        auto in = numbered<Dwords>(2 * elements, 1);
        std::vector<E> lds(in.begin(), in.begin() + elements);
        auto out = numbered<Dwords>(2 * lanes, 5000);
        uint64_t outs = device.upload(out);
        device.run(object, kernel, 1, lanes,
                   Arguments()
                       .add(outs)
                       .add(device.upload(in))
                       .add(device.upload(from))
                       .add(device.upload(to))
                       .add(active));
        // Two elements a lane, so that compilers take the paired forms.
        for (uint32_t l = 0; l < active; ++l)
          lds[to[l]] = in[elements + l];
        for (uint32_t l = 0; l < active; ++l) {
          out[2 * l] = lds[from[l]];
          out[2 * l + 1] = lds[(from[l] + 64) % elements];
        }
        ASSERT_TRUE(device.download<E>(outs, 2 * lanes) == out)
            << kernel << ", " << active << " lanes";
      }
}

TEST_P(LaneAccessTest, LocalMemory) {
  std::string source;
  for (std::string type : {"uint", "uint2", "uint4"})
    source += "kernel void lds_" + type + "(global " + type +
              " *out, global const " + type +
              " *in, global const uint *from, global const uint *to, uint n) {"
              "  local " +
              type +
              " tile[256];"
              "  int l = LOCAL;"
              "  for (int i = 0; i < 4; ++i) tile[l + 64 * i] = in[l + 64 * i];"
              "  BARRIER;"
              "  if (l < n) {"
              "    tile[to[l]] = in[256 + l];"
              "    BARRIER;"
              "    out[2 * l] = tile[from[l]];"
              "    out[2 * l + 1] = tile[(from[l] + 64) & 255];"
              "  } }\n";
  auto object = cl(source);
  ASSERT_TRUE(object);
  throughLDS<1>(device, *object, "lds_uint");
  throughLDS<2>(device, *object, "lds_uint2");
  throughLDS<4>(device, *object, "lds_uint4");
}

TEST_P(LaneAccessTest, PairedStoresOfLDSKeepTheOrderOfLanes) {
  // Lane l stores l to word l and 100 + l to word l + 1: what lane l + 1
  // stores first comes after what lane l stores second.
  std::string body = R"(
  v_lshlrev_b32 v1, 2, v0
  v_add_u32 v2, 0x64, v0
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  ds_write2_b32 v1, v0, v2 offset0:0 offset1:1
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v3, s[4:5]
  s_endpgm
)";
  auto object =
      build(assembleKernel(target(), body, 512), "assembler", target());
  ASSERT_TRUE(object);
  uint64_t out = device.upload(std::vector<uint32_t>(lanes));
  device.run(*object, "f", 1, lanes,
             Arguments().add(out).add(uint64_t(0)).add(uint64_t(0)));
  std::vector<uint32_t> expected(lanes);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(device.download<uint32_t>(out, lanes), expected);
}

TEST_P(LaneAccessTest, PrivateMemory) {
  auto object = cl(R"(
kernel void f(global uint *out, global const uint *from, global const uint *to,
              uint n) {
  volatile uint a[64];
  volatile uint2 b[16];
  uint l = LOCAL;
  for (uint i = 0; i < 64; ++i) a[i] = 1000 * l + i;
  for (uint i = 0; i < 16; ++i) b[i] = (uint2)(i + l, 77 * i);
  if (l < n) {
    a[to[l] & 63] = 5 + l;
    b[to[l] & 15] = (uint2)(l, 3 * l);
    uint2 two = b[from[l] & 15];
    out[l] = a[from[l] & 63] + two.x * 3 + two.y * 5;
  }
})");
  ASSERT_TRUE(object);
  ASSERT_GT(object->findKernel("f")->privateSegmentFixedSize, 0u);
  for (const auto &to : patterns())
    for (const auto &from : patterns())
      for (uint32_t active : {lanes, 41u}) {
        std::vector<uint32_t> out(lanes, 12345);
        uint64_t outs = device.upload(out);
        device.run(*object, "f", 1, lanes,
                   Arguments()
                       .add(outs)
                       .add(device.upload(from))
                       .add(device.upload(to))
                       .add(active));
        for (uint32_t l = 0; l < active; ++l) {
          uint32_t a = (from[l] & 63) == (to[l] & 63)
                           ? 5 + l
                           : 1000 * l + (from[l] & 63);
          uint32_t i = from[l] & 15;
          bool stored = i == (to[l] & 15);
          uint32_t x = stored ? l : i + l, y = stored ? 3 * l : 77 * i;
          out[l] = a + x * 3 + y * 5;
        }
        ASSERT_EQ(device.download<uint32_t>(outs, lanes), out);
      }
}

TEST_P(LaneAccessTest, OneBadLaneIsNamed) {
  auto object = cl(R"(
kernel void load(global uint2 *out, global const uint2 *in,
                 global const uint *from) {
  out[LOCAL] = in[from[LOCAL]];
}
kernel void store(global uint2 *out, global const uint2 *in,
                  global const uint *to) {
  out[to[LOCAL]] = in[LOCAL];
}
kernel void lds(global uint2 *out, global const uint2 *in,
                global const uint *from) {
  local uint2 tile[64];
  tile[LOCAL] = in[LOCAL];
  BARRIER;
  out[LOCAL] = tile[from[LOCAL]];
})");
  ASSERT_TRUE(object);
  std::vector<uint32_t> index(lanes);
  std::iota(index.begin(), index.end(), 0);
  index[37] = lanes; // one element behind the end
  auto data = numbered<2>(lanes, 1);
  for (std::string kernel : {"load", "store", "lds"}) {
    uint64_t out = device.upload(data, "out"), in = device.upload(data, "in");
    auto result =
        device.tryRun(*object, kernel, 1, lanes,
                      Arguments().add(out).add(in).add(device.upload(index)));
    ASSERT_FALSE(bool(result)) << kernel;
    std::string message = llvm::toString(result.takeError());
    EXPECT_NE(message.find("lane 37: out-of-bounds"), std::string::npos)
        << message;
  }
}

FOR_BOTH_TARGETS(LaneAccessTest);

//===----------------------------------------------------------------------===//
// f64 in all lanes at once
//===----------------------------------------------------------------------===//

class WideTest : public OnTarget {
protected:
  /// Runs a line and compares v[8:9] of the lanes that are on.
  template <typename Expected>
  void compare(const std::string &line, const std::vector<Sources> &sources,
               uint64_t exec, Expected expected) {
    auto result = runLines(target(), {line}, sources, exec);
    ASSERT_EQ(result.size(), 1u) << line;
    for (size_t i = 0; i < sources.size(); ++i) {
      uint64_t got = result[0][i].low;
      uint64_t wanted =
          (exec >> (i % lanes)) & 1 ? expected(sources[i]) : untouched;
      double g, e;
      std::memcpy(&g, &got, 8);
      std::memcpy(&e, &wanted, 8);
      ASSERT_TRUE(got == wanted || (g != g && e != e))
          << line << ", lane " << i % lanes << ": got " << std::hex << got
          << ", wanted " << wanted << ", a " << sources[i].a << ", b "
          << sources[i].b << ", c " << sources[i].c;
    }
  }
  static double f64(uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, 8);
    return value;
  }
  static std::vector<Sources> assorted(size_t count) {
    auto x = assortedDoubles(3 * count, 11);
    std::vector<Sources> result(count);
    for (size_t i = 0; i < count; ++i)
      result[i] = {bits(x[3 * i]), bits(x[3 * i + 1]), bits(x[3 * i + 2])};
    return result;
  }
};

TEST_P(WideTest, ModifiersScalarsAndInactiveLanes) {
  auto sources = assorted(512);
  for (uint64_t exec :
       {~uint64_t(0), uint64_t(0x123456789abcdef1), uint64_t(1) << 63}) {
    compare("v_add_f64 v[8:9], v[2:3], v[4:5]", sources, exec,
            [](Sources s) { return bits(f64(s.a) + f64(s.b)); });
    compare("v_add_f64 v[8:9], |v[2:3]|, -v[4:5]", sources, exec,
            [](Sources s) { return bits(std::fabs(f64(s.a)) - f64(s.b)); });
    compare("v_mul_f64 v[8:9], -|v[2:3]|, s[38:39]", sources, exec,
            [](Sources s) { return bits(-std::fabs(f64(s.a)) * 3.5); });
    compare("v_fma_f64 v[8:9], v[2:3], -0.5, v[6:7]", sources, exec,
            [](Sources s) { return bits(std::fma(f64(s.a), -0.5, f64(s.c))); });
    compare("v_fma_f64 v[8:9], -v[2:3], v[4:5], |v[6:7]|", sources, exec,
            [](Sources s) {
              return bits(std::fma(-f64(s.a), f64(s.b), std::fabs(f64(s.c))));
            });
  }
}

TEST_P(WideTest, LdexpAndFrexp) {
  // Every distance down to zero and up to infinity, from values whose rounding
  // to a denormal tells one rounding from two.
  std::vector<Sources> sources;
  std::mt19937_64 random(3);
  for (double x : {1.0, -1.5, 0x1.fffffffffffffp0, 0x1.0000000000001p0,
                   0x1.8000000000001p-1000, 0x1p-1074, -0x1.fffffffffffffp-1022,
                   0x1.23456789abcdep1023, 0x0.123456789abcdp-1022, 0.0})
    for (int n = -2200; n <= 2200; n += 1 + int(random() % 3))
      sources.push_back({bits(x), uint32_t(n), 0});
  for (int n : {INT32_MIN, INT32_MAX, -100000, 100000})
    sources.push_back({bits(0x1p-1074), uint32_t(n), 0});
  while (sources.size() % lanes)
    sources.push_back({bits(1.0), 0, 0});
  compare("v_ldexp_f64 v[8:9], v[2:3], v4", sources, ~uint64_t(0),
          [](Sources s) {
            return bits(std::ldexp(f64(s.a), int32_t(uint32_t(s.b))));
          });
  auto others = assorted(1024);
  compare(
      "v_frexp_mant_f64 v[8:9], v[2:3]", others, ~uint64_t(0), [](Sources s) {
        int exponent;
        return bits(std::isfinite(f64(s.a)) ? std::frexp(f64(s.a), &exponent)
                                            : f64(s.a));
      });
}

TEST_P(WideTest, ExpAndReciprocalRootOfF32) {
  // All over the range, the edges, and every kind of bits.
  std::vector<Sources> sources;
  std::mt19937 random(5);
  for (int i = 0; i < 1 << 15; ++i)
    sources.push_back({bits(float(std::ldexp(int32_t(random()), -23))), 0, 0});
  for (int i = 0; i < 1 << 13; ++i)
    sources.push_back({random(), 0, 0});
  for (float x : {0.0f, -0.0f, 0x1p-149f, -126.0f, -127.0f, 127.999992f, 128.0f,
                  -INFINITY, INFINITY, NAN, 1.0f, 0.5f, -149.0f, -150.0f})
    for (float y : {x, std::nextafter(x, -200.0f), std::nextafter(x, 200.0f)})
      sources.push_back({bits(y), 0, 0});
  while (sources.size() % lanes)
    sources.push_back({0, 0, 0});
  auto f32 = [](uint64_t word) {
    uint32_t low = uint32_t(word);
    float value;
    std::memcpy(&value, &low, 4);
    return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
  };
  auto check = [&](const std::string &line, auto expected) {
    auto result = runLines(target(), {line}, sources);
    ASSERT_EQ(result.size(), 1u);
    for (size_t i = 0; i < sources.size(); ++i) {
      float got = f32(result[0][i].low), wanted = expected(f32(sources[i].a));
      wanted = f32(bits(wanted));
      ASSERT_TRUE(same(got, wanted))
          << line << ": got " << got << ", wanted " << wanted << " for bits "
          << std::hex << sources[i].a;
    }
  };
  check("v_exp_f32 v8, v2",
        [](float x) { return float(std::exp2(double(x))); });
  check("v_rsq_f32 v8, v2", [](float x) {
    return x == 0 ? 1 / x : float(1 / std::sqrt(double(x)));
  });
}

FOR_BOTH_TARGETS(WideTest);

} // namespace
