//===- HipKernels.cpp - Launches of the ladder's HIP kernels --------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../KernelSource.h"
#include "Rung.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>
#include <numeric>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::bench;

namespace {

/// Fills memory and packs the kernel's arguments. After an error it does
/// nothing more; take it with takeError.
class Arguments {
public:
  explicit Arguments(sim::Memory &memory) : memory(memory) {}
  ~Arguments() { consumeError(std::move(error)); }

  template <typename T> void scalar(T value) {
    bytes.resize(alignTo(bytes.size(), sizeof(T)) + sizeof(T));
    std::memcpy(bytes.data() + bytes.size() - sizeof(T), &value, sizeof(T));
  }
  /// An array, of at least one element; returns its address.
  template <typename T> uint64_t array(std::vector<T> values, StringRef name) {
    if (error)
      return 0;
    values.resize(std::max<size_t>(values.size(), 1));
    auto address = memory.allocate(values.size() * sizeof(T), name);
    if (!address) {
      error = address.takeError();
      return 0;
    }
    error = memory.write(
        *address, ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&values[0]),
                                    values.size() * sizeof(T)));
    scalar(*address);
    return *address;
  }
  Error takeError() { return std::move(error); }

  std::vector<uint8_t> bytes;

private:
  static size_t alignTo(size_t size, size_t to) {
    return (size + to - 1) / to * to;
  }
  sim::Memory &memory;
  Error error = Error::success();
};

template <typename T>
Error readArray(const sim::Memory &memory, uint64_t address,
                std::vector<T> &out) {
  return memory.read(
      address, MutableArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(out.data()),
                                        out.size() * sizeof(T)));
}

template <typename T, typename From> std::vector<T> narrow(const From &from) {
  std::vector<T> result;
  for (auto value : from)
    result.push_back(static_cast<T>(value));
  return result;
}

std::vector<uint32_t> reactantsAt(const Network &network, unsigned position) {
  std::vector<uint32_t> result;
  for (const auto &reactants : network.reactants)
    result.push_back(reactants[position]);
  return result;
}

/// Addresses of what a launch changes.
struct ZoneArrays {
  uint64_t y, time, step, steps;
};

/// The arguments that both kernels begin with.
template <typename Index>
void addTerms(Arguments &arguments, const Network &network) {
  for (unsigned i = 0; i < 7; ++i) {
    std::vector<double> parameter;
    for (const auto &set : network.sets)
      parameter.push_back(set[i]);
    arguments.array(parameter, "p" + std::to_string(i));
  }
  arguments.array(narrow<int32_t>(network.setBegin), "setBegin");
  arguments.array(network.factor, "factor");
  arguments.array(narrow<uint8_t>(network.densityPower), "densityPower");
  arguments.array(narrow<uint8_t>(network.reactantCount), "reactantCount");
  for (unsigned i = 0; i < Network::maxReactants; ++i)
    arguments.array(narrow<Index>(reactantsAt(network, i)),
                    "reactant" + std::to_string(i + 1));
}

ZoneArrays addZones(Arguments &arguments, ArrayRef<Zone> zones) {
  std::vector<double> temperature, density, y, time, step;
  std::vector<uint64_t> steps;
  for (const Zone &zone : zones) {
    temperature.push_back(zone.temperature);
    density.push_back(zone.density);
    append_range(y, zone.state.y);
    time.push_back(zone.state.time);
    step.push_back(zone.state.step);
    steps.push_back(zone.state.steps);
  }
  ZoneArrays arrays;
  arguments.array(temperature, "temperatures");
  arguments.array(density, "densities");
  arrays.y = arguments.array(y, "abundances");
  arrays.time = arguments.array(time, "times");
  arrays.step = arguments.array(step, "stepSizes");
  arrays.steps = arguments.array(steps, "stepCounts");
  return arrays;
}

Expected<PreparedLaunch> finish(Arguments &arguments, const ZoneArrays &arrays,
                                size_t zones, size_t numStates,
                                uint32_t threads, uint32_t ldsBytes) {
  if (Error error = arguments.takeError())
    return std::move(error);
  PreparedLaunch launch;
  launch.grid = {static_cast<uint32_t>(zones), 1, 1};
  launch.workgroup = {threads, 1, 1};
  launch.kernarg = std::move(arguments.bytes);
  launch.dynamicLDSBytes = ldsBytes;
  launch.readStates =
      [=](const sim::Memory &memory) -> Expected<std::vector<ZoneState>> {
    std::vector<double> y(zones * numStates), time(zones), step(zones);
    std::vector<uint64_t> steps(zones);
    Error error = readArray(memory, arrays.y, y);
    if (!error)
      error = readArray(memory, arrays.time, time);
    if (!error)
      error = readArray(memory, arrays.step, step);
    if (!error)
      error = readArray(memory, arrays.steps, steps);
    if (error)
      return std::move(error);
    std::vector<ZoneState> states(zones);
    for (size_t zone = 0; zone < zones; ++zone) {
      states[zone].y.assign(y.begin() + zone * numStates,
                            y.begin() + (zone + 1) * numStates);
      states[zone].time = time[zone];
      states[zone].step = step[zone];
      states[zone].steps = steps[zone];
    }
    return states;
  };
  return launch;
}

std::vector<uint16_t> endsOf(const RaggedSums &sums) {
  return narrow<uint16_t>(ArrayRef<uint32_t>(sums.begin).drop_front());
}

Expected<PreparedLaunch> prepareStart(const Problem &problem, uint32_t threads,
                                      sim::Memory &memory, ArrayRef<Zone> zones,
                                      uint64_t maxSteps) {
  const Network &network = problem.network;
  size_t numStates = network.numStates(), numTerms = network.numTerms();
  Arguments arguments(memory);
  addTerms<uint16_t>(arguments, network);
  arguments.array(network.gains.weight, "gainWeight");
  arguments.array(network.losses.weight, "lossWeight");
  arguments.array(narrow<uint16_t>(network.gains.term), "gainTerm");
  arguments.array(narrow<uint16_t>(network.losses.term), "lossTerm");
  arguments.array(endsOf(network.gains), "gainEnd");
  arguments.array(endsOf(network.losses), "lossEnd");
  arguments.array(narrow<uint8_t>(network.massNumber), "massNumber");
  ZoneArrays arrays = addZones(arguments, zones);
  arguments.array(std::vector<double>(zones.size() * numTerms), "rates");
  arguments.array(std::vector<double>(zones.size() * numStates),
                  "abundancesBefore");
  arguments.scalar(problem.conditions.endTime);
  arguments.scalar(problem.conditions.fluxFraction);
  arguments.scalar(problem.conditions.massTolerance);
  arguments.scalar(static_cast<int32_t>(numStates));
  arguments.scalar(static_cast<int32_t>(numTerms));
  arguments.scalar(maxSteps);
  return finish(arguments, arrays, zones.size(), numStates, threads,
                8 * (numTerms + 3 * numStates + 3));
}

/// Segments of the sums that take a wavefront, or 16 lanes, are longer than
/// this; all others take 8 lanes.
constexpr size_t longSegment = 64, mediumSegment = 16;

Expected<PreparedLaunch> prepareEnd(const Problem &problem, uint32_t threads,
                                    sim::Memory &memory, ArrayRef<Zone> zones,
                                    uint64_t maxSteps) {
  const Network &network = problem.network;
  size_t numStates = network.numStates(), numTerms = network.numTerms();
  std::vector<uint16_t> entries, bounds = {0};
  std::vector<size_t> lengths;
  for (const RaggedSums *sums : {&network.gains, &network.losses})
    for (size_t i = 0; i < numStates; ++i) {
      for (uint32_t e = sums->begin[i]; e < sums->begin[i + 1]; ++e)
        entries.push_back(static_cast<uint16_t>(
            static_cast<uint32_t>(sums->weight[e]) << 12 | sums->term[e]));
      bounds.push_back(static_cast<uint16_t>(entries.size()));
      lengths.push_back(sums->length(i));
    }
  std::vector<uint16_t> segments(2 * numStates);
  std::iota(segments.begin(), segments.end(), 0);
  llvm::sort(segments, [&](uint16_t a, uint16_t b) {
    return std::tuple(lengths[b], a) < std::tuple(lengths[a], b);
  });
  int32_t numLong =
      llvm::count_if(lengths, [](size_t n) { return n > longSegment; });
  int32_t numMedium =
      llvm::count_if(lengths, [](size_t n) { return n > mediumSegment; }) -
      numLong;

  Arguments arguments(memory);
  addTerms<uint8_t>(arguments, network);
  int32_t numEntries = entries.size();
  arguments.array(entries, "entries");
  arguments.array(bounds, "bounds");
  arguments.array(segments, "segments");
  arguments.array(narrow<uint8_t>(network.massNumber), "massNumber");
  ZoneArrays arrays = addZones(arguments, zones);
  arguments.scalar(problem.conditions.endTime);
  arguments.scalar(problem.conditions.fluxFraction);
  arguments.scalar(problem.conditions.massTolerance);
  arguments.scalar(static_cast<int32_t>(numStates));
  arguments.scalar(static_cast<int32_t>(numTerms));
  arguments.scalar(numEntries);
  arguments.scalar(numLong);
  arguments.scalar(numMedium);
  arguments.scalar(maxSteps);
  // As end_kernel.hip lays it out.
  size_t ldsBytes = 8 * (2 * numTerms + 3 * numStates + 49) +
                    2 * (entries.size() + 4 * numStates + 1) + 4 * numTerms;
  return finish(arguments, arrays, zones.size(), numStates, threads, ldsBytes);
}

/// Whether the network fits the types of the kernels' tables.
Error checkSizes(const Network &network) {
  size_t entries = network.gains.term.size() + network.losses.term.size();
  for (auto [what, count, most] :
       {std::tuple("states", network.numStates(), size_t(256)),
        std::tuple("terms", network.numTerms(), size_t(4096)),
        std::tuple("entries of F+ and F-", entries, size_t(65535))})
    if (count > most)
      return createStringError("the network has " + Twine(count) + " " + what +
                               ", the tables of the HIP kernels hold " +
                               Twine(most));
  for (const RaggedSums *sums : {&network.gains, &network.losses})
    for (double weight : sums->weight)
      if (!(weight >= 1 && weight <= 15 && weight == std::floor(weight)))
        return createStringError(
            "a term has the weight " + Twine(std::to_string(weight)) +
            ", the tables of the HIP kernels hold whole numbers from 1 to 15");
  if (*max_element(network.massNumber) > 255)
    return createStringError("a state has a mass number above 255");
  return Error::success();
}

} // namespace

Expected<std::vector<Rung>> wavesmith::bench::hipRungs(const Problem &problem,
                                                       StringRef architecture) {
  if (Error error = checkSizes(problem.network))
    return std::move(error);
  using Prepare = Expected<PreparedLaunch> (*)(
      const Problem &, uint32_t, sim::Memory &, ArrayRef<Zone>, uint64_t);
  struct Step {
    const char *name, *file, *kernel;
    uint32_t threads;
    double publishedSeconds;
    Prepare prepare;
  };
  static const Step steps[] = {
      {"hip-start", "start", "start", 256, 46.7, prepareStart},
      {"hip-staged", "end", "staged", 256, 26.5, prepareEnd},
      {"hip-shuffled-256", "end", "shuffled", 256, 13.2, prepareEnd},
      {"hip-shuffled-512", "end", "shuffled", 512, 7.5, prepareEnd},
      {"hip-shuffled-1024", "end", "shuffled", 1024, 6.4, prepareEnd},
      {"hip-end", "end", "end", 1024, 1.65, prepareEnd}};
  std::vector<Rung> rungs;
  for (const Step &step : steps) {
    std::string path = std::string(WAVESMITH_LADDER_KERNELS "/") + step.file +
                       "." + architecture.str() + ".hsaco";
    auto bytes = readFile(path);
    if (!bytes)
      return bytes.takeError();
    auto object = sim::CodeObject::load(*bytes);
    if (!object)
      return object.takeError();
    Rung &rung = rungs.emplace_back();
    rung.name = step.name;
    rung.publishedSeconds = step.publishedSeconds;
    rung.objectFor = [object = *object](uint64_t)
        -> Expected<std::shared_ptr<const sim::CodeObject>> { return object; };
    rung.kernel = step.kernel;
    rung.prepare = [&problem, &step](sim::Memory &memory, ArrayRef<Zone> zones,
                                     uint64_t maxSteps) {
      return step.prepare(problem, step.threads, memory, zones, maxSteps);
    };
  }
  return rungs;
}
