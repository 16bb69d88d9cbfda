# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What ./quickstart and ./check share, to be sourced by bash in the root of the
# source tree. `bootstrap [cmake options...]` installs what is missing on a
# Debian 12 machine, configures and builds in build/. A second call finds all
# done and takes a few seconds.
#
# One line a step is printed; what the step's commands say goes to
# build/<step>.log, which is shown if the step fails.
#
# Environment:
#   WAVESMITH_JOBS  parallel compilers (default: one a core)

readonly llvm_prefix=/usr/lib/llvm-22
readonly venv=build/venv
readonly venv_python=$PWD/$venv/bin/python
readonly peers_venv=build/venv-peers
readonly peers_requirements=test/Peers/requirements.txt

# Each of these is used by the build or by the tests.
readonly debian_packages=(
  ca-certificates             # pip fetches by https
  ccache                      # a second build in seconds
  clang-22 g++ libc6-dev      # compiler, C++ library
  cmake ninja-build git
  llvm-22 llvm-22-dev llvm-22-tools
  lld-22 liblld-22-dev
  libmlir-22 libmlir-22-dev mlir-22-tools
  libzstd-dev zlib1g-dev      # what LLVM's static archives link
  rocm-device-libs            # ocml, the device's math library
  libamdhip64-5 libamdhip64-dev  # HIP: tests only, the library is not linked
  libgtest-dev libgmock-dev
  libclang-rt-22-dev          # sanitizers, for the simulator's fuzz tests
  libgmp-dev libmpfr-dev      # the reference's high precision
  python3 python3-dev python3-venv
)

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# step NAME DESCRIPTION COMMAND...: runs the command with its output in
# build/NAME.log.
step() {
  local name=$1 description=$2 begin=$SECONDS log=build/$1.log
  shift 2
  printf '%-44s ' "$description"
  if "$@" >"$log" 2>&1 </dev/null; then
    printf 'done, %d s\n' $((SECONDS - begin))
  else
    local status=$?
    printf 'failed\n'
    {
      printf 'error: status %d of: %s\n' "$status" "$*"
      printf -- '--- the last lines of %s:\n' "$log"
      # What went wrong stands first in a compiler's output.
      grep -nE -m 5 '(^|[ :])(error|FAILED|E):' "$log" || true
      tail -n 40 "$log"
    } >&2
    exit "$status"
  fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

missing_packages() {
  local package
  for package in "${debian_packages[@]}"; do
    case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
    installed) ;;
    *) echo "$package" ;;
    esac
  done
}

install_packages() {
  local package policy
  as_root apt-get update || return
  for package in "$@"; do
    policy=$(LC_ALL=C apt-cache policy "$package")
    if ! [[ $policy =~ Candidate:\ [^\(] ]]; then
      echo "error: apt knows no package $package: Wavesmith needs Debian 12" \
        "(bookworm, main and security), see 'apt-cache policy' and" \
        "/etc/apt/sources.list" >&2
      return 1
    fi
  done
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y \
    --no-install-recommends "$@"
}

# make_venv FOLDER REQUIREMENTS: a Python with the packages of a list.
make_venv() {
  # A venv that was moved or half made is made again.
  rm -rf "$1" &&
    /usr/bin/python3 -m venv "$1" &&
    "$1/bin/python" -m pip install --disable-pip-version-check --no-input \
      --only-binary :all: -r "$2" &&
    venv_stamp "$@" >"$1/wavesmith-stamp"
}

venv_stamp() {
  echo "$PWD/$1"
  /usr/bin/python3 --version
  cat "$2"
}

has_venv() { venv_stamp "$@" | cmp -s - "$1/wavesmith-stamp"; }

configure() {
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache
              -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake -G Ninja -S . -B build \
    -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
    -DMLIR_DIR=$llvm_prefix/lib/cmake/mlir \
    -DLLVM_DIR=$llvm_prefix/lib/cmake/llvm \
    -DLLD_DIR=$llvm_prefix/lib/cmake/lld \
    -DWAVESMITH_PYTHON="$venv_python" \
    "${launcher[@]}" "$@"
}

# The compilers of peers, whose code objects test/Peers runs: only ./check needs
# them.
bootstrap_peers() {
  has_venv "$peers_venv" "$peers_requirements" ||
    step venv-peers "install peers' compilers in $peers_venv" \
      make_venv "$peers_venv" "$peers_requirements"
}

bootstrap() {
  local missing packages
  [ -f CMakeLists.txt ] && [ -f python/requirements.txt ] ||
    die "$PWD is not the root of Wavesmith's source tree"
  mkdir -p build
  command -v dpkg-query >/dev/null ||
    die "expected a Debian 12 machine, found no dpkg-query"
  missing=$(missing_packages)
  if [ -n "$missing" ]; then
    mapfile -t packages <<<"$missing"
    if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
      die "these packages are missing, and to install them takes root:" \
        "${packages[*]}"
    fi
    step packages "install ${#packages[@]} Debian packages" \
      install_packages "${packages[@]}"
  fi
  has_venv "$venv" python/requirements.txt ||
    step venv "install Python packages in $venv" \
      make_venv "$venv" python/requirements.txt
  step configure "configure" configure "$@"
  step build "build" ninja -C build -j "${WAVESMITH_JOBS:-$(nproc)}"
}
