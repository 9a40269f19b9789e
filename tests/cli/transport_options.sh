# shellcheck shell=bash disable=SC2154
# transport_options: errors of --transport and --device-id on any machine: one line from one rank, exit
# code 2 for an invalid value (unit_params has more), 4 for a missing device or transport.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
some=$(rank_counts 2)

for ranks in $some; do
  expect 2 '--transport=pear: unknown value \(did you mean peer\?\)' "$ranks" 4 1 --transport=pear
  expect 4 '--device-id=1023: (no CUDA device is|[0-9]+ CUDA devices?) visible; ' "$ranks" 4 1 \
    --device-id=1023
  # A dry run opens no device.
  ok "$ranks" 4 1 --dry-run --transport=nccl --device-id=1023
done

# --device-id may differ between ranks.
if have_mpi; then
  cat >"$dir/wrapper" <<'EOF'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
exec "$HPGMG_FV" 4 1 --verify-only --device-id=$((1020 + rank * 5))
EOF
  chmod +x "$dir/wrapper"
  sed -i "s|\"\$HPGMG_FV\"|'$HPGMG_FV'|" "$dir/wrapper"
  HPGMG_FV=$dir/wrapper expect 2 '--device-id=1025: out of range' 2
fi

# Without a device, transports other than host and auto are refused.
if ! solo "$HPGMG_FV" 4 1 --verify-only --quiet --device=cuda 2>/dev/null; then
  for ranks in $some; do
    for transport in peer nccl mpi; do
      expect 4 "--transport=$transport: no level is on a GPU; use --transport=auto" \
        "$ranks" 4 1 --transport=$transport
    done
    for transport in auto host; do
      ok "$ranks" 4 8 --verify-only --transport=$transport
    done
  done
fi
finish
