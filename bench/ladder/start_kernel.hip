// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the published ladder starts ("Performance Profiling on AMD GPUs - Part
// 5", ROCm blogs, 2026-07-16), from its description and FERN's data structures;
// no code of either was taken. A zone is integrated by a workgroup of 256
// threads. Of the ragged sums, a wavefront takes a state at a time, and its
// lane 0 adds up alone; tables, rates and abundances lie in global memory. LDS
// holds the terms' values, the sums and what is reduced. The cube root is a
// pow.
//
// The loops of lane 0 are unrolled, so that the loads of several entries are
// under way at a time: the description says that its compiler overlaps them,
// and clang-22 does not by itself. The order of the sums stays.
//
// The method is that of sequential_integration.h.

#include "device.h"

extern SHARED double memory[];

/// The sum of n values in LDS, which are used up; a tree over the workgroup.
DEVICE double reduceSum(double *a, unsigned n) {
  while (n > 1) {
    unsigned half = (n + 1) / 2;
    for (unsigned i = threadOfBlock(); i + half < n; i += blockSize())
      a[i] += a[i + half];
    n = half;
    barrier();
  }
  return a[0];
}

/// The largest of n values in LDS, in the same way.
DEVICE double reduceMax(double *a, unsigned n) {
  while (n > 1) {
    unsigned half = (n + 1) / 2;
    for (unsigned i = threadOfBlock(); i + half < n; i += blockSize())
      a[i] = larger(a[i], a[i + half]);
    n = half;
    barrier();
  }
  return a[0];
}

DEVICE double updated(double y0, double gain, double loss, double d) {
  if (loss * d / y0 > 1)
    return (y0 + gain * d) / (1 + loss * d / y0);
  return y0 + (gain - loss) * d;
}

KERNEL void start(
    // The network: parameters of the rates' sets, and of each term its sets,
    // factor, power of the density, number of reactants and reactants.
    const double *p0, const double *p1, const double *p2, const double *p3,
    const double *p4, const double *p5, const double *p6, const int *setBegin,
    const double *factor, const unsigned char *densityPower,
    const unsigned char *reactantCount, const unsigned short *reactant1,
    const unsigned short *reactant2, const unsigned short *reactant3,
    // Entries of F+ and F- by state: weights, terms, and each state's end.
    const double *gainWeight, const double *lossWeight,
    const unsigned short *gainTerm, const unsigned short *lossTerm,
    const unsigned short *gainEnd, const unsigned short *lossEnd,
    const unsigned char *massNumber,
    // Zones: temperature (K), density (g/cm^3), abundances, and where each
    // stands.
    const double *temperatures, const double *densities, double *abundances,
    double *times, double *stepSizes, unsigned long long *stepCounts,
    // Work of each zone: rates, and abundances at the beginning of a step.
    double *rates, double *abundancesBefore, double endTime,
    double fluxFraction, double massTolerance, int numStates, int numTerms,
    unsigned long long maxSteps) {
  const int tid = threadOfBlock(), threads = blockSize();
  const int wave = waveOfBlock(), waves = threads >> 6, lane = laneOfWave();
  double *rate = rates + (unsigned long)block() * numTerms;
  double *y = abundances + (unsigned long)block() * numStates;
  double *y0 = abundancesBefore + (unsigned long)block() * numStates;

  double *value = memory;             // numTerms
  double *gain = value + numTerms;    // numStates
  double *loss = gain + numStates;    // numStates
  double *reduced = loss + numStates; // numStates
  double &time = reduced[numStates], &step = reduced[numStates + 1],
         &d = reduced[numStates + 2];

  {
    double t9 = temperatures[block()] / 1e9, rho = densities[block()];
    double root = __ocml_pow_f64(t9, 1.0 / 3.0);
    double inverse = 1 / t9, inverseRoot = 1 / root, log = __ocml_log_f64(t9);
    double power53 = root * root * root * root * root;
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
    }
  }
  if (tid == 0) {
    time = times[block()];
    step = stepSizes[block()];
  }
  for (int i = tid; i < numStates; i += threads)
    reduced[i] = massNumber[i] * y[i];
  barrier();
  double lastMass = reduceSum(reduced, numStates);
  barrier();

  unsigned long long steps = 0;
  while (time < endTime && steps < maxSteps) {
    for (int i = tid; i < numStates; i += threads)
      y0[i] = y[i];
    for (int r = tid; r < numTerms; r += threads) {
      double v = rate[r] * y[reactant1[r]];
      int count = reactantCount[r];
      if (count > 1)
        v *= y[reactant2[r]];
      if (count > 2)
        v *= y[reactant3[r]];
      value[r] = v;
    }
    barrier();

    for (int i = wave; i < numStates; i += waves)
      if (lane == 0) {
        double sum = 0;
#pragma unroll 8
        for (int e = i ? gainEnd[i - 1] : 0; e < gainEnd[i]; ++e)
          sum += gainWeight[e] * value[gainTerm[e]];
        gain[i] = sum;
        sum = 0;
#pragma unroll 8
        for (int e = i ? lossEnd[i - 1] : 0; e < lossEnd[i]; ++e)
          sum += lossWeight[e] * value[lossTerm[e]];
        loss[i] = sum;
      }
    barrier();

    for (int i = tid; i < numStates; i += threads)
      reduced[i] = absolute(gain[i] - loss[i]);
    barrier();
    double largest = reduceMax(reduced, numStates);
    if (tid == 0)
      d = smaller(smaller(fluxFraction / largest, 0.1 * time), step);
    barrier();

    for (int i = tid; i < numStates; i += threads) {
      y[i] = updated(y0[i], gain[i], loss[i], d);
      reduced[i] = massNumber[i] * y[i];
    }
    barrier();
    double mass = reduceSum(reduced, numStates);
    if (tid == 0) {
      double change = absolute(lastMass - mass);
      if (absolute(mass - 1) > absolute(lastMass - 1) && change > massTolerance)
        d *= larger(massTolerance / larger(change, 1e-16), 0.1);
      else if (change < 0.25 * massTolerance)
        d *= massTolerance / larger(change, 0.9 * massTolerance);
      step = d;
      if (time + d >= endTime)
        d = endTime - time;
    }
    barrier();

    // Of a step that is cut at the end, only the last of the updates counts.
    for (int i = tid; i < numStates; i += threads) {
      y[i] = updated(y0[i], gain[i], loss[i], d);
      reduced[i] = massNumber[i] * y[i];
    }
    barrier();
    lastMass = reduceSum(reduced, numStates);
    if (tid == 0)
      time += d;
    ++steps;
    barrier();
  }
  if (tid == 0) {
    times[block()] = time;
    stepSizes[block()] = step;
    stepCounts[block()] += steps;
  }
}
