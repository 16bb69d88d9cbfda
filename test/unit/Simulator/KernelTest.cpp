//===- KernelTest.cpp - Whole kernels on the simulator --------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionRunner.h"
#include "TestSupport.h"
#include <cmath>
#include <numeric>

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

namespace {

const char *const prelude = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define LOCAL __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define BARRIER __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
)";

class KernelTest : public OnTarget {
protected:
  std::shared_ptr<const CodeObject> cl(const std::string &source,
                                       const std::string &options = "") {
    return build(prelude + source, "cl", target(),
                 "-cl-std=CL2.0 -ffp-contract=off " + options);
  }
  std::vector<double> sequence(size_t n, double first, double step) {
    std::vector<double> result(n);
    for (size_t i = 0; i < n; ++i)
      result[i] = first + step * double(i);
    return result;
  }
  Device device;
};

const char *const axpy = R"(
kernel void axpy(global double *y, global const double *x, double a, int n) {
  int i = GROUP * 256 + LOCAL;
  if (i < n) y[i] = a * x[i] + y[i];
})";

TEST_P(KernelTest, AxpyStopsAtTheBound) {
  auto object = cl(axpy, "-cl-kernel-arg-info");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->target(), target());
  EXPECT_EQ(object->version(), 5u);
  const KernelInfo *info = object->findKernel("axpy");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->wavefrontSize, 64u);
  EXPECT_EQ(info->explicitArgumentSize(), 28u);
  ASSERT_GE(info->arguments.size(), 4u);
  EXPECT_EQ(info->arguments[0].name, "y");
  EXPECT_EQ(info->arguments[0].valueKind, "global_buffer");
  EXPECT_EQ(info->arguments[3].offset, 24u);
  EXPECT_EQ(info->arguments[3].size, 4u);

  auto x = sequence(1000, 0.5, 0.25), y = sequence(1000, -3, 0.125);
  uint64_t xs = device.upload(x, "x"), ys = device.upload(y, "y");
  Counters c = device.run(*object, "axpy", 4, 256,
                          Arguments().add(ys).add(xs).add(1.5).add(1000));
  auto got = device.download<double>(ys, 1000);
  for (size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(got[i], 1.5 * x[i] + y[i]) << i;
  EXPECT_EQ(c.waves, 16u);
  EXPECT_EQ(c.workgroups, 4u);
  EXPECT_EQ(c.globalBytesWritten, 8000u);
  EXPECT_LT(c.activeVALULanesPercent(), 100.0);
}

TEST_P(KernelTest, ReportsOutOfBounds) {
  auto object = cl(axpy);
  ASSERT_TRUE(object);
  auto x = sequence(1000, 0.5, 0.25);
  uint64_t xs = device.upload(x, "x"), ys = device.upload(x, "y");
  auto result = device.tryRun(*object, "axpy", 4, 256,
                              Arguments().add(ys).add(xs).add(1.5).add(1001));
  std::string message = messageOf(result);
  for (const char *part :
       {"kernel 'axpy'", "global_load_dwordx2", "out-of-bounds read of 8 bytes",
        "'", "0 bytes after the end of allocation", "of 8000 bytes",
        "workgroup (3, 0, 0)", "wavefront 3", "lane 40"})
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;

  ASSERT_FALSE(bool(device.memory.release(xs)));
  auto released = device.tryRun(*object, "axpy", 4, 256,
                                Arguments().add(ys).add(xs).add(1.5).add(10));
  message = messageOf(released);
  EXPECT_NE(message.find("in allocation 'x'"), std::string::npos) << message;
  EXPECT_NE(message.find("which was released"), std::string::npos) << message;
  auto null =
      device.tryRun(*object, "axpy", 4, 256,
                    Arguments().add(ys).add(uint64_t(0)).add(1.5).add(10));
  message = messageOf(null);
  EXPECT_NE(message.find("null pointer"), std::string::npos) << message;
}

TEST_P(KernelTest, RejectsBadLaunches) {
  auto object = cl(axpy + std::string(R"(
__attribute__((reqd_work_group_size(64, 2, 1)))
kernel void sized(global int *p) { p[0] = 1; })"));
  ASSERT_TRUE(object);
  auto expectMessage = [&](LaunchParameters p, const char *part) {
    auto result = launch(*object, device.memory, p);
    std::string message = messageOf(result);
    EXPECT_NE(message.find(part), std::string::npos)
        << "wanted: " << part << "\ngot: " << message;
  };
  std::vector<uint8_t> arguments(28);
  LaunchParameters p;
  p.kernel = "axpy";
  p.grid = {1, 1, 1};
  p.workgroup = {256, 1, 1};
  p.kernarg = arguments;
  LaunchParameters q = p;
  q.kernel = "nothing";
  expectMessage(q, "no kernel 'nothing' in the code object, which has 'axpy', "
                   "'sized'");
  q = p;
  q.grid = {1, 0, 1};
  expectMessage(q, "the grid (1, 0, 1) has a zero");
  q = p;
  q.workgroup = {0, 1, 1};
  expectMessage(q, "the workgroup size (0, 1, 1) has a zero");
  q = p;
  q.workgroup = {1024, 2, 1};
  expectMessage(q, "has more work-items than the kernel's maximum");
  q = p;
  q.workgroup = {0xffffffff, 0xffffffff, 0xffffffff};
  expectMessage(q, "has more work-items than the kernel's maximum");
  q = p;
  q.grid = {0xffffffff, 1, 1};
  expectMessage(q, "does not fit in 32 bits");
  q = p;
  q.kernarg = llvm::ArrayRef<uint8_t>(arguments).drop_back(1);
  expectMessage(q, "got 27 bytes of arguments, the kernel takes 28");
  std::vector<uint8_t> tooMany(4096);
  q = p;
  q.kernarg = tooMany;
  expectMessage(q, "got 4096 bytes of arguments");
  q = p;
  q.kernel = "sized";
  q.workgroup = {128, 1, 1};
  expectMessage(q, "the workgroup size is (128, 1, 1), the kernel requires "
                   "(64, 2, 1)");
  q = p;
  q.dynamicLDSBytes = 65537;
  expectMessage(q, "a workgroup has at most 65536");
}

TEST_P(KernelTest, LocalArraysInScratch) {
  auto object = cl(R"(
kernel void f(global double *out, global const int *index, int n) {
  double a[40];
  int t = GROUP * 64 + LOCAL;
  for (int i = 0; i < n; ++i) a[i] = i * 1.25 + t;
  a[index[t]] += 100.0;
  double s = 0;
  for (int i = 0; i < n; ++i) s += a[(i * 7 + t) % n];
  out[t] = s + a[index[t]];
})");
  ASSERT_TRUE(object);
  EXPECT_GE(object->findKernel("f")->privateSegmentFixedSize, 320u);
  std::vector<int> index(192);
  for (int i = 0; i < 192; ++i)
    index[i] = (i * 11) % 37;
  uint64_t out = device.upload(std::vector<double>(192)),
           in = device.upload(index);
  Counters c =
      device.run(*object, "f", 3, 64, Arguments().add(out).add(in).add(37));
  auto got = device.download<double>(out, 192);
  for (int t = 0; t < 192; ++t) {
    double a[40], s = 0;
    for (int i = 0; i < 37; ++i)
      a[i] = i * 1.25 + t;
    a[index[t]] += 100.0;
    for (int i = 0; i < 37; ++i)
      s += a[(i * 7 + t) % 37];
    ASSERT_EQ(got[t], s + a[index[t]]) << t;
  }
  EXPECT_GT(c.scratchBytesWritten, 0u);
  // An index beyond private memory is an error.
  index[5] = 100000;
  uint64_t bad = device.upload(index);
  auto result =
      device.tryRun(*object, "f", 3, 64, Arguments().add(out).add(bad).add(37));
  std::string message = messageOf(result);
  EXPECT_NE(message.find("of private memory"), std::string::npos) << message;
  EXPECT_NE(message.find("lane 5"), std::string::npos) << message;
}

TEST_P(KernelTest, ReductionInLDS) {
  auto object = cl(R"(
kernel void sum(global double *out, global const double *in) {
  local double s[256];
  int t = LOCAL;
  s[t] = in[GROUP * 256 + t];
  BARRIER;
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    BARRIER;
  }
  if (t == 0) out[GROUP] = s[0];
})");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->findKernel("sum")->groupSegmentFixedSize, 2048u);
  auto in = sequence(1024, 1, 1);
  uint64_t xs = device.upload(in), out = device.upload(std::vector<double>(4));
  Counters c = device.run(*object, "sum", 4, 256, Arguments().add(out).add(xs));
  auto got = device.download<double>(out, 4);
  for (int g = 0; g < 4; ++g)
    EXPECT_EQ(got[g], 256.0 * (256.0 * g) + 256.0 * 257.0 / 2);
  EXPECT_EQ(c.barrier, 9u * 16);
  EXPECT_GT(c.LDS, 0u);
}

TEST_P(KernelTest, DynamicLDSAndItsBound) {
  auto object = build(R"(
target triple = "amdgcn-amd-amdhsa"
@shared = external addrspace(3) global [0 x float]
define amdgpu_kernel void @f(ptr addrspace(1) %out, i32 %offset) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %i = add i32 %t, %offset
  %p = getelementptr float, ptr addrspace(3) @shared, i32 %i
  store float 2.5, ptr addrspace(3) %p
  %v = load float, ptr addrspace(3) %p
  %q = getelementptr float, ptr addrspace(1) %out, i32 %t
  store float %v, ptr addrspace(1) %q
  ret void
}
attributes #0 = { "amdgpu-flat-work-group-size"="1,256" }
)",
                      "ir", target());
  ASSERT_TRUE(object);
  uint64_t out = device.upload(std::vector<float>(64));
  Arguments arguments;
  arguments.add(out).add(0);
  LaunchParameters p;
  p.kernel = "f";
  p.workgroup = {64, 1, 1};
  p.kernarg = arguments.bytes;
  p.dynamicLDSBytes = 256;
  auto good = launch(*object, device.memory, p);
  EXPECT_TRUE(bool(good)) << messageOf(good);
  p.dynamicLDSBytes = 252;
  auto bad = launch(*object, device.memory, p);
  std::string message = messageOf(bad);
  EXPECT_NE(message.find("LDS"), std::string::npos) << message;
  EXPECT_NE(message.find("lane 63"), std::string::npos) << message;
  EXPECT_NE(message.find("252 bytes"), std::string::npos) << message;
}

TEST_P(KernelTest, DivergentLoops) {
  auto object = cl(R"(
kernel void collatz(global int *out, global const int *in) {
  int t = GROUP * 64 + LOCAL;
  long v = in[t];
  int steps = 0;
  while (v != 1) {
    if (v & 1) v = 3 * v + 1; else v /= 2;
    if (++steps > 500) break;
  }
  out[t] = steps;
})");
  ASSERT_TRUE(object);
  std::vector<int> in(256);
  std::iota(in.begin(), in.end(), 1);
  uint64_t xs = device.upload(in), out = device.upload(std::vector<int>(256));
  Counters c =
      device.run(*object, "collatz", 4, 64, Arguments().add(out).add(xs));
  auto got = device.download<int>(out, 256);
  for (int i = 0; i < 256; ++i) {
    long v = in[i];
    int steps = 0;
    while (v != 1) {
      v = v & 1 ? 3 * v + 1 : v / 2;
      if (++steps > 500)
        break;
    }
    ASSERT_EQ(got[i], steps) << in[i];
  }
  EXPECT_LT(c.activeVALULanesPercent(), 80.0);
  EXPECT_GT(c.branch, 100u);
}

TEST_P(KernelTest, TablesFromConstants) {
  auto object = cl(R"(
constant double table[16] = {0.5, 1.5, -2.5, 3.25, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14.125, 15};
kernel void f(global double *out, global const int *in) {
  int t = LOCAL;
  out[t] = table[in[t] & 15] + table[GROUP + 3];
})");
  ASSERT_TRUE(object);
  const double table[16] = {0.5, 1.5, -2.5, 3.25, 4,  5,  6,      7,
                            8,   9,   10,   11,   12, 13, 14.125, 15};
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i)
    in[i] = i * 13;
  uint64_t xs = device.upload(in), out = device.upload(std::vector<double>(64));
  device.run(*object, "f", 1, 64, Arguments().add(out).add(xs));
  auto got = device.download<double>(out, 64);
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(got[i], table[(i * 13) & 15] + table[3]);
}

TEST_P(KernelTest, VariablesKeepTheirValuesBetweenLaunches) {
  auto object = build(R"(
target triple = "amdgcn-amd-amdhsa"
@counter = addrspace(1) global i32 7
@pointer = addrspace(1) global ptr addrspace(1) @counter
define amdgpu_kernel void @f(ptr addrspace(1) %out) {
  %p = load ptr addrspace(1), ptr addrspace(1) @pointer
  %v = load volatile i32, ptr addrspace(1) %p
  %w = add i32 %v, 1
  store volatile i32 %w, ptr addrspace(1) @counter
  store i32 %w, ptr addrspace(1) %out
  ret void
})",
                      "ir", target());
  ASSERT_TRUE(object);
  uint64_t out = device.upload(std::vector<int>(1));
  device.run(*object, "f", 1, 1, Arguments().add(out));
  EXPECT_EQ(device.download<int>(out, 1)[0], 8);
  device.run(*object, "f", 1, 1, Arguments().add(out));
  EXPECT_EQ(device.download<int>(out, 1)[0], 9);
  Device other;
  uint64_t out2 = other.upload(std::vector<int>(1));
  other.run(*object, "f", 1, 1, Arguments().add(out2));
  EXPECT_EQ(other.download<int>(out2, 1)[0], 8);
}

TEST_P(KernelTest, IntegerArithmetic64) {
  auto object = cl(R"(
kernel void f(global long *out, global const long *xs, global const long *ys) {
  int t = GROUP * 64 + LOCAL;
  long x = xs[t], y = ys[t];
  ulong ux = x, uy = y;
  long d = y ? x / y : 1, m = y ? x % y : 2;
  ulong ud = uy ? ux / uy : 3, um = uy ? ux % uy : 4;
  out[8 * t + 0] = x * y;
  out[8 * t + 1] = d;
  out[8 * t + 2] = m;
  out[8 * t + 3] = ud;
  out[8 * t + 4] = um;
  out[8 * t + 5] = (x << (y & 63)) ^ (x >> (y & 63)) ^ (ux >> (uy & 63));
  out[8 * t + 6] = __builtin_popcountl(ux) + 100 * __builtin_clzl(ux | 1) + 10000 * __builtin_ctzl(ux | (1ul << 63));
  out[8 * t + 7] = (x < y ? x : y) + (ux > uy ? 1 : 0) + (long)(int)x * (int)y;
})");
  ASSERT_TRUE(object);
  std::mt19937_64 random(21);
  std::vector<int64_t> x(256), y(256);
  for (int i = 0; i < 256; ++i) {
    x[i] = int64_t(random()) >> (random() % 64);
    y[i] = int64_t(random()) >> (random() % 64);
  }
  uint64_t out = device.upload(std::vector<int64_t>(8 * 256)),
           xs = device.upload(x), ys = device.upload(y);
  device.run(*object, "f", 4, 64, Arguments().add(out).add(xs).add(ys));
  auto got = device.download<int64_t>(out, 8 * 256);
  for (int i = 0; i < 256; ++i) {
    int64_t a = x[i], b = y[i];
    uint64_t ua = a, ub = b;
    if (a == INT64_MIN && b == -1)
      continue;
    const int64_t want[8] = {
        int64_t(ua * ub),
        b ? a / b : 1,
        b ? a % b : 2,
        int64_t(ub ? ua / ub : 3),
        int64_t(ub ? ua % ub : 4),
        int64_t((ua << (b & 63)) ^ uint64_t(a >> (b & 63)) ^ (ua >> (ub & 63))),
        __builtin_popcountll(ua) + 100 * __builtin_clzll(ua | 1) +
            10000 * __builtin_ctzll(ua | (1ull << 63)),
        (a < b ? a : b) + (ua > ub ? 1 : 0) + int64_t(int32_t(a)) * int32_t(b)};
    for (int k = 0; k < 8; ++k)
      ASSERT_EQ(got[8 * i + k], want[k]) << "x " << a << " y " << b << " " << k;
  }
}

TEST_P(KernelTest, NarrowIntegers) {
  auto object = cl(R"(
kernel void f(global int *out, global const char *a, global const uchar *b, global const short *c, global const ushort *d, global char *e, global short *g) {
  int t = LOCAL;
  out[4 * t] = a[t] * 3 + b[t];
  out[4 * t + 1] = c[t] - d[t];
  out[4 * t + 2] = (short)(c[t] * (short)a[t]) >> 3;
  out[4 * t + 3] = (uchar)(b[t] + (uchar)d[t]) / 3;
  e[t] = a[t] + c[t];
  g[t] = (short)(b[t] << 7) ^ c[t];
})");
  ASSERT_TRUE(object);
  std::mt19937 random(5);
  std::vector<int8_t> a(64);
  std::vector<uint8_t> b(64);
  std::vector<int16_t> c(64);
  std::vector<uint16_t> d(64);
  for (int i = 0; i < 64; ++i) {
    a[i] = random();
    b[i] = random();
    c[i] = random();
    d[i] = random();
  }
  uint64_t out = device.upload(std::vector<int>(256)), pa = device.upload(a),
           pb = device.upload(b), pc = device.upload(c), pd = device.upload(d),
           pe = device.upload(std::vector<int8_t>(64)),
           pg = device.upload(std::vector<int16_t>(64));
  device.run(
      *object, "f", 1, 64,
      Arguments().add(out).add(pa).add(pb).add(pc).add(pd).add(pe).add(pg));
  auto got = device.download<int>(out, 256);
  auto e = device.download<int8_t>(pe, 64);
  auto g = device.download<int16_t>(pg, 64);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(got[4 * i], a[i] * 3 + b[i]);
    EXPECT_EQ(got[4 * i + 1], c[i] - d[i]);
    EXPECT_EQ(got[4 * i + 2], int16_t(c[i] * int16_t(a[i])) >> 3);
    EXPECT_EQ(got[4 * i + 3], uint8_t(b[i] + uint8_t(d[i])) / 3);
    EXPECT_EQ(e[i], int8_t(a[i] + c[i]));
    EXPECT_EQ(g[i], int16_t(int16_t(b[i] << 7) ^ c[i]));
  }
}

TEST_P(KernelTest, SinglePrecision) {
  auto object = cl(R"(
kernel void f(global float *out, global const float *xs, global const float *ys) {
  int t = LOCAL;
  float x = xs[t], y = ys[t];
  float s = 0;
  for (int i = 0; i < 9; ++i) { s = __builtin_fmaf(s, x, y) + (float)i; x = x * 0.5f - y; }
  out[t] = s > 3.0f ? s : __builtin_floorf(s) + __builtin_fabsf(x) + (float)((int)y) ;
})");
  ASSERT_TRUE(object);
  std::mt19937 random(6);
  std::uniform_real_distribution<float> u(-3, 3);
  std::vector<float> x(64), y(64);
  for (int i = 0; i < 64; ++i) {
    x[i] = u(random);
    y[i] = u(random);
  }
  uint64_t out = device.upload(std::vector<float>(64)), xs = device.upload(x),
           ys = device.upload(y);
  device.run(*object, "f", 1, 64, Arguments().add(out).add(xs).add(ys));
  auto got = device.download<float>(out, 64);
  for (int t = 0; t < 64; ++t) {
    volatile float a = x[t], b = y[t], s = 0;
    for (int i = 0; i < 9; ++i) {
      volatile float f = std::fma(float(s), float(a), float(b));
      s = f + float(i);
      volatile float h = a * 0.5f;
      a = h - b;
    }
    volatile float other = std::floor(float(s)) + std::fabs(float(a));
    other = other + float(int(b));
    ASSERT_EQ(got[t], s > 3.0f ? float(s) : float(other)) << t;
  }
}

TEST_P(KernelTest, FlushedDenormalsOfF32) {
  auto object = cl(R"(
kernel void f(global float *out, global const float *x) {
  int t = LOCAL;
  out[3 * t] = x[t] * 1.5f;
  out[3 * t + 1] = x[t] * 0x1p-30f;
  out[3 * t + 2] = x[t];
})",
                   "-cl-denorms-are-zero");
  ASSERT_TRUE(object);
  std::vector<float> x(64, 1.0f);
  x[1] = 1e-40f;
  x[2] = -1e-40f;
  x[3] = 1e-35f;
  uint64_t out = device.upload(std::vector<float>(192)), xs = device.upload(x);
  device.run(*object, "f", 1, 64, Arguments().add(out).add(xs));
  auto got = device.download<float>(out, 192);
  EXPECT_EQ(bits(got[0]), bits(1.5f));
  EXPECT_EQ(bits(got[3]), bits(0.0f)); // the source is flushed
  EXPECT_EQ(bits(got[6]), bits(-0.0f));
  EXPECT_EQ(bits(got[10]), bits(0.0f));  // the result is flushed
  EXPECT_EQ(bits(got[5]), bits(1e-40f)); // moves keep denormals
}

TEST_P(KernelTest, HalfPrecision) {
  auto object = cl(R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half half2 __attribute__((ext_vector_type(2)));
kernel void f(global float *out, global const float *xs, global half *h) {
  int t = LOCAL;
  half x = (half)xs[t], y = (half)xs[t + 64];
  half2 v = {x, y};
  half2 w = v * v + (half2){(half)0.5f, (half)-1.0f};
  h[t] = x + y;
  out[2 * t] = (float)w[0];
  out[2 * t + 1] = (float)w[1] + (float)(x * y);
})");
  ASSERT_TRUE(object);
  std::vector<float> x(128);
  for (int i = 0; i < 128; ++i)
    x[i] = float(i % 23) * 0.125f - 1.0f; // products are exact in half
  uint64_t out = device.upload(std::vector<float>(128)), xs = device.upload(x),
           h = device.upload(std::vector<uint16_t>(64));
  device.run(*object, "f", 1, 64, Arguments().add(out).add(xs).add(h));
  auto got = device.download<float>(out, 128);
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(got[2 * t], x[t] * x[t] + 0.5f);
    EXPECT_EQ(got[2 * t + 1], x[t + 64] * x[t + 64] - 1.0f + x[t] * x[t + 64]);
  }
}

TEST_P(KernelTest, RegisterPressureWithAGPRsAndSpills) {
  // 200 live doubles: more than 256 VGPRs, so AGPRs or scratch take the rest.
  std::string source =
      "kernel __attribute__((amdgpu_flat_work_group_size(64, 256))) void "
      "f(global double *out, global const double *in) {"
      "int t = LOCAL;\n";
  for (int i = 0; i < 200; ++i)
    source += "double a" + std::to_string(i) +
              " = ((volatile global const "
              "double *)in)[t + 64 * " +
              std::to_string(i) + "];\n";
  source += "double s = 1;\n";
  for (int i = 199; i >= 0; --i)
    source += "s = s * 0.75 + a" + std::to_string(i) + " * a" +
              std::to_string((i * 7) % 200) + ";\n";
  source += "out[t] = s; }";
  for (const char *limit : {"", "-DLIMITED"}) {
    std::string s = source;
    if (*limit)
      s.replace(s.find("(64, 256)"), 9, "(64, 1024)");
    auto object = cl(s);
    ASSERT_TRUE(object);
    const KernelInfo *info = object->findKernel("f");
    EXPECT_GT(info->agprCount + info->vgprSpillCount, 0u);
    auto in = sequence(200 * 64, 0.001, 0.0003);
    uint64_t xs = device.upload(in),
             out = device.upload(std::vector<double>(64));
    device.run(*object, "f", 1, 64, Arguments().add(out).add(xs));
    auto got = device.download<double>(out, 64);
    for (int t = 0; t < 64; ++t) {
      volatile double want = 1;
      for (int i = 199; i >= 0; --i) {
        volatile double p = in[t + 64 * i] * in[t + 64 * ((i * 7) % 200)];
        volatile double q = want * 0.75;
        want = q + p;
      }
      ASSERT_EQ(got[t], double(want)) << t;
    }
  }
}

TEST_P(KernelTest, CallsAndStack) {
  auto object = cl(R"(
__attribute__((noinline)) int triple(int n, private int *calls) {
  int a[4];
  for (int i = 0; i < 4; ++i) a[(i + n) & 3] = n + i;
  ++*calls;
  return a[*calls & 3] * 3;
}
__attribute__((noinline)) int outer(int n, private int *calls) {
  return triple(n, calls) + 2 * triple(n + 1, calls);
}
__attribute__((noinline)) double twice(double x, private double *a, int i) { a[i & 7] = x; return a[(i + 3) & 7] * 2.0; }
kernel void f(global int *out, global double *out2) {
  int t = LOCAL;
  int calls = t;
  out[2 * t] = outer(t, &calls);
  out[2 * t + 1] = calls;
  double a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  double first = twice(t * 0.5, a, t);
  out2[t] = first + twice(t, a, t + 1);
})");
  ASSERT_TRUE(object);
  uint64_t out = device.upload(std::vector<int>(128)),
           out2 = device.upload(std::vector<double>(64));
  device.run(*object, "f", 1, 64, Arguments().add(out).add(out2));
  auto got = device.download<int>(out, 128);
  auto got2 = device.download<double>(out2, 64);
  for (int t = 0; t < 64; ++t) {
    int calls = t;
    auto triple = [&](int n) {
      int a[4];
      for (int i = 0; i < 4; ++i)
        a[(i + n) & 3] = n + i;
      ++calls;
      return a[calls & 3] * 3;
    };
    int want = triple(t);
    want += 2 * triple(t + 1);
    EXPECT_EQ(got[2 * t], want);
    EXPECT_EQ(got[2 * t + 1], calls);
    double a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    auto twice = [&](double x, int i) {
      a[i & 7] = x;
      return a[(i + 3) & 7] * 2.0;
    };
    double first = twice(t * 0.5, t);
    EXPECT_EQ(got2[t], first + twice(t, t + 1));
  }
}

TEST_P(KernelTest, RecursionOverrunsItsStack) {
  // LLVM's metadata asks for one frame: recursion leaves the scratch that the
  // code object declares, on a chip silently.
  auto object = cl(R"(
__attribute__((noinline)) int fibonacci(int n, private int *calls) {
  ++*calls;
  return n < 2 ? n : fibonacci(n - 1, calls) + fibonacci(n - 2, calls);
}
kernel void f(global int *out) {
  int calls = 0;
  out[LOCAL] = fibonacci(LOCAL, &calls) + calls;
})");
  ASSERT_TRUE(object);
  uint64_t out = device.upload(std::vector<int>(64));
  auto result = device.tryRun(*object, "f", 1, 64, Arguments().add(out));
  std::string message = messageOf(result);
  if (object->findKernel("f")->usesDynamicStack)
    GTEST_SKIP() << "this LLVM reserves a dynamic stack";
  EXPECT_NE(message.find("of private memory, which has"), std::string::npos)
      << message;
}

TEST_P(KernelTest, GenericPointers) {
  auto object = cl(R"(
__attribute__((noinline)) int get(const int *p, int i) { return p[i]; }
__attribute__((noinline)) void put(int *p, int i, int v) { p[i] = v; }
kernel void f(global int *out, global int *in) {
  local int s[64];
  int a[8];
  int t = LOCAL;
  put(s, t, t * 3);
  BARRIER;
  for (int i = 0; i < 8; ++i) put(a, i, i + t);
  put(out, t, get(s, 63 - t) + 1000 * get(a, t & 7) + 1000000 * get(in, t));
})");
  ASSERT_TRUE(object);
  std::vector<int> in(64);
  std::iota(in.begin(), in.end(), 0);
  uint64_t out = device.upload(std::vector<int>(64)), xs = device.upload(in);
  Counters c = device.run(*object, "f", 1, 64, Arguments().add(out).add(xs));
  auto got = device.download<int>(out, 64);
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(got[t], (63 - t) * 3 + 1000 * ((t & 7) + t) + 1000000 * t);
  EXPECT_GT(c.flat, 0u);
}

TEST_P(KernelTest, Atomics) {
  auto object = cl(R"(
kernel void f(global int *histogram, global long *total, global double *sum, global int *order) {
  int t = GROUP * 128 + LOCAL;
  __atomic_fetch_add(&histogram[t % 7], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(total, (long)t, __ATOMIC_RELAXED);
  __atomic_fetch_max(&histogram[8], t, __ATOMIC_RELAXED);
  order[t] = __atomic_fetch_add(&histogram[9], 1, __ATOMIC_RELAXED);
  __builtin_amdgcn_global_atomic_fadd_f64(sum, 0.5);
  local int l;
  if (LOCAL == 0) l = 5;
  BARRIER;
  __atomic_fetch_or(&l, 1 << (t & 15), __ATOMIC_RELAXED);
  BARRIER;
  if (LOCAL == 0) histogram[10 + GROUP] = l;
  int expected = 3;
  __atomic_compare_exchange_n(&histogram[12], &expected, t + 100, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
})");
  ASSERT_TRUE(object);
  std::vector<int> initial(16, 0);
  initial[12] = 3;
  uint64_t h = device.upload(initial),
           total = device.upload(std::vector<int64_t>(1, 0)),
           sum = device.upload(std::vector<double>(1, 0.0)),
           order = device.upload(std::vector<int>(256));
  Counters c = device.run(*object, "f", 2, 128,
                          Arguments().add(h).add(total).add(sum).add(order), 4);
  auto got = device.download<int>(h, 16);
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(got[i], 256 / 7 + (i < 256 % 7 ? 1 : 0));
  EXPECT_EQ(got[8], 255);
  EXPECT_EQ(got[9], 256);
  EXPECT_EQ(got[10], 0xffff);
  EXPECT_EQ(got[11], 0xffff);
  EXPECT_EQ(got[12], 100);
  EXPECT_EQ(device.download<int64_t>(total, 1)[0], 255 * 256 / 2);
  EXPECT_EQ(device.download<double>(sum, 1)[0], 128.0);
  auto ranks = device.download<int>(order, 256);
  std::sort(ranks.begin(), ranks.end());
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(ranks[i], i);
  EXPECT_GT(c.VMEMAtomic, 0u);
}

TEST_P(KernelTest, CrossLaneOperations) {
  auto object = cl(R"(
kernel void f(global int *out, global const int *in) {
  int t = LOCAL;
  int v = in[t];
  int a = __builtin_amdgcn_ds_bpermute(4 * (63 - t), v);
  int b = __builtin_amdgcn_update_dpp(-1, v, 0x111, 0xf, 0xf, false);
  int c = __builtin_amdgcn_mov_dpp(v, 0x140, 0xf, 0xf, true);
  int d = __builtin_amdgcn_ds_swizzle(v, 0x041f);
  int e = __builtin_amdgcn_readfirstlane(v) + __builtin_amdgcn_readlane(v, 17);
  int g = __builtin_amdgcn_mbcnt_hi(-1, __builtin_amdgcn_mbcnt_lo(-1, 0));
  int h = __builtin_amdgcn_update_dpp(0, v, 0x142, 0xa, 0xf, false);
  int k = __builtin_amdgcn_update_dpp(0, v, 0x1b, 0xf, 0xf, false);
  long m = __builtin_amdgcn_uicmp(v, 150, 34);
  out[t] = a; out[64 + t] = b; out[128 + t] = c; out[192 + t] = d;
  out[256 + t] = e; out[320 + t] = g; out[384 + t] = h; out[448 + t] = k;
  if (t == 0) *(global long *)(out + 512) = m;
})");
  ASSERT_TRUE(object);
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i)
    in[i] = 100 + 3 * i;
  uint64_t xs = device.upload(in), out = device.upload(std::vector<int>(514));
  device.run(*object, "f", 1, 64, Arguments().add(out).add(xs));
  auto got = device.download<int>(out, 514);
  uint64_t mask = 0;
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(got[t], in[63 - t]) << t;
    EXPECT_EQ(got[64 + t], t % 16 ? in[t - 1] : -1) << t;
    EXPECT_EQ(got[128 + t], in[(t & ~15) | (15 - t % 16)]) << t;
    EXPECT_EQ(got[192 + t], in[t ^ 1]) << t;
    EXPECT_EQ(got[256 + t], in[0] + in[17]) << t;
    EXPECT_EQ(got[320 + t], t) << t;
    EXPECT_EQ(got[384 + t], (t / 16) % 2 ? in[(t / 16) * 16 - 1] : 0) << t;
    EXPECT_EQ(got[448 + t], in[(t & ~3) | (3 - t % 4)]) << t;
    mask |= uint64_t(in[t] > 150) << t;
  }
  uint64_t gotMask;
  std::memcpy(&gotMask, &got[512], 8);
  EXPECT_EQ(gotMask, mask);
}

TEST_P(KernelTest, HiddenArgumentsAndThreeDimensions) {
  for (const char *version : {"4", "5", "6"}) {
    auto object = cl(R"(
kernel void f(global uint *out) {
  constant uint *d = (constant uint *)__builtin_amdgcn_implicitarg_ptr();
  uint sx = __builtin_amdgcn_workgroup_size_x(), sy = __builtin_amdgcn_workgroup_size_y(), sz = __builtin_amdgcn_workgroup_size_z();
  uint gx = __builtin_amdgcn_grid_size_x(), gy = __builtin_amdgcn_grid_size_y();
  uint x = __builtin_amdgcn_workgroup_id_x() * sx + __builtin_amdgcn_workitem_id_x();
  uint y = __builtin_amdgcn_workgroup_id_y() * sy + __builtin_amdgcn_workitem_id_y();
  uint z = __builtin_amdgcn_workgroup_id_z() * sz + __builtin_amdgcn_workitem_id_z();
  out[x + gx * (y + gy * z)] = x + 100 * y + 10000 * z;
})",
                     std::string("-mcode-object-version=") + version);
    ASSERT_TRUE(object);
    EXPECT_EQ(object->version(), unsigned(*version - '0'));
    uint64_t out = device.upload(std::vector<uint32_t>(12 * 10 * 6));
    Arguments arguments;
    arguments.add(out);
    LaunchParameters p;
    p.kernel = "f";
    p.grid = {3, 2, 2};
    p.workgroup = {4, 5, 3};
    p.kernarg = arguments.bytes;
    auto result = launch(*object, device.memory, p);
    ASSERT_TRUE(bool(result)) << messageOf(result);
    auto got = device.download<uint32_t>(out, 12 * 10 * 6);
    for (uint32_t z = 0; z < 6; ++z)
      for (uint32_t y = 0; y < 10; ++y)
        for (uint32_t x = 0; x < 12; ++x)
          ASSERT_EQ(got[x + 12 * (y + 10 * z)], x + 100 * y + 10000 * z);
  }
}

TEST_P(KernelTest, ThreadsDoNotChangeAnything) {
  auto object = cl(R"(
kernel void f(global double *out) {
  int t = GROUP * 64 + LOCAL;
  double x = t;
  for (int i = 0; i < (t & 31); ++i) x = x * 1.0000001 + 1.0 / (x + 1.0);
  out[t] = x;
})");
  ASSERT_TRUE(object);
  std::vector<double> first;
  Counters reference;
  for (unsigned threads : {1u, 2u, 5u}) {
    uint64_t out = device.upload(std::vector<double>(64 * 64));
    Counters c =
        device.run(*object, "f", 64, 64, Arguments().add(out), threads);
    auto got = device.download<double>(out, 64 * 64);
    if (threads == 1) {
      first = got;
      reference = c;
      continue;
    }
    EXPECT_EQ(got, first);
    EXPECT_EQ(std::memcmp(&c, &reference, sizeof(c)), 0);
  }
}

TEST_P(KernelTest, AtomicsInAccumulationRegisters) {
  // They have opcodes of their own. Of each kind, the old values add up.
  std::string scratch = target() == "gfx90a" ? " glc" : " sc0";
  std::string text = assembleKernel(target(), R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32_e32 v1, 0
  v_accvgpr_write_b32 a2, 5
  v_accvgpr_write_b32 a3, 0
  s_mov_b32 m0, -1
  ds_write_b32 v1, v1
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v2, s4
  v_mov_b32_e32 v3, s5
  s_mov_b64 exec, 3
  global_atomic_add a4, v1, a2, s[4:5]%
  global_atomic_add_x2 a[6:7], v[2:3], a[2:3], off offset:8%
  flat_atomic_add a5, v[2:3], a2 offset:16%
  ds_add_rtn_u32 a8, v1, a2
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_lshlrev_b32_e32 v4, 4, v0
  v_accvgpr_read_b32 v8, a4
  v_accvgpr_read_b32 v9, a6
  v_accvgpr_read_b32 v10, a5
  v_accvgpr_read_b32 v11, a8
  global_store_dwordx4 v4, v[8:11], s[4:5] offset:32
  s_endpgm
)",
                                    64);
  for (size_t at; (at = text.find('%')) != std::string::npos;)
    text.replace(at, 1, scratch);
  auto object = build(text, "assembler", target());
  ASSERT_TRUE(object);
  uint64_t p = device.upload(std::vector<uint32_t>(16, 0));
  device.run(*object, "f", 1, 64, Arguments().add(p).add(p).add(uint64_t(0)));
  EXPECT_EQ(device.download<uint32_t>(p, 16),
            (std::vector<uint32_t>{10, 0, 10, 0, 10, 0, 0, 0, //
                                   0, 0, 0, 0, 5, 5, 5, 5}));
}

TEST_P(KernelTest, EndlessLoopMeetsTheLimit) {
  auto object = cl(R"(
kernel void f(global volatile int *p) { while (*p == 0) {} })");
  ASSERT_TRUE(object);
  uint64_t p = device.upload(std::vector<int>(1, 0));
  auto result =
      device.tryRun(*object, "f", 1, 64, Arguments().add(p), 1, 10000);
  std::string message = messageOf(result);
  EXPECT_NE(message.find("10000 instructions, the limit"), std::string::npos)
      << message;
}

TEST_P(KernelTest, WavesThatWaitForEachOther) {
  // The first wavefront spins until the second has set a flag in LDS.
  auto object = cl(R"(
kernel void f(global int *out) {
  local volatile int flag;
  if (LOCAL == 0) flag = 0;
  BARRIER;
  if (LOCAL < 64) { while (flag == 0) {} } else { flag = 42; }
  out[LOCAL] = flag;
})");
  ASSERT_TRUE(object);
  uint64_t out = device.upload(std::vector<int>(128));
  device.run(*object, "f", 1, 128, Arguments().add(out));
  for (int v : device.download<int>(out, 128))
    EXPECT_EQ(v, 42);
}

TEST_P(KernelTest, MatrixProducts) {
  // Every lane loads and stores by the layouts; the host multiplies matrices.
  auto object = cl(R"(
typedef double double4 __attribute__((ext_vector_type(4)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));
kernel void d(global double *D, global const double *A, global const double *B) {
  int l = LOCAL;
  double4 c;
  for (int r = 0; r < 4; ++r) c[r] = D[(4 * r + l / 16) * 16 + l % 16];
  c = __builtin_amdgcn_mfma_f64_16x16x4f64(A[(l % 16) * 4 + l / 16], B[(l / 16) * 16 + l % 16], c, 0, 0, 0);
  for (int r = 0; r < 4; ++r) D[(4 * r + l / 16) * 16 + l % 16] = c[r];
}
kernel void s(global float *D, global const float *A, global const float *B) {
  int l = LOCAL;
  float4 c;
  for (int r = 0; r < 4; ++r) c[r] = D[(4 * (l / 16) + r) * 16 + l % 16];
  c = __builtin_amdgcn_mfma_f32_16x16x4f32(A[(l % 16) * 4 + l / 16], B[(l / 16) * 16 + l % 16], c, 0, 0, 0);
  for (int r = 0; r < 4; ++r) D[(4 * (l / 16) + r) * 16 + l % 16] = c[r];
}
kernel void t(global float *D, global const float *A, global const float *B) {
  int l = LOCAL;
  float16 c;
  for (int r = 0; r < 16; ++r) c[r] = D[(8 * (r / 4) + 4 * (l / 32) + r % 4) * 32 + l % 32];
  c = __builtin_amdgcn_mfma_f32_32x32x2f32(A[(l % 32) * 2 + l / 32], B[(l / 32) * 32 + l % 32], c, 0, 0, 0);
  for (int r = 0; r < 16; ++r) D[(8 * (r / 4) + 4 * (l / 32) + r % 4) * 32 + l % 32] = c[r];
})");
  ASSERT_TRUE(object);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-1, 1);
  auto check = [&](auto zero, const char *kernel, int n, int k) {
    using T = decltype(zero);
    std::vector<T> a(n * k), b(k * n), d(n * n);
    for (auto *m : {&a, &b, &d})
      for (T &x : *m)
        x = T(u(random));
    uint64_t pa = device.upload(a), pb = device.upload(b),
             pd = device.upload(d);
    Counters c =
        device.run(*object, kernel, 1, 64, Arguments().add(pd).add(pa).add(pb));
    EXPECT_EQ(c.MFMA, 1u);
    auto got = device.download<T>(pd, n * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        T want = d[i * n + j];
        for (int p = 0; p < k; ++p)
          want = std::fma(a[i * k + p], b[p * n + j], want);
        ASSERT_EQ(got[i * n + j], want) << kernel << " " << i << " " << j;
      }
  };
  check(0.0, "d", 16, 4);
  check(0.0f, "s", 16, 4);
  check(0.0f, "t", 32, 2);
}

FOR_BOTH_TARGETS(KernelTest);

} // namespace
