# shellcheck shell=bash disable=SC2034,SC2154
# gpu_mps: ranks that share a device under NVIDIA's Multi-Process Service, where their kernels run concurrently. No
# kernel blocks one that it waits for, and results are bit-identical to one rank on the CPU. The test starts and stops
# a private MPS server. Skips without a device, or if the server does not start.
# shellcheck source=tests/lib/compare_transports.sh
. "$abs_top_srcdir/tests/lib/compare_transports.sh"

command -v nvidia-cuda-mps-control >/dev/null || skip_test 'no nvidia-cuda-mps-control'
export CUDA_MPS_PIPE_DIRECTORY=$dir/mps CUDA_MPS_LOG_DIRECTORY=$dir/mps
mkdir "$dir/mps"
ask() { echo "$1" | timeout 600 nvidia-cuda-mps-control 2>/dev/null; }
timeout 600 nvidia-cuda-mps-control -d >/dev/null 2>&1 || skip_test 'nvidia-cuda-mps-control does not start'
at_end='ask quit >/dev/null'
solo timeout 600 "$HPGMG_FV" 4 1 --device=cuda --cpu-below=0 --verify-only --quiet >/dev/null 2>"$dir/err" ||
  skip_test "no device under MPS: $(tail -n 1 "$dir/err")"
ask get_server_list | grep -q '[0-9]' || skip_test 'programs do not find the MPS server'

# One rank runs a kernel whose blocks each need a whole SM, while the others wait for its messages.
size=5
for options in --operator=fv2 '--operator=fv4 --boundary=periodic' --smoother=chebyshev; do
  # shellcheck disable=SC2086 # words
  {
    wanted $options
    for ranks in 2 8; do
      compare peer $ranks $options --cpu-below=0
    done
  }
done
# 160^3 cells: fused sweeps, overlapped with messages on some ranks only.
all=125
wanted
compare peer 3 --cpu-below=0
compare auto 5
echo "$runs runs on CUDA are bit-identical to the CPU"
