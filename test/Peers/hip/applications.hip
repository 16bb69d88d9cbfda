// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as applications have them.

#include "peers.h"

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

/// A sum in each block: a tree in LDS. Blocks have 256 work-items.
KERNEL void reduce_lds(const f64 *in, f64 *out, u32 n) {
  SHARED f64 part[256];
  u32 t = threadX();
  f64 sum = 0;
  for (u32 i = globalX(); i < n; i += gridSizeX())
    sum += in[i];
  part[t] = sum;
  barrier();
  for (u32 half = 128; half; half >>= 1) {
    if (t < half)
      part[t] += part[t + half];
    barrier();
  }
  if (t == 0)
    out[blockX()] = part[0];
}

DEVICE inline f32 shuffled(f32 value, u32 lane) {
  return __builtin_bit_cast(
      f32, __builtin_amdgcn_ds_bpermute(i32(4 * lane),
                                        __builtin_bit_cast(i32, value)));
}

/// The largest element and its place: shuffles in the wavefront, then LDS.
KERNEL void find_largest(const f32 *in, f32 *out, u32 *place, u32 n) {
  SHARED f32 values[16];
  SHARED u32 places[16];
  u32 t = threadX(), lane = t & 63;
  f32 best = -__builtin_inff();
  u32 at = ~0u;
  for (u32 i = t; i < n; i += blockDimX()) {
    f32 value = in[blockX() * n + i];
    if (value > best) {
      best = value;
      at = i;
    }
  }
  for (u32 mask = 1; mask < 64; mask <<= 1) {
    f32 other = shuffled(best, lane ^ mask);
    u32 otherAt = __builtin_amdgcn_ds_bpermute(i32(4 * (lane ^ mask)), i32(at));
    if (other > best || (other == best && otherAt < at)) {
      best = other;
      at = otherAt;
    }
  }
  if (lane == 0) {
    values[t / 64] = best;
    places[t / 64] = at;
  }
  barrier();
  if (t == 0) {
    for (u32 k = 1; k < blockDimX() / 64; ++k)
      if (values[k] > best || (values[k] == best && places[k] < at)) {
        best = values[k];
        at = places[k];
      }
    out[blockX()] = best;
    place[blockX()] = at;
  }
}

/// An exclusive scan of 512 elements by Blelloch's two sweeps.
KERNEL void scan_block(const u32 *in, u32 *out) {
  SHARED u32 data[512];
  u32 t = threadX(), base = 512 * blockX();
  data[2 * t] = in[base + 2 * t];
  data[2 * t + 1] = in[base + 2 * t + 1];
  u32 stride = 1;
  for (u32 d = 256; d; d >>= 1) {
    barrier();
    if (t < d)
      data[stride * (2 * t + 2) - 1] += data[stride * (2 * t + 1) - 1];
    stride *= 2;
  }
  if (t == 0)
    data[511] = 0;
  for (u32 d = 1; d < 512; d *= 2) {
    stride >>= 1;
    barrier();
    if (t < d) {
      u32 left = stride * (2 * t + 1) - 1, right = stride * (2 * t + 2) - 1;
      u32 kept = data[left];
      data[left] = data[right];
      data[right] += kept;
    }
  }
  barrier();
  out[base + 2 * t] = data[2 * t];
  out[base + 2 * t + 1] = data[2 * t + 1];
}

KERNEL void histogram(const u8 *in, u32 *bins, u32 n) {
  SHARED u32 own[256];
  u32 t = threadX();
  own[t] = 0;
  barrier();
  for (u32 i = globalX(); i < n; i += gridSizeX())
    __hip_atomic_fetch_add(&own[in[i]], 1u, __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  if (own[t])
    __hip_atomic_fetch_add(&bins[t], own[t], __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_AGENT);
}

/// Bitonic sort of 512 keys in LDS.
KERNEL void sort_block(u32 *keys) {
  SHARED u32 data[512];
  u32 t = threadX(), base = 512 * blockX();
  data[t] = keys[base + t];
  data[t + 256] = keys[base + t + 256];
  for (u32 size = 2; size <= 512; size *= 2)
    for (u32 stride = size / 2; stride; stride /= 2) {
      barrier();
      u32 low = 2 * t - (t & (stride - 1));
      bool up = (low & size) == 0;
      u32 a = data[low], b = data[low + stride];
      if ((a > b) == up) {
        data[low] = b;
        data[low + stride] = a;
      }
    }
  barrier();
  keys[base + t] = data[t];
  keys[base + t + 256] = data[t + 256];
}

//===----------------------------------------------------------------------===//
// Matrices and grids
//===----------------------------------------------------------------------===//

/// A transpose by tiles of 32 by 32, padded against bank conflicts; 32 by 8 work-
/// items.
KERNEL void transpose(const f64 *in, f64 *out, u32 rows, u32 columns) {
  SHARED f64 tile[32][33];
  u32 x = 32 * blockX() + threadX(), y = 32 * blockY() + threadY();
  for (u32 k = 0; k < 32; k += 8)
    if (x < columns && y + k < rows)
      tile[threadY() + k][threadX()] = in[(y + k) * columns + x];
  barrier();
  x = 32 * blockY() + threadX();
  y = 32 * blockX() + threadY();
  for (u32 k = 0; k < 32; k += 8)
    if (x < rows && y + k < columns)
      out[(y + k) * rows + x] = tile[threadX()][threadY() + k];
}

/// A sparse matrix by compressed rows: one work-item a row.
KERNEL void sparse_rows(const u32 *starts, const u32 *columns, const f64 *values,
                        const f64 *x, f64 *y, u32 rows) {
  u32 row = globalX();
  if (row >= rows)
    return;
  f64 sum = 0;
  for (u32 k = starts[row]; k < starts[row + 1]; ++k)
    sum += values[k] * x[columns[k]];
  y[row] = sum;
}

/// The same, one wavefront a row.
KERNEL void sparse_waves(const u32 *starts, const u32 *columns,
                         const f64 *values, const f64 *x, f64 *y, u32 rows) {
  u32 row = globalX() / 64, lane = threadX() & 63;
  if (row >= rows)
    return;
  f64 sum = 0;
  for (u32 k = starts[row] + lane; k < starts[row + 1]; k += 64)
    sum += values[k] * x[columns[k]];
  for (u32 mask = 32; mask; mask >>= 1) {
    u64 bits = __builtin_bit_cast(u64, sum);
    i32 from = i32(4 * (lane ^ mask));
    u32 low = __builtin_amdgcn_ds_bpermute(from, i32(bits));
    u32 high = __builtin_amdgcn_ds_bpermute(from, i32(bits >> 32));
    sum += __builtin_bit_cast(f64, u64(high) << 32 | low);
  }
  if (lane == 0)
    y[row] = sum;
}

/// Solves A x = b for a matrix of 8 by 8 in each work-item: elimination with row
/// pivots. Element (i, j) of system s lies at (i 8 + j) count + s.
KERNEL void solve_small(const f64 *matrices, const f64 *right, f64 *solution,
                        u32 count) {
  u32 s = globalX();
  if (s >= count)
    return;
  f64 a[8][8], b[8];
  for (u32 i = 0; i < 8; ++i) {
    for (u32 j = 0; j < 8; ++j)
      a[i][j] = matrices[(8 * i + j) * count + s];
    b[i] = right[i * count + s];
  }
  for (u32 k = 0; k < 8; ++k) {
    u32 pivot = k;
    for (u32 i = k + 1; i < 8; ++i)
      if (__builtin_fabs(a[i][k]) > __builtin_fabs(a[pivot][k]))
        pivot = i;
    for (u32 j = 0; j < 8; ++j) {
      f64 kept = a[k][j];
      a[k][j] = a[pivot][j];
      a[pivot][j] = kept;
    }
    f64 kept = b[k];
    b[k] = b[pivot];
    b[pivot] = kept;
    f64 scale = 1.0 / a[k][k];
    for (u32 i = k + 1; i < 8; ++i) {
      f64 factor = a[i][k] * scale;
      for (u32 j = k + 1; j < 8; ++j)
        a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (i32 i = 7; i >= 0; --i) {
    f64 sum = b[i];
    for (u32 j = u32(i) + 1; j < 8; ++j)
      sum -= a[i][j] * b[j];
    b[i] = sum / a[i][i];
  }
  for (u32 i = 0; i < 8; ++i)
    solution[i * count + s] = b[i];
}

/// One step of a stencil of seven points: planes stay in LDS, the third dimension is
/// marched. Blocks are 16 by 8.
KERNEL void stencil(const f32 *in, f32 *out, u32 nx, u32 ny, u32 nz) {
  SHARED f32 plane[10][18];
  u32 tx = threadX(), ty = threadY();
  u32 x = 16 * blockX() + tx, y = 8 * blockY() + ty;
  bool inside = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
  auto at = [&](u32 i, u32 j, u32 k) { return (k * ny + j) * nx + i; };
  bool valid = x < nx && y < ny;
  f32 below = valid ? in[at(x, y, 0)] : 0;
  f32 here = valid ? in[at(x, y, 1)] : 0;
  for (u32 z = 1; z < nz - 1; ++z) {
    f32 above = valid ? in[at(x, y, z + 1)] : 0;
    barrier();
    plane[ty + 1][tx + 1] = here;
    if (tx == 0)
      plane[ty + 1][0] = valid && x > 0 ? in[at(x - 1, y, z)] : 0;
    if (tx == 15)
      plane[ty + 1][17] = valid && x + 1 < nx ? in[at(x + 1, y, z)] : 0;
    if (ty == 0)
      plane[0][tx + 1] = valid && y > 0 ? in[at(x, y - 1, z)] : 0;
    if (ty == 7)
      plane[9][tx + 1] = valid && y + 1 < ny ? in[at(x, y + 1, z)] : 0;
    barrier();
    if (inside)
      out[at(x, y, z)] = 0.4f * here +
                         0.1f * (plane[ty + 1][tx] + plane[ty + 1][tx + 2] +
                                 plane[ty][tx + 1] + plane[ty + 2][tx + 1] +
                                 below + above);
    below = here;
    here = above;
  }
}

/// Softmax of rows, one block a row.
extern "C" DEVICE f32 __ocml_exp_f32(f32);
KERNEL void softmax(const f32 *in, f32 *out, u32 columns) {
  SHARED f32 part[256];
  u32 t = threadX();
  const f32 *row = in + blockX() * columns;
  f32 largest = -__builtin_inff();
  for (u32 i = t; i < columns; i += 256)
    largest = __builtin_fmaxf(largest, row[i]);
  part[t] = largest;
  barrier();
  for (u32 half = 128; half; half >>= 1) {
    if (t < half)
      part[t] = __builtin_fmaxf(part[t], part[t + half]);
    barrier();
  }
  largest = part[0];
  barrier();
  f32 sum = 0;
  for (u32 i = t; i < columns; i += 256)
    sum += __ocml_exp_f32(row[i] - largest);
  part[t] = sum;
  barrier();
  for (u32 half = 128; half; half >>= 1) {
    if (t < half)
      part[t] += part[t + half];
    barrier();
  }
  sum = part[0];
  for (u32 i = t; i < columns; i += 256)
    out[blockX() * columns + i] = __ocml_exp_f32(row[i] - largest) / sum;
}

//===----------------------------------------------------------------------===//
// Physics and numbers
//===----------------------------------------------------------------------===//

extern "C" DEVICE f64 __ocml_exp_f64(f64);
extern "C" DEVICE f64 __ocml_log_f64(f64);

/// Rates of change of a reaction network, a zone a work-item: term r has the rate
/// A T^b exp(-E / T) y[reactants], and tables say what it consumes and produces.
/// Species s of zone z lies at s zones + z.
KERNEL void reaction_rates(const f64 *temperature, const f64 *y, f64 *dydt,
                           const f64 *arrhenius, const i32 *reactants,
                           const u32 *starts, const u32 *terms,
                           const f64 *stoichiometry, u32 species, u32 reactions,
                           u32 zones) {
  extern SHARED f64 rates[]; // [reactions][work-items]
  u32 z = globalX(), t = threadX(), n = blockDimX();
  if (z >= zones)
    return;
  f64 temp = temperature[z], logT = __ocml_log_f64(temp), inverse = 1.0 / temp;
  for (u32 r = 0; r < reactions; ++r) {
    f64 rate = arrhenius[3 * r] *
               __ocml_exp_f64(arrhenius[3 * r + 1] * logT -
                              arrhenius[3 * r + 2] * inverse);
    for (u32 k = 0; k < 3; ++k) {
      i32 s = reactants[3 * r + k];
      if (s >= 0)
        rate *= y[u32(s) * zones + z];
    }
    rates[r * n + t] = rate;
  }
  for (u32 s = 0; s < species; ++s) {
    f64 sum = 0;
    for (u32 k = starts[s]; k < starts[s + 1]; ++k)
      sum += stoichiometry[k] * rates[terms[k] * n + t];
    dydt[s * zones + z] = sum;
  }
}

/// Accelerations of bodies that attract each other, by tiles.
KERNEL void bodies(const f32 *positions, f32 *accelerations, u32 n) {
  SHARED f32 tile[64][4];
  u32 i = globalX(), t = threadX();
  f32 x = positions[4 * i], y = positions[4 * i + 1], z = positions[4 * i + 2];
  f32 ax = 0, ay = 0, az = 0;
  for (u32 base = 0; base < n; base += 64) {
    for (u32 k = 0; k < 4; ++k)
      tile[t][k] = positions[4 * (base + t) + k];
    barrier();
    for (u32 j = 0; j < 64; ++j) {
      f32 dx = tile[j][0] - x, dy = tile[j][1] - y, dz = tile[j][2] - z;
      f32 inverse =
          __builtin_amdgcn_rsqf(dx * dx + dy * dy + dz * dz + 0.01f);
      f32 weight = tile[j][3] * inverse * inverse * inverse;
      ax += dx * weight;
      ay += dy * weight;
      az += dz * weight;
    }
    barrier();
  }
  accelerations[3 * i] = ax;
  accelerations[3 * i + 1] = ay;
  accelerations[3 * i + 2] = az;
}

/// A fast Fourier transform of 256 points in LDS (Stockham, radix 2), one block each.
extern "C" DEVICE f32 __ocml_cospi_f32(f32);
extern "C" DEVICE f32 __ocml_sinpi_f32(f32);
KERNEL void fourier(const f32 *in, f32 *out) {
  typedef f32 complex __attribute__((ext_vector_type(2)));
  SHARED complex data[2][256];
  u32 t = threadX();
  const complex *from = (const complex *)in + 256 * blockX();
  data[0][t] = from[t];
  data[0][t + 128] = from[t + 128];
  barrier();
  u32 side = 0;
  for (u32 size = 1; size < 256; size *= 2) {
    u32 k = t & (size - 1);
    f32 turn = -f32(k) / f32(size);
    complex w = {__ocml_cospi_f32(turn), __ocml_sinpi_f32(turn)};
    complex a = data[side][t], b = data[side][t + 128];
    complex c = {w.x * b.x - w.y * b.y, w.x * b.y + w.y * b.x};
    u32 at = 2 * t - k;
    data[1 - side][at] = a + c;
    data[1 - side][at + size] = a - c;
    side = 1 - side;
    barrier();
  }
  complex *to = (complex *)out + 256 * blockX();
  to[t] = data[side][t];
  to[t + 128] = data[side][t + 128];
}

/// Steps until a point leaves: the lanes of a wavefront end at different times.
KERNEL void mandelbrot(u32 *out, u32 width, u32 height, u32 limit) {
  u32 i = 16 * blockX() + threadX(), j = 16 * blockY() + threadY();
  f64 cx = -2.0 + 3.0 * i / width, cy = -1.5 + 3.0 * j / height;
  f64 x = 0, y = 0;
  u32 steps = 0;
  while (steps < limit && x * x + y * y < 4.0) {
    f64 next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++steps;
  }
  out[j * width + i] = steps;
}
