// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The published ladder ("Performance Profiling on AMD GPUs - Part 5", ROCm
// blogs, 2026-07-16) after its start, from its description; no code of it was
// taken. A zone is integrated by a workgroup. What a step reads lies in LDS,
// tables in the narrowest types: indices of states in bytes, and of the entries
// of F+ and F- a term's number (12 bits) and a weight (4 bits) in 16 bits.
//
// - staged: a wavefront takes a state's sums at a time, and its lane 0 adds up,
//   in loops unrolled as those of start_kernel.hip.
// - shuffled: all lanes of the wavefront add up, by shuffles.
// - end: short segments share a wavefront; and the arithmetic is rewritten: one
//   division a state and a step gives F- / Y0, which both updates use.
//
// The method is that of sequential_integration.h.

#include "device.h"

extern SHARED double memory[];

/// The sum of a group's lanes, in the first of them.
DEVICE double sumOfLanes(double value, unsigned width) {
  for (unsigned delta = width >> 1; delta; delta >>= 1)
    value += shuffleDown(value, delta);
  return value;
}

DEVICE double largestOfWave(double value) {
  for (unsigned delta = 32; delta; delta >>= 1)
    value = larger(value, shuffleDown(value, delta));
  return value;
}

/// Lanes of width add up a segment each, the wavefront 64 / width of the list's
/// from first on, but none from last on.
template <unsigned width>
DEVICE void
sumSegments(unsigned first, unsigned last, const unsigned short *list,
            const unsigned short *bounds, const unsigned short *entries,
            const double *value, double *sums) {
  unsigned lane = laneOfWave() & (width - 1);
  unsigned index = first + laneOfWave() / width;
  double sum = 0;
  unsigned segment = 0;
  if (index < last) {
    segment = list[index];
    unsigned end = bounds[segment + 1];
    for (unsigned e = bounds[segment] + lane; e < end; e += width) {
      unsigned entry = entries[e];
      sum = __builtin_fma(double(entry >> 12), value[entry & 4095], sum);
    }
  }
  sum = sumOfLanes(sum, width);
  if (index < last && lane == 0)
    sums[segment] = sum;
}

/// A state's sum by lane 0 alone.
DEVICE void sumByLane0(unsigned first, unsigned last, unsigned wave,
                       unsigned waves, const unsigned short *bounds,
                       const unsigned short *entries, const double *value,
                       double *sums) {
  for (unsigned segment = first + wave; segment < last; segment += waves)
    if (laneOfWave() == 0) {
      double sum = 0;
#pragma unroll 8
      for (unsigned e = bounds[segment]; e < bounds[segment + 1]; ++e) {
        unsigned entry = entries[e];
        sum = __builtin_fma(double(entry >> 12), value[entry & 4095], sum);
      }
      sums[segment] = sum;
    }
}

/// Lanes for a segment that is not long. HipKernels.cpp says which are.
constexpr unsigned mediumWidth = 16, shortWidth = 4;

enum class Rung { Staged, Shuffled, End };

template <Rung rung>
DEVICE void integrate(
    // The network: parameters of the rates' sets, and of each term its sets,
    // factor, power of the density, number of reactants and reactants.
    const double *p0, const double *p1, const double *p2, const double *p3,
    const double *p4, const double *p5, const double *p6, const int *setBegin,
    const double *factor, const unsigned char *densityPower,
    const unsigned char *reactantCount, const unsigned char *reactant1,
    const unsigned char *reactant2, const unsigned char *reactant3,
    // Entries of F+, then of F-, by state; where the 2 numStates segments begin
    // and end; the segments, longest first.
    const unsigned short *entries, const unsigned short *bounds,
    const unsigned short *segments, const unsigned char *massNumber,
    // Zones: temperature (K), density (g/cm^3), abundances, and where each
    // stands.
    const double *temperatures, const double *densities, double *abundances,
    double *times, double *stepSizes, unsigned long long *stepCounts,
    double endTime, double fluxFraction, double massTolerance, int numStates,
    int numTerms, int numEntries, int numLong, int numMedium,
    unsigned long long maxSteps) {
  const int tid = threadOfBlock(), threads = blockSize();
  const int wave = __builtin_amdgcn_readfirstlane(waveOfBlock()),
            waves = threads >> 6, lane = laneOfWave();

  double *rate = memory;                  // numTerms
  double *value = rate + numTerms;        // numTerms
  double *y = value + numTerms;           // numStates
  double *sums = y + numStates;           // 2 numStates
  double *partial = sums + 2 * numStates; // 3 x 16: a value a wavefront
  double *shared = partial + 48;          // 1
  auto *entry = (unsigned short *)(shared + 1);
  unsigned short *bound = entry + numEntries;          // 2 numStates + 1
  unsigned short *segment = bound + 2 * numStates + 1; // 2 numStates
  auto *count = (unsigned char *)(segment + 2 * numStates);
  unsigned char *at1 = count + numTerms, *at2 = at1 + numTerms,
                *at3 = at2 + numTerms;

  {
    double t9 = temperatures[block()] / 1e9, rho = densities[block()];
    double root = __ocml_cbrt_f64(t9);
    double inverse = 1 / t9, inverseRoot = 1 / root, log = __ocml_log_f64(t9);
    double power53 = t9 * (root * root);
    for (int r = tid; r < numTerms; r += threads) {
      double sum = 0;
      for (int s = setBegin[r]; s < setBegin[r + 1]; ++s)
        sum += __ocml_exp_f64(p0[s] + p1[s] * inverse + p2[s] * inverseRoot +
                              p3[s] * root + p4[s] * t9 + p5[s] * power53 +
                              p6[s] * log);
      double scale = factor[r];
      for (int i = 0; i < densityPower[r]; ++i)
        scale *= rho;
      rate[r] = scale * sum;
      count[r] = reactantCount[r];
      at1[r] = reactant1[r];
      at2[r] = reactant2[r];
      at3[r] = reactant3[r];
    }
  }
  for (int e = tid; e < numEntries; e += threads)
    entry[e] = entries[e];
  for (int i = tid; i < 2 * numStates; i += threads) {
    bound[i] = bounds[i];
    segment[i] = segments[i];
  }
  // A state a thread, in the first wavefronts; the rest of these has zeros.
  const int stateWaves = (numStates + 63) / 64;
  const bool isState = tid < numStates;
  double mass = 0, y0 = 0;
  if (tid == 0)
    bound[2 * numStates] = bounds[2 * numStates];
  if (isState) {
    mass = massNumber[tid];
    y0 = abundances[(unsigned long)block() * numStates + tid];
    y[tid] = y0;
  }
  double time = times[block()], step = stepSizes[block()];
  if (wave < stateWaves) {
    double sum = sumOfLanes(mass * y0, 64);
    if (lane == 0)
      partial[32 + wave] = sum;
  }
  if (tid == 0)
    shared[0] = time;
  barrier();
  double lastMass = 0;
  for (int w = 0; w < stateWaves; ++w)
    lastMass += partial[32 + w];

  unsigned long long steps = 0;
  while (time < endTime && steps < maxSteps) {
    for (int r = tid; r < numTerms; r += threads) {
      double v = rate[r] * y[at1[r]];
      int n = count[r];
      if (n > 1)
        v *= y[at2[r]];
      if (n > 2)
        v *= y[at3[r]];
      value[r] = v;
    }
    barrier();

    if constexpr (rung == Rung::Staged) {
      for (int i = 0; i < 2; ++i)
        sumByLane0(i * numStates, (i + 1) * numStates, wave, waves, bound,
                   entry, value, sums);
    } else if constexpr (rung == Rung::Shuffled) {
      for (unsigned s = wave; s < 2u * numStates; s += waves)
        sumSegments<64>(s, 2 * numStates, segment, bound, entry, value, sums);
    } else {
      // Turns of the wavefronts: the long segments, the medium, the short.
      const unsigned medium = numLong + numMedium;
      const unsigned mediumTurns =
          (numMedium + 64 / mediumWidth - 1) / (64 / mediumWidth);
      const unsigned shortTurns =
          (2 * numStates - medium + 64 / shortWidth - 1) / (64 / shortWidth);
      for (unsigned turn = wave; turn < numLong + mediumTurns + shortTurns;
           turn += waves)
        if (turn < unsigned(numLong))
          sumSegments<64>(turn, numLong, segment, bound, entry, value, sums);
        else if (turn < numLong + mediumTurns)
          sumSegments<mediumWidth>(numLong +
                                       (turn - numLong) * (64 / mediumWidth),
                                   medium, segment, bound, entry, value, sums);
        else
          sumSegments<shortWidth>(
              medium + (turn - numLong - mediumTurns) * (64 / shortWidth),
              2 * numStates, segment, bound, entry, value, sums);
    }
    barrier();

    double gain = 0, loss = 0, net = 0, lossRate = 0;
    if (wave < stateWaves) {
      if (isState) {
        gain = sums[tid];
        loss = sums[numStates + tid];
        net = gain - loss;
        if constexpr (rung == Rung::End)
          lossRate = loss / y0;
      }
      double largest = largestOfWave(absolute(net));
      if (lane == 0)
        partial[wave] = largest;
    }
    barrier();

    double d = 0;
    if (wave < stateWaves) {
      double largest = partial[0];
      for (int w = 1; w < stateWaves; ++w)
        largest = larger(largest, partial[w]);
      d = smaller(smaller(fluxFraction / largest, 0.1 * time), step);
      double ratio = rung == Rung::End ? lossRate * d : loss * d / y0;
      double trial = ratio > 1 ? (y0 + gain * d) / (1 + ratio) : y0 + net * d;
      double sum = sumOfLanes(mass * trial, 64);
      if (lane == 0)
        partial[16 + wave] = sum;
    }
    barrier();

    if (wave < stateWaves) {
      double trialMass = 0;
      for (int w = 0; w < stateWaves; ++w)
        trialMass += partial[16 + w];
      double change = absolute(lastMass - trialMass);
      if (absolute(trialMass - 1) > absolute(lastMass - 1) &&
          change > massTolerance)
        d *= larger(massTolerance / larger(change, 1e-16), 0.1);
      else if (change < 0.25 * massTolerance)
        d *= massTolerance / larger(change, 0.9 * massTolerance);
      step = d;
      // Of a step that is cut at the end, only the last update counts.
      if (time + d >= endTime)
        d = endTime - time;
      double ratio = rung == Rung::End ? lossRate * d : loss * d / y0;
      y0 = ratio > 1 ? (y0 + gain * d) / (1 + ratio) : y0 + net * d;
      if (isState)
        y[tid] = y0;
      double sum = sumOfLanes(mass * y0, 64);
      if (lane == 0)
        partial[32 + wave] = sum;
      if (tid == 0)
        shared[0] = time + d;
    }
    barrier();
    time = shared[0];
    if (wave < stateWaves) {
      lastMass = 0;
      for (int w = 0; w < stateWaves; ++w)
        lastMass += partial[32 + w];
    }
    ++steps;
  }
  if (isState)
    abundances[(unsigned long)block() * numStates + tid] = y0;
  if (tid == 0) {
    times[block()] = time;
    stepSizes[block()] = step;
    stepCounts[block()] += steps;
  }
}

#define INTEGRATION(NAME, RUNG)                                                \
  KERNEL void NAME(                                                            \
      const double *p0, const double *p1, const double *p2, const double *p3,  \
      const double *p4, const double *p5, const double *p6,                    \
      const int *setBegin, const double *factor,                               \
      const unsigned char *densityPower, const unsigned char *reactantCount,   \
      const unsigned char *reactant1, const unsigned char *reactant2,          \
      const unsigned char *reactant3, const unsigned short *entries,           \
      const unsigned short *bounds, const unsigned short *segments,            \
      const unsigned char *massNumber, const double *temperatures,             \
      const double *densities, double *abundances, double *times,              \
      double *stepSizes, unsigned long long *stepCounts, double endTime,       \
      double fluxFraction, double massTolerance, int numStates, int numTerms,  \
      int numEntries, int numLong, int numMedium,                              \
      unsigned long long maxSteps) {                                           \
    integrate<RUNG>(                                                           \
        p0, p1, p2, p3, p4, p5, p6, setBegin, factor, densityPower,            \
        reactantCount, reactant1, reactant2, reactant3, entries, bounds,       \
        segments, massNumber, temperatures, densities, abundances, times,      \
        stepSizes, stepCounts, endTime, fluxFraction, massTolerance,           \
        numStates, numTerms, numEntries, numLong, numMedium, maxSteps);        \
  }

INTEGRATION(staged, Rung::Staged)
INTEGRATION(shuffled, Rung::Shuffled)
INTEGRATION(end, Rung::End)
