//===- WavesmithKernels.cpp - Our rungs of the ladder ---------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The network's own file, with a function that integrates it, compiled by
// wavesmith-compile with more and more of the optional passes. The compiler
// runs as a program of its own: lld, inside of it, resets the options of the
// process.
//
//===----------------------------------------------------------------------===//

#include "../KernelSource.h"
#include "Rung.h"
#include "wavesmith/Pipelines/Pipelines.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <map>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::bench;

/// The network's file with its function replaced by an integration.
static Expected<std::string>
integrationText(StringRef path, const Problem &problem, uint64_t maxSteps) {
  auto bytes = readFile(path);
  if (!bytes)
    return bytes.takeError();
  StringRef text(reinterpret_cast<const char *>(bytes->data()), bytes->size());
  size_t function = text.rfind("func.func");
  size_t system = text.find("wavesmith.ode_system @");
  if (function == StringRef::npos || system == StringRef::npos)
    return createStringError(path + " does not end in a function of a system");
  StringRef name = text.substr(system).split('@').second;
  name = name.take_until([](char c) { return c == ' '; });
  std::string weights;
  for (auto [state, mass] :
       zip(problem.network.states, problem.network.massNumber))
    weights += formatv("{0}\"{1}\" = {2:e17}", weights.empty() ? "" : ", ",
                       state, mass);
  size_t n = problem.network.numStates();
  return formatv(
             R"({0}func.func @integrate(%t: tensor<?xf64> {{wavesmith.name = "time"}, %e: f64 {{wavesmith.name = "end"}, %h: tensor<?xf64> {{wavesmith.name = "step"}, %y: tensor<{1}x?xf64> {{wavesmith.name = "y"}, %p: tensor<{7}x?xf64> {{wavesmith.name = "parameters"}) -> (tensor<{1}x?xf64> {{wavesmith.name = "states"}, tensor<?xf64> {{wavesmith.name = "t1"}, tensor<?xf64> {{wavesmith.name = "h1"}, tensor<?xi32> {{wavesmith.name = "steps"}, tensor<?xi32> {{wavesmith.name = "status"}) {{
  %r:5 = wavesmith.ode_integrate @{2}(%t, %e, %h, %y, %p)
      method #wavesmith.asymptotic<flux_fraction = {3:e17}, time_fraction = 1.0e-01, tolerance = {4:e17}>
      conserved [{5}] total 1.0 max_steps {6}
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<{1}x?xf64>, tensor<{7}x?xf64>) -> (tensor<{1}x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<{1}x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>
}
}
)",
             text.take_front(function), n, name,
             problem.conditions.fluxFraction, problem.conditions.massTolerance,
             weights, maxSteps, problem.numParameters)
      .str();
}

namespace {

/// A compiled integration.
struct Kernel {
  std::shared_ptr<const sim::CodeObject> object;
  json::Array arguments;
  uint32_t workgroupSize = 0, zonesPerWorkgroup = 0;
};

/// A rung's kernels, one for each number of steps.
class Kernels {
public:
  Kernels(const Problem &problem, std::string network, const TargetInfo &target,
          std::string rung, std::string passes)
      : problem(problem), network(std::move(network)), target(target),
        rung(std::move(rung)), passes(std::move(passes)) {}

  Expected<const Kernel *> get(uint64_t maxSteps);
  Expected<PreparedLaunch> prepare(sim::Memory &memory, ArrayRef<Zone> zones,
                                   uint64_t maxSteps);

  /// Of the compiler's last run.
  double compileSeconds = 0;

private:
  const Problem &problem;
  std::string network;
  const TargetInfo &target;
  std::string rung, passes;
  std::map<uint64_t, Kernel> compiled;
};

} // namespace

Expected<const Kernel *> Kernels::get(uint64_t maxSteps) {
  auto found = compiled.find(maxSteps);
  if (found != compiled.end())
    return &found->second;
  auto text = integrationText(network, problem, maxSteps);
  if (!text)
    return text.takeError();
  std::string base =
      formatv("{0}/{1}.{2}.{3}.{4}", WAVESMITH_LADDER_KERNELS,
              sys::path::stem(network), rung, target.architecture, maxSteps);
  std::error_code error;
  raw_fd_ostream(base + ".mlir", error) << *text;
  if (error)
    return createStringError("cannot write " + base +
                             ".mlir: " + error.message());
  std::string input = base + ".mlir", output = base + ".hsaco",
              architecture = "--target=" + target.architecture.str(),
              chip = "--chip=" + target.chip.str(),
              chosen = "--passes=" + passes;
  auto begin = std::chrono::steady_clock::now();
  if (Error failed =
          runProgram({WAVESMITH_LADDER_BUILD "/bin/wavesmith-compile", input,
                      architecture, chip, chosen, "-o", output}))
    return std::move(failed);
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - begin;
  compileSeconds = taken.count();
  auto bytes = readFile(base + ".hsaco");
  if (!bytes)
    return bytes.takeError();
  auto description = readFile(base + ".json");
  if (!description)
    return description.takeError();
  auto object = sim::CodeObject::load(*bytes);
  if (!object)
    return object.takeError();
  auto parsed =
      json::parse(StringRef(reinterpret_cast<const char *>(description->data()),
                            description->size()));
  if (!parsed)
    return parsed.takeError();
  json::Object &kernel =
      *(*parsed->getAsObject()->getArray("kernels"))[0].getAsObject();
  Kernel &result = compiled[maxSteps];
  result.object = *object;
  result.arguments = *kernel.getArray("arguments");
  result.workgroupSize =
      *(*kernel.getArray("workgroup_size"))[0].getAsInteger();
  result.zonesPerWorkgroup = *kernel.getInteger("zones_per_workgroup");
  return &result;
}

Expected<PreparedLaunch>
Kernels::prepare(sim::Memory &memory, ArrayRef<Zone> zones, uint64_t maxSteps) {
  auto kernel = get(maxSteps);
  if (!kernel)
    return kernel.takeError();
  size_t count = zones.size(), numStates = problem.network.numStates();
  PreparedLaunch launch;
  auto pack = [&](uint64_t bits, size_t bytes) {
    while (launch.kernarg.size() % bytes)
      launch.kernarg.push_back(0);
    for (size_t i = 0; i < bytes; ++i)
      launch.kernarg.push_back(uint8_t(bits >> (8 * i)));
  };
  std::map<std::string, uint64_t> addresses;
  for (const json::Value &value : (*kernel)->arguments) {
    const json::Object &argument = *value.getAsObject();
    std::string name = argument.getString("name")->str();
    StringRef kind = *argument.getString("kind");
    if (kind == "scalar") {
      pack(bit_cast<uint64_t>(problem.conditions.endTime), 8);
      continue;
    }
    if (kind == "zones") {
      pack(count, 8);
      continue;
    }
    size_t elements = 1;
    for (const json::Value &extent : *argument.getArray("shape"))
      elements *= extent.getAsInteger() ? *extent.getAsInteger() : count;
    size_t width = argument.getString("type")->ends_with("32") ? 4 : 8;
    auto address = memory.allocate(elements * width, name);
    if (!address)
      return address.takeError();
    addresses[name] = *address;
    pack(*address, 8);
    std::vector<double> values(elements);
    if (name == "time")
      for (size_t z = 0; z < count; ++z)
        values[z] = zones[z].state.time;
    else if (name == "step")
      for (size_t z = 0; z < count; ++z)
        values[z] = zones[z].state.step;
    else if (name == "y")
      for (size_t i = 0; i < numStates; ++i)
        for (size_t z = 0; z < count; ++z)
          values[i * count + z] = zones[z].state.y[i];
    else if (name == "parameters")
      for (size_t z = 0; z < count; ++z) {
        values[z] = zones[z].temperature;
        if (problem.numParameters > 1)
          values[count + z] = zones[z].density;
      }
    std::vector<uint8_t> bytes(elements * width);
    if (width == 8)
      std::memcpy(bytes.data(), values.data(), bytes.size());
    if (Error error = memory.write(*address, bytes))
      return std::move(error);
  }
  launch.workgroup = {(*kernel)->workgroupSize, 1, 1};
  launch.grid = {uint32_t(divideCeil(count, (*kernel)->zonesPerWorkgroup)), 1,
                 1};
  std::vector<Zone> before(zones.begin(), zones.end());
  launch.readStates =
      [addresses, before, numStates](
          const sim::Memory &memory) -> Expected<std::vector<ZoneState>> {
    size_t count = before.size();
    auto read = [&](const char *name, auto &values) {
      return memory.read(
          addresses.at(name),
          MutableArrayRef(reinterpret_cast<uint8_t *>(values.data()),
                          values.size() * sizeof(values[0])));
    };
    std::vector<double> states(count * numStates), time(count), step(count);
    std::vector<int32_t> steps(count);
    if (Error error =
            joinErrors(joinErrors(read("states", states), read("t1", time)),
                       joinErrors(read("h1", step), read("steps", steps))))
      return std::move(error);
    std::vector<ZoneState> result;
    for (size_t z = 0; z < count; ++z) {
      ZoneState state = before[z].state;
      if (steps[z] != 0) {
        state.steps += steps[z];
        state.time = time[z];
        state.step = step[z];
        for (size_t i = 0; i < numStates; ++i)
          state.y[i] = states[i * count + z];
      }
      result.push_back(std::move(state));
    }
    return result;
  };
  return launch;
}

std::vector<Rung> wavesmith::bench::wavesmithRungs(const Problem &problem,
                                                   StringRef network,
                                                   const TargetInfo &target) {
  std::vector<Rung> rungs;
  auto add = [&](std::string name, std::string passes) {
    auto kernels = std::make_shared<Kernels>(problem, network.str(), target,
                                             name, std::move(passes));
    Rung &rung = rungs.emplace_back();
    rung.name = name;
    rung.kernel = "integrate";
    rung.objectFor = [kernels](uint64_t maxSteps)
        -> Expected<std::shared_ptr<const sim::CodeObject>> {
      auto kernel = kernels->get(maxSteps);
      if (!kernel)
        return kernel.takeError();
      return (*kernel)->object;
    };
    rung.compileSeconds = [kernels] { return kernels->compileSeconds; };
    rung.prepare = [kernels](sim::Memory &memory, ArrayRef<Zone> zones,
                             uint64_t maxSteps) {
      return kernels->prepare(memory, zones, maxSteps);
    };
  };
  add("wavesmith-baseline", "none");
  std::string passes;
  for (const OptionalPass &pass : getOptionalPasses()) {
    passes += (passes.empty() ? "" : ",") + pass.name;
    bool isLast = &pass == &getOptionalPasses().back();
    add(isLast ? "wavesmith-final"
               : StringRef(pass.name).drop_front(strlen("wavesmith-")).str(),
        passes);
    if (!isLast)
      rungs.back().name = "+" + rungs.back().name;
  }
  return rungs;
}
