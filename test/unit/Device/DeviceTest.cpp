//===- DeviceTest.cpp - Tests of the devices ------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Device/Device.h"
#include "FakeHIP.h"
#include "HIPRuntime.h"
#include "wavesmith/Device/RunKernel.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace wavesmith;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

template <typename T> std::string errorOf(llvm::Expected<T> value) {
  return value ? "success" : llvm::toString(value.takeError());
}
std::string errorOf(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "success";
}

#define ASSERT_OK(value)                                                       \
  ASSERT_TRUE(bool(value)) << llvm::toString((value).takeError())
#define EXPECT_OK(...) EXPECT_EQ(errorOf(__VA_ARGS__), "success")

std::unique_ptr<llvm::MemoryBuffer> readCodeObject(llvm::StringRef name) {
  auto buffer = llvm::MemoryBuffer::getFile(
      std::string(WAVESMITH_TEST_CODE_OBJECTS "/") + name.str());
  if (!buffer)
    llvm::report_fatal_error("test code object is missing: " + name);
  return std::move(*buffer);
}
llvm::ArrayRef<uint8_t> bytesOf(const llvm::MemoryBuffer &buffer) {
  return {reinterpret_cast<const uint8_t *>(buffer.getBufferStart()),
          buffer.getBufferSize()};
}

std::string axpyDescription(llvm::StringRef target) {
  auto buffer = llvm::MemoryBuffer::getFile(WAVESMITH_TEST_AXPY_DESCRIPTION);
  if (!buffer)
    llvm::report_fatal_error("test description is missing");
  std::string text = (*buffer)->getBuffer().str();
  text.replace(text.find("TARGET"), strlen("TARGET"), target.str());
  return text;
}

/// Sets the variable that names a HIP library, and restores it.
class HIPLibrary {
public:
  explicit HIPLibrary(const std::string &path) {
    setenv(hip::libraryVariable, path.c_str(), 1);
  }
  ~HIPLibrary() { unsetenv(hip::libraryVariable); }
};

//===----------------------------------------------------------------------===//
// Without a GPU
//===----------------------------------------------------------------------===//

TEST(Device, KindNames) {
  for (auto [text, kind] :
       {std::pair("auto", DeviceKind::Auto), std::pair("hip", DeviceKind::HIP),
        std::pair("sim", DeviceKind::Simulator)}) {
    llvm::Expected<DeviceKind> parsed = parseDeviceKind(text);
    ASSERT_OK(parsed);
    EXPECT_EQ(*parsed, kind);
  }
  EXPECT_EQ(errorOf(parseDeviceKind("cuda")),
            "unknown device 'cuda'; known are auto, hip, sim");
}

TEST(Device, TargetsMatch) {
  EXPECT_OK(checkTargetMatches("gfx90a", "gfx90a:sramecc+:xnack-"));
  EXPECT_OK(checkTargetMatches("amdgcn-amd-amdhsa--gfx90a:xnack-",
                               "gfx90a:sramecc+:xnack-"));
  EXPECT_EQ(errorOf(checkTargetMatches("gfx942", "gfx90a:sramecc+:xnack-")),
            "code object is for gfx942, the device is gfx90a");
  EXPECT_EQ(
      errorOf(checkTargetMatches("gfx90a:xnack+", "gfx90a:sramecc+:xnack-")),
      "code object needs xnack+, the device is gfx90a:sramecc+:xnack-");
  EXPECT_EQ(getArchitecture("amdgcn-amd-amdhsa--gfx942:sramecc+"), "gfx942");
}

TEST(Device, UnknownArchitecture) {
  for (DeviceKind kind :
       {DeviceKind::Auto, DeviceKind::HIP, DeviceKind::Simulator})
    EXPECT_EQ(errorOf(createDevice(kind, "gfx1100")),
              "unknown target architecture 'gfx1100'; known are gfx90a, "
              "gfx942");
}

TEST(Device, Threads) {
  DeviceOptions options;
  for (unsigned threads : {0u, 1025u}) {
    options.threads = threads;
    EXPECT_EQ(errorOf(createDevice(DeviceKind::Simulator, "gfx90a", options)),
              "number of threads must be from 1 to 1024, got " +
                  std::to_string(threads));
  }
}

TEST(Device, LibraryThatIsNowhere) {
  HIPLibrary library("/nowhere/libamdhip64.so");
  for (DeviceKind kind : {DeviceKind::Auto, DeviceKind::HIP}) {
    std::string error = errorOf(createDevice(kind, "gfx90a"));
    EXPECT_THAT(error, StartsWith("the HIP library that "
                                  "WAVESMITH_HIP_LIBRARY=/nowhere/"
                                  "libamdhip64.so names cannot be used"));
    EXPECT_THAT(error, HasSubstr("No such file"));
  }
  // The simulator does not look for it.
  EXPECT_OK(createDevice(DeviceKind::Simulator, "gfx90a"));
}

TEST(Device, LibraryThatIsNone) {
  HIPLibrary library("libm.so.6");
  EXPECT_THAT(errorOf(createDevice(DeviceKind::HIP, "gfx90a")),
              HasSubstr("libm.so.6: is not a usable HIP library: it lacks "
                        "hipInit, "));
}

TEST(Device, FolderWithoutLibrary) {
  HIPLibrary library("/usr/include");
  std::string error = errorOf(createDevice(DeviceKind::HIP, "gfx90a"));
  EXPECT_THAT(error, HasSubstr("/usr/include/libamdhip64.so.7: "));
  EXPECT_THAT(error, HasSubstr("/usr/include/libamdhip64.so: "));
}

// With a GPU in the machine the real library does not give this error.
TEST(Device, InstalledLibraryWithoutGPU) {
  llvm::Expected<std::vector<DeviceInfo>> devices = enumerateDevices();
  ASSERT_OK(devices);
  for (const DeviceInfo &info : *devices)
    if (info.kind == DeviceKind::HIP)
      GTEST_SKIP() << "there is a GPU: " << info.name;
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::HIP, "gfx90a");
  ASSERT_FALSE(bool(device));
  llvm::Error error = device.takeError();
  EXPECT_TRUE(error.isA<NoDeviceError>());
  EXPECT_THAT(llvm::toString(std::move(error)), StartsWith("no HIP device: "));

  device = createDevice(DeviceKind::Auto, "gfx90a");
  ASSERT_OK(device);
  EXPECT_EQ((*device)->info().kind, DeviceKind::Simulator);
  EXPECT_THAT((*device)->info().note, StartsWith("no HIP device: "));
}

//===----------------------------------------------------------------------===//
// With the fake library
//===----------------------------------------------------------------------===//

/// Both layouts of the device properties.
class FakeHIP : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    library = std::make_unique<HIPLibrary>(GetParam());
    void *handle = dlopen(GetParam(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(handle) << dlerror();
    auto get =
        reinterpret_cast<FakeHIPState *(*)()>(dlsym(handle, "fakeHIPState"));
    ASSERT_TRUE(get);
    state = get();
    *state = FakeHIPState{};
    state->version = 60300000;
    state->deviceCount = 2;
    state->architectures[0] = "gfx90a:sramecc+:xnack-";
    state->architectures[1] = "gfx942:sramecc+:xnack-";
    state->computeUnits = 104;
    state->milliseconds = 2.5f;
  }

  void TearDown() override {
    EXPECT_EQ(state->liveAllocations, 0);
    EXPECT_EQ(state->liveModules, 0);
    EXPECT_EQ(state->liveStreams, 0);
    EXPECT_EQ(state->liveEvents, 0);
  }

  FakeHIPState *state = nullptr;
  std::unique_ptr<HIPLibrary> library;
};

INSTANTIATE_TEST_SUITE_P(Layouts, FakeHIP,
                         testing::Values(WAVESMITH_FAKE_HIP,
                                         WAVESMITH_FAKE_HIP_R0600));

TEST_P(FakeHIP, Enumerates) {
  llvm::Expected<std::vector<DeviceInfo>> devices = enumerateDevices();
  ASSERT_OK(devices);
  ASSERT_EQ(devices->size(), 4u);
  EXPECT_EQ((*devices)[0].kind, DeviceKind::HIP);
  EXPECT_EQ((*devices)[0].architecture, "gfx90a");
  EXPECT_EQ((*devices)[0].fullArchitecture, "gfx90a:sramecc+:xnack-");
  EXPECT_EQ((*devices)[0].computeUnits, 104u);
  EXPECT_EQ((*devices)[1].ordinal, 1);
  EXPECT_EQ((*devices)[1].name, "Fake GPU 1");
  EXPECT_EQ((*devices)[1].runtime,
            std::string("HIP 6.3.0 (") + GetParam() + ")");
  EXPECT_EQ((*devices)[2].kind, DeviceKind::Simulator);
  EXPECT_EQ((*devices)[2].architecture, "gfx90a");
  EXPECT_EQ((*devices)[3].architecture, "gfx942");
}

TEST_P(FakeHIP, AutoTakesTheGPUOfTheArchitecture) {
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::Auto, "gfx942");
  ASSERT_OK(device);
  EXPECT_EQ((*device)->info().kind, DeviceKind::HIP);
  EXPECT_EQ((*device)->info().ordinal, 1);
  EXPECT_EQ(state->currentDevice, 1);
}

TEST_P(FakeHIP, GPUsOfOtherArchitectures) {
  state->deviceCount = 1;
  EXPECT_EQ(errorOf(createDevice(DeviceKind::HIP, "gfx942")),
            std::string("no HIP device of architecture gfx942: HIP 6.3.0 (") +
                GetParam() + ") shows 0: Fake GPU 0 (gfx90a:sramecc+:xnack-)");
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::Auto, "gfx942");
  ASSERT_OK(device);
  EXPECT_EQ((*device)->info().kind, DeviceKind::Simulator);

  DeviceOptions options;
  options.ordinal = 3;
  EXPECT_THAT(errorOf(createDevice(DeviceKind::HIP, "gfx90a", options)),
              StartsWith("no HIP device of architecture gfx90a with number "
                         "3: "));
  EXPECT_THAT(errorOf(createDevice(DeviceKind::Auto, "gfx90a", options)),
              StartsWith("no HIP device of architecture gfx90a with number "
                         "3: "));
  EXPECT_EQ(errorOf(createDevice(DeviceKind::Simulator, "gfx90a", options)),
            "a device number (3) chooses a GPU; the simulator has none");
}

TEST_P(FakeHIP, AnyArchitectureMeansASupportedOne) {
  state->architectures[0] = "gfx1100";
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::HIP, "");
  ASSERT_OK(device);
  EXPECT_EQ((*device)->info().ordinal, 1);
  device->reset(); // The fake knows it only as long as it counts two.
  state->deviceCount = 1;
  EXPECT_EQ(errorOf(createDevice(DeviceKind::HIP, "")),
            std::string("no HIP device of a supported architecture: HIP 6.3.0 "
                        "(") +
                GetParam() + ") shows 0: Fake GPU 0 (gfx1100)");
}

TEST_P(FakeHIP, NoArchitectureName) {
  state->architectures[0] = "nonsense";
  EXPECT_THAT(errorOf(createDevice(DeviceKind::HIP, "gfx90a")),
              HasSubstr("properties of device 0 hold no architecture name"));
}

TEST_P(FakeHIP, OnlyTheTwoCodesMeanNoDevice) {
  for (int code : {100, 101}) {
    state->initResult = code;
    llvm::Expected<std::unique_ptr<Device>> device =
        createDevice(DeviceKind::Auto, "gfx90a");
    ASSERT_OK(device);
    EXPECT_EQ((*device)->info().kind, DeviceKind::Simulator);
    EXPECT_THAT((*device)->info().note,
                HasSubstr(code == 100
                              ? "HIP error 100 (hipErrorSomething: fake text)"
                              : "HIP error 101 (hipErrorInvalidDevice)"));
  }
  state->initResult = 999;
  for (DeviceKind kind : {DeviceKind::Auto, DeviceKind::HIP})
    EXPECT_THAT(errorOf(createDevice(kind, "gfx90a")),
                HasSubstr("hipInit: HIP error 999 (hipErrorSomething: fake "
                          "text)"));
}

TEST_P(FakeHIP, OldVersionRefusesGFX942) {
  state->version = 50221153;
  for (DeviceKind kind : {DeviceKind::Auto, DeviceKind::HIP})
    EXPECT_EQ(errorOf(createDevice(kind, "gfx942")),
              std::string("gfx942 needs HIP 5.7.0 or later; this is HIP "
                          "5.2.21153 (") +
                  GetParam() + ")");
  EXPECT_OK(createDevice(DeviceKind::HIP, "gfx90a"));
}

TEST_P(FakeHIP, CodeObjects) {
  auto gfx90a = readCodeObject("axpy-gfx90a.hsaco");
  auto gfx942 = readCodeObject("axpy-gfx942.hsaco");
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::HIP, "gfx90a");
  ASSERT_OK(device);
  EXPECT_EQ(errorOf((*device)->loadCodeObject(bytesOf(*gfx942))),
            "code object is for gfx942, the device is gfx90a");
  const uint8_t nonsense[] = {'_', '_', 'C', 'L', 'A', 'N', 'G'};
  EXPECT_NE(errorOf((*device)->loadCodeObject(nonsense)), "success");
  EXPECT_NE(errorOf((*device)->loadCodeObject({})), "success");
  EXPECT_NE(
      errorOf((*device)->loadCodeObject(bytesOf(*gfx90a).take_front(200))),
      "success");
  // HIP saw none of them.
  EXPECT_EQ(state->modulesLoaded, 0);
  EXPECT_OK((*device)->loadCodeObject(bytesOf(*gfx90a)));
  EXPECT_EQ(state->modulesLoaded, 1);

  // Version 5 on a HIP that reads up to 4.
  state->version = 50221153;
  device = createDevice(DeviceKind::HIP, "gfx90a");
  ASSERT_OK(device);
  EXPECT_THAT(errorOf((*device)->loadCodeObject(bytesOf(*gfx90a))),
              StartsWith("code object has version 5, which needs HIP 5.3.0 or "
                         "later; this is HIP 5.2.21153"));
  EXPECT_EQ(state->modulesLoaded, 1);
}

TEST_P(FakeHIP, MemoryAndErrors) {
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::HIP, "gfx90a");
  ASSERT_OK(device);
  llvm::Expected<uint64_t> address = (*device)->allocate(16, "x");
  ASSERT_OK(address);
  const uint8_t written[16] = {1, 2, 3, 4, 5};
  uint8_t read[16] = {};
  EXPECT_OK((*device)->copyToDevice(*address, written));
  EXPECT_OK((*device)->copyFromDevice(read, *address));
  EXPECT_EQ(std::memcmp(written, read, 16), 0);
  EXPECT_OK((*device)->release(*address));
  EXPECT_EQ(errorOf((*device)->allocate(0, "x")),
            "cannot allocate zero bytes for 'x'");
  EXPECT_EQ(errorOf((*device)->allocate(uint64_t(1) << 40, "x")),
            "hipMalloc of 1099511627776 bytes for 'x' on device 0, gfx90a: HIP "
            "error 2 (hipErrorSomething: fake text)");
}

/// What axpy.ll computes, from the kernarg buffer.
void executeAxpy(const FakeLaunch *launch) {
  struct {
    double a;
    const double *x, *y;
    double *result, *workspace;
    int64_t zones;
  } arguments;
  static_assert(sizeof(arguments) == 48);
  ASSERT_EQ(launch->kernargSize, sizeof(arguments));
  std::memcpy(&arguments, launch->kernarg, sizeof(arguments));
  for (unsigned i = 0; i < launch->grid[0] * launch->workgroup[0]; ++i)
    arguments.workspace[i] = arguments.a;
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t i = 0; i < arguments.zones; ++i)
      arguments.result[row * arguments.zones + i] =
          arguments.a * arguments.x[row * arguments.zones + i] + arguments.y[i];
}

/// Inputs of axpy for some number of zones. Products and sums are exact.
struct AxpyInputs {
  explicit AxpyInputs(int64_t zones) : zones(zones), x(2 * zones), y(zones) {
    for (int64_t i = 0; i < 2 * zones; ++i)
      x[i] = 0.25 * i;
    for (int64_t i = 0; i < zones; ++i)
      y[i] = 1000 - i;
    put("a", {}, &a, 1);
    put("x", {2, zones}, x.data(), x.size());
    put("y", {zones}, y.data(), y.size());
  }
  void put(llvm::StringRef name, llvm::SmallVector<int64_t, 4> shape,
           const double *values, size_t count) {
    request.values[name] = {
        ElementType::F64,
        std::move(shape),
        {reinterpret_cast<const uint8_t *>(values), count * sizeof(double)}};
  }
  void expectOutputs(const RunResult &result) const {
    ASSERT_EQ(result.outputs.size(), 1u);
    EXPECT_EQ(result.outputs[0].first, "result0");
    const HostArray &output = result.outputs[0].second;
    EXPECT_EQ(formatShape(output.shape), formatShape({2, zones}));
    ASSERT_EQ(output.bytes.size(), 2 * zones * sizeof(double));
    std::vector<double> values(2 * zones);
    std::memcpy(values.data(), output.bytes.data(), output.bytes.size());
    for (int64_t i = 0; i < 2 * zones; ++i)
      ASSERT_EQ(values[i], 3.0 * x[i] + y[i % zones]) << "at " << i;
  }

  int64_t zones;
  double a = 3.0;
  std::vector<double> x, y;
  RunRequest request;
};

TEST_P(FakeHIP, RunsAKernel) {
  state->onLaunch = executeAxpy;
  auto object = readCodeObject("axpy-gfx90a.hsaco");
  llvm::Expected<CodeObjectDescription> description =
      CodeObjectDescription::parse(axpyDescription("gfx90a"));
  ASSERT_OK(description);
  AxpyInputs inputs(100);
  inputs.request.codeObject = bytesOf(*object);
  inputs.request.description = &*description;
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::HIP, "gfx90a");
  ASSERT_OK(device);
  EXPECT_FALSE((*device)->measuredSeconds().has_value());
  llvm::Expected<RunResult> result = runKernel(**device, inputs.request);
  ASSERT_OK(result);
  inputs.expectOutputs(*result);
  EXPECT_EQ(state->launches, 1);
  EXPECT_EQ(result->report.grid, (std::array<uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(result->report.zones, 100);
  EXPECT_EQ(result->report.target.chip, "mi210");
  EXPECT_FALSE(result->report.counters.has_value());
  ASSERT_TRUE(result->report.measuredSeconds.has_value());
  EXPECT_DOUBLE_EQ(*result->report.measuredSeconds, 2.5e-3);

  std::string json;
  llvm::raw_string_ostream(json) << result->report.toJSON();
  EXPECT_THAT(json, HasSubstr("\"kind\":\"HIP GPU\""));
  EXPECT_THAT(json, HasSubstr("\"kind\":\"measured\""));
  EXPECT_THAT(json, testing::Not(HasSubstr("counters")));
}

TEST_P(FakeHIP, StartsOnTheCallersStream) {
  state->onLaunch = executeAxpy;
  auto object = readCodeObject("axpy-gfx90a.hsaco");
  llvm::Expected<CodeObjectDescription> description =
      CodeObjectDescription::parse(axpyDescription("gfx90a"));
  ASSERT_OK(description);
  // The fake GPU's memory is the host's.
  AxpyInputs inputs(100);
  inputs.request.codeObject = bytesOf(*object);
  inputs.request.description = &*description;
  auto metadata = sim::CodeObject::load(bytesOf(*object));
  ASSERT_OK(metadata);
  llvm::Expected<RunPlan> plan = planRun(inputs.request, **metadata);
  ASSERT_OK(plan);
  EXPECT_EQ(plan->getPaddedSizes().lookup("zones"), 128);
  RunResult result;
  result.outputs.emplace_back(
      "result0",
      HostArray{ElementType::F64, {2, 100}, std::vector<uint8_t>(1600)});
  std::vector<double> workspace(128);
  llvm::StringMap<uint64_t> others;
  auto addressOf = [](auto &array) {
    return reinterpret_cast<uint64_t>(array.data());
  };
  others["result0"] = addressOf(result.outputs[0].second.bytes);
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::HIP, "gfx90a");
  ASSERT_OK(device);
  int stream = 0;
  EXPECT_EQ(
      errorOf(startKernel(**device, inputs.request, *plan, others, &stream)),
      "kernel 'axpy' needs workspace 'workspace0' on the GPU");
  others["workspace0"] = addressOf(workspace);
  EXPECT_OK(startKernel(**device, inputs.request, *plan, others, &stream));
  EXPECT_EQ(state->launches, 1);
  EXPECT_EQ(state->lastStream, &stream);
  inputs.expectOutputs(result);
  EXPECT_EQ(workspace[127], 3.0);
  // Nothing was allocated, nothing measured, and the module stays loaded: the
  // launch may still be under way.
  EXPECT_EQ(state->liveAllocations, 0);
  EXPECT_EQ(state->liveModules, 1);
  EXPECT_OK((*device)->wait());
  EXPECT_FALSE((*device)->measuredSeconds().has_value());
  // It is loaded once, whoever launches.
  llvm::Expected<RunResult> run = runKernel(**device, inputs.request);
  ASSERT_OK(run);
  inputs.expectOutputs(*run);
  EXPECT_NE(state->lastStream, &stream);
  EXPECT_EQ(state->modulesLoaded, 1);

  llvm::Expected<std::unique_ptr<Device>> simulator =
      createDevice(DeviceKind::Simulator, "gfx90a");
  ASSERT_OK(simulator);
  EXPECT_EQ(
      errorOf(startKernel(**simulator, inputs.request, *plan, others, nullptr)),
      "arrays on a GPU need a GPU to launch kernel 'axpy', the device is a "
      "simulator");
}

TEST_P(FakeHIP, UnloadsModulesWhenNothingRuns) {
  auto object = readCodeObject("axpy-gfx90a.hsaco");
  std::vector<uint8_t> elf = bytesOf(*object).vec();
  {
    llvm::Expected<std::unique_ptr<Device>> device =
        createDevice(DeviceKind::HIP, "gfx90a");
    ASSERT_OK(device);
    for (int i = 0; i < 65; ++i) {
      elf.push_back(0);
      EXPECT_OK((*device)->loadCodeObject(elf));
    }
    EXPECT_EQ(state->modulesLoaded, 65);
    EXPECT_EQ(state->liveModules, 64);
    EXPECT_EQ(state->deviceSynchronisations, 1);
  }
  EXPECT_EQ(state->deviceSynchronisations, 2);
  EXPECT_EQ(state->liveModules, 0);
}

TEST_P(FakeHIP, UnwrittenOutputsAreNaN) {
  auto object = readCodeObject("axpy-gfx90a.hsaco");
  llvm::Expected<CodeObjectDescription> description =
      CodeObjectDescription::parse(axpyDescription("gfx90a"));
  ASSERT_OK(description);
  AxpyInputs inputs(3);
  inputs.request.codeObject = bytesOf(*object);
  inputs.request.description = &*description;
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::HIP, "gfx90a");
  ASSERT_OK(device);
  llvm::Expected<RunResult> result = runKernel(**device, inputs.request);
  ASSERT_OK(result);
  double value;
  std::memcpy(&value, result->outputs[0].second.bytes.data(), sizeof(value));
  EXPECT_NE(value, value);
}

TEST_P(FakeHIP, FailedLaunchReleasesEverything) {
  state->launchResult = 719;
  auto object = readCodeObject("axpy-gfx90a.hsaco");
  llvm::Expected<CodeObjectDescription> description =
      CodeObjectDescription::parse(axpyDescription("gfx90a"));
  ASSERT_OK(description);
  AxpyInputs inputs(100);
  inputs.request.codeObject = bytesOf(*object);
  inputs.request.description = &*description;
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::HIP, "gfx90a");
  ASSERT_OK(device);
  EXPECT_EQ(errorOf(runKernel(**device, inputs.request)),
            "launch of kernel 'axpy' on device 0, gfx90a: HIP error 719 "
            "(hipErrorLaunchFailure: fake text)");
  EXPECT_EQ(state->liveAllocations, 0);
  EXPECT_FALSE((*device)->measuredSeconds().has_value());
}

//===----------------------------------------------------------------------===//
// With the simulator
//===----------------------------------------------------------------------===//

class Simulator : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Targets, Simulator,
                         testing::Values("gfx90a", "gfx942"));

TEST_P(Simulator, RunsAKernel) {
  auto object = readCodeObject(std::string("axpy-") + GetParam() + ".hsaco");
  llvm::Expected<CodeObjectDescription> description =
      CodeObjectDescription::parse(axpyDescription(GetParam()));
  ASSERT_OK(description);
  for (unsigned threads : {1u, 2u})
    for (int64_t zones : {1, 63, 64, 65, 300}) {
      AxpyInputs inputs(zones);
      inputs.request.codeObject = bytesOf(*object);
      inputs.request.description = &*description;
      DeviceOptions options;
      options.threads = threads;
      llvm::Expected<std::unique_ptr<Device>> device =
          createDevice(DeviceKind::Simulator, GetParam(), options);
      ASSERT_OK(device);
      llvm::Expected<RunResult> result = runKernel(**device, inputs.request);
      ASSERT_OK(result);
      inputs.expectOutputs(*result);
      EXPECT_FALSE(result->report.measuredSeconds.has_value());
      ASSERT_TRUE(result->report.counters.has_value());
      EXPECT_EQ(result->report.counters->waves, uint64_t(zones + 63) / 64);
      EXPECT_EQ(result->report.occupancy.wavesPerSIMD, 8u);
    }
}

TEST_P(Simulator, RefusesTheOtherTarget) {
  llvm::StringRef other =
      llvm::StringRef(GetParam()) == "gfx90a" ? "gfx942" : "gfx90a";
  auto object = readCodeObject(("axpy-" + other + ".hsaco").str());
  llvm::Expected<std::unique_ptr<Device>> device =
      createDevice(DeviceKind::Simulator, GetParam());
  ASSERT_OK(device);
  EXPECT_EQ(
      errorOf((*device)->loadCodeObject(bytesOf(*object))),
      ("code object is for " + other + ", the device is " + GetParam()).str());
}

//===----------------------------------------------------------------------===//
// Checks before a launch
//===----------------------------------------------------------------------===//

class Plan : public testing::Test {
protected:
  void SetUp() override {
    object = readCodeObject("axpy-gfx90a.hsaco");
    llvm::Expected<CodeObjectDescription> parsed =
        CodeObjectDescription::parse(axpyDescription("gfx90a"));
    ASSERT_OK(parsed);
    description = std::move(*parsed);
    inputs.request.description = &description;
    llvm::Expected<std::shared_ptr<const sim::CodeObject>> loaded =
        sim::CodeObject::load(bytesOf(*object));
    ASSERT_OK(loaded);
    codeObject = *loaded;
  }
  std::string planError() {
    return errorOf(planRun(inputs.request, *codeObject));
  }
  HostArrayView &value(llvm::StringRef name) {
    return inputs.request.values[name];
  }

  std::unique_ptr<llvm::MemoryBuffer> object;
  std::shared_ptr<const sim::CodeObject> codeObject;
  CodeObjectDescription description;
  AxpyInputs inputs{100};
};

TEST_F(Plan, Good) {
  EXPECT_EQ(planError(), "success");
  inputs.request.zones = 100;
  inputs.request.kernel = "axpy";
  EXPECT_EQ(planError(), "success");
}

TEST_F(Plan, MissingAndUnknownNames) {
  inputs.request.values.erase("y");
  EXPECT_EQ(planError(),
            "kernel 'axpy' needs input 'y' of type f64 and shape [zones]");
  value("z") = value("x");
  EXPECT_EQ(planError(),
            "kernel 'axpy' has no input or scalar 'z'; it has a, x, y");
  inputs.request.values.erase("z");
  inputs.request.values.erase("a");
  EXPECT_EQ(planError(), "kernel 'axpy' needs scalar 'a' of type f64");
  value("result0") = value("x");
  EXPECT_EQ(planError(),
            "kernel 'axpy' has no input or scalar 'result0'; it has a, x, y");
}

TEST_F(Plan, TypesAndShapes) {
  value("x").type = ElementType::I64;
  EXPECT_EQ(planError(), "input 'x': expected elements of type f64, got i64");
  value("x").type = ElementType::F64;
  value("x").shape = {100, 2};
  EXPECT_EQ(planError(), "input 'x': expected shape [2, zones], got [100, 2]");
  value("x").shape = {200};
  EXPECT_EQ(planError(), "input 'x': expected shape [2, zones], got [200]");
  value("x").shape = {2, 99};
  EXPECT_EQ(planError(), "input 'x': shape [2, 99] of f64 does not take the "
                         "1600 bytes given");
  value("x").shape = {2, -100};
  EXPECT_EQ(planError(), "input 'x': shape [2, -100] of f64 does not take the "
                         "1600 bytes given");
  value("x").shape = {2, int64_t(1) << 62};
  EXPECT_THAT(planError(), HasSubstr("does not take the 1600 bytes given"));
  value("x") = inputs.request.values["y"];
  value("x").shape = {2, 50};
  EXPECT_EQ(planError(), "input 'y' has 100 zones, input 'x' has 50");
  value("a").shape = {1};
  EXPECT_EQ(planError(), "scalar 'a': expected shape [] (a scalar), got [1]");
}

TEST_F(Plan, Zones) {
  inputs.request.zones = 99;
  EXPECT_EQ(planError(), "input 'x' has 100 zones, the call has 99");
  inputs.request.zones = 0;
  EXPECT_EQ(planError(), "number of zones must be positive, got 0");
  inputs.request.zones.reset();
  value("x").shape = {2, 0};
  value("x").bytes = {};
  EXPECT_EQ(planError(), "input 'x' has zero zones: shape [2, 0]");
}

TEST_F(Plan, DescriptionAgainstCodeObject) {
  description.kernels[0].arguments.pop_back();
  EXPECT_EQ(planError(), "kernel 'axpy' has 6 arguments in the code object and "
                         "5 in the description");
  SetUp();
  description.kernels[0].arguments[5].type = ElementType::I32;
  EXPECT_EQ(planError(),
            "argument 5 ('num_zones') of kernel 'axpy' is a by_value of 8 "
            "bytes in the code object; the description makes it a by_value of "
            "4 bytes");
  SetUp();
  std::swap(description.kernels[0].arguments[0],
            description.kernels[0].arguments[1]);
  EXPECT_EQ(planError(),
            "argument 0 ('x') of kernel 'axpy' is a by_value of 8 bytes in the "
            "code object; the description makes it a global_buffer of 8 bytes");
  SetUp();
  description.kernels[0].name = "other";
  EXPECT_EQ(planError(), "code object has no kernel 'other'; it has axpy");
  inputs.request.kernel = "third";
  EXPECT_EQ(planError(), "the description has no kernel 'third'; it has other");
  inputs.request.kernel = "";
  SetUp();
  description.target = "gfx942";
  EXPECT_EQ(planError(),
            "code object is for gfx90a, its description for gfx942");
}

TEST_F(Plan, Launch) {
  llvm::Expected<const TargetInfo &> target = lookupTarget("gfx90a");
  ASSERT_OK(target);
  const sim::KernelInfo &kernel = *codeObject->findKernel("axpy");
  std::vector<uint8_t> kernarg(48);
  KernelLaunch good;
  good.kernel = "axpy";
  good.workgroup = {64, 1, 1};
  good.kernarg = kernarg;
  EXPECT_OK(checkLaunch(kernel, *target, good));
  KernelLaunch bad = good;
  bad.grid = {1, 0, 1};
  EXPECT_EQ(errorOf(checkLaunch(kernel, *target, bad)),
            "cannot launch kernel 'axpy': grid [1, 0, 1] and workgroup [64, 1, "
            "1] must not have a zero size");
  bad = good;
  bad.grid = {1u << 26, 1, 1};
  EXPECT_EQ(errorOf(checkLaunch(kernel, *target, bad)),
            "cannot launch kernel 'axpy': dimension 0 has 67108864 workgroups "
            "of 64 work-items; their product must fit in 32 bits");
  bad = good;
  bad.workgroup = {128, 1, 1};
  EXPECT_EQ(errorOf(checkLaunch(kernel, *target, bad)),
            "cannot launch kernel 'axpy': workgroup [128, 1, 1] has 128 "
            "work-items; the kernel takes up to 64");
  bad = good;
  bad.dynamicLDSBytes = 65537;
  EXPECT_EQ(errorOf(checkLaunch(kernel, *target, bad)),
            "cannot launch kernel 'axpy': it needs 65537 bytes of LDS; gfx90a "
            "has 65536");
  bad = good;
  bad.kernarg = good.kernarg.drop_back();
  EXPECT_EQ(errorOf(checkLaunch(kernel, *target, bad)),
            "cannot launch kernel 'axpy': kernarg buffer has 47 bytes; the "
            "explicit arguments take 48");
}

} // namespace
