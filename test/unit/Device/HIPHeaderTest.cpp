//===- HIPHeaderTest.cpp - Our declarations against HIP's headers ---------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled only where HIP's headers are installed; all checks are made by the
// compiler.
//
//===----------------------------------------------------------------------===//

#define __HIP_PLATFORM_AMD__
// Overloads of hipMalloc and others in C++ would stand in the way of decltype.
#define __HIP_DISABLE_CPP_FUNCTIONS__
#include "HIPRuntime.h"
#include "gtest/gtest.h"
#include <hip/hip_runtime_api.h>
#include <type_traits>

using namespace wavesmith;

namespace {

/// Whether two types are passed in the same way: equal, both pointers, or an
/// enumeration beside an integer of its size.
template <typename Ours, typename Theirs> constexpr bool samePassing() {
  if constexpr (std::is_same_v<Ours, Theirs>)
    return true;
  else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>)
    return true;
  else if constexpr (std::is_enum_v<Theirs>)
    return std::is_same_v<Ours, int> && sizeof(Theirs) == sizeof(int);
  else
    return false;
}

template <typename Ours, typename Theirs>
struct SameSignature : std::false_type {};
template <typename R1, typename... A1, typename R2, typename... A2>
struct SameSignature<R1(A1...), R2(A2...)> {
  static constexpr bool compare() {
    if constexpr (sizeof...(A1) == sizeof...(A2))
      return samePassing<R1, R2>() && (samePassing<A1, A2>() && ...);
    else
      return false;
  }
  static constexpr bool value = compare();
};

// The comparison itself can fail.
static_assert(!SameSignature<int(int), int(unsigned)>::value);
static_assert(!SameSignature<int(int), int(int, int)>::value);
static_assert(!SameSignature<int(size_t), int(void *)>::value);

#define CHECK_SIGNATURE(name, ...)                                             \
  static_assert(                                                               \
      SameSignature<hip::Runtime::name##Type, decltype(::name)>::value,        \
      #name " differs from HIP's header");
WAVESMITH_HIP_FUNCTIONS(CHECK_SIGNATURE)
static_assert(SameSignature<hip::GetDeviceProperties,
                            decltype(hipGetDeviceProperties)>::value);

static_assert(hip::success == hipSuccess);
static_assert(hip::errorNoDevice == hipErrorNoDevice);
static_assert(hip::errorInvalidDevice == hipErrorInvalidDevice);
static_assert(hip::memcpyHostToDevice == hipMemcpyHostToDevice);
static_assert(hip::memcpyDeviceToHost == hipMemcpyDeviceToHost);
static_assert(hip::streamNonBlocking == hipStreamNonBlocking);
static_assert(hip::attributeMultiprocessorCount ==
              hipDeviceAttributeMultiprocessorCount);
#if HIP_VERSION_MAJOR < 6
static_assert(sizeof(hipDeviceProp_t) == hip::propertiesSizeR0000);
static_assert(offsetof(hipDeviceProp_t, gcnArchName) ==
              hip::archNameOffsetR0000);
#else
static_assert(offsetof(hipDeviceProp_t, gcnArchName) ==
              hip::archNameOffsetR0600);
#endif
static_assert(sizeof(hipDeviceProp_t) <= hip::propertiesBufferSize);
static_assert(sizeof(hipDeviceProp_t::gcnArchName) == hip::archNameSize);

// The markers are casts to pointers in HIP's header, so not for the compiler.
TEST(HIPHeader, LaunchMarkers) {
  EXPECT_EQ(hip::launchParameterBufferPointer,
            reinterpret_cast<uintptr_t>(HIP_LAUNCH_PARAM_BUFFER_POINTER));
  EXPECT_EQ(hip::launchParameterBufferSize,
            reinterpret_cast<uintptr_t>(HIP_LAUNCH_PARAM_BUFFER_SIZE));
  EXPECT_EQ(hip::launchParameterEnd,
            reinterpret_cast<uintptr_t>(HIP_LAUNCH_PARAM_END));
}

TEST(HIPHeader, Version) {
  // HIP_VERSION is what hipRuntimeGetVersion gives, less the patch here.
  EXPECT_EQ(hip::makeVersion(HIP_VERSION_MAJOR, HIP_VERSION_MINOR),
            HIP_VERSION / 100000 * 100000);
}

} // namespace
