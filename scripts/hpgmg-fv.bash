# Bash completion for hpgmg-fv: long options, their values and file names.
# Install as hpgmg-fv in the completions directory of bash-completion, or source it.

_hpgmg_fv() {
  local current=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD - 1]}
  local option='' value='' words=''

  # Readline splits words at '=': "--cycle=v" arrives as "--cycle", "=", "v".
  if [[ $current == '=' ]]; then
    option=$previous
  elif [[ $previous == '=' ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]} value=$current
  elif [[ $current == --*=* ]]; then
    option=${current%%=*} value=${current#*=}
  elif [[ $previous == --* && $current != -* ]]; then
    option=$previous value=$current
  fi

  COMPREPLY=()
  case $option in
    --operator) words='fv2 fv4 7pt 27pt' ;;
    --equation) words='poisson helmholtz' ;;
    --beta) words='built-in 1' ;;
    --boundary) words='dirichlet neumann periodic robin' ;;
    --method) words='options auto' ;;
    --smoother) words='gsrb chebyshev jacobi l1jacobi symgs ssor chebyshev4' ;;
    --bottom) words='bicgstab smoother direct' ;;
    --cycle) words='f v' ;;
    --krylov) words='none cg kcycle bicgstab' ;;
    --precision) words='double mixed' ;;
    --cpu-below | --agglomerate-below) words='auto 0' ;;
    --steps-per-pass) words='auto 1 2 3' ;;
    --strip-bytes) words='auto' ;;
    --energy) words='yes no auto' ;;
    --memory) words='auto device unified' ;;
    --device) words='auto cuda cpu cuda-simple' ;;
    --transport) words='auto peer nccl mpi host' ;;
    --dump-precision) words='double float' ;;
    --dump-centering) words='cell point' ;;
    --dump-fields) words='all u f residual beta_i beta_j beta_k dinv alpha mask' ;;
    --dump-levels) words='all 0 1 2' ;;
    --input | --json | --csv | --dump | --restart | --coefficients | --rhs)
      mapfile -t COMPREPLY < <(compgen -f -- "$value")
      compopt -o filenames 2>/dev/null
      return
      ;;
    --cells | --spacing | --lengths | --stretch | --mean | --smooths | --degree | --omega | --rtol | --max-cycles | --coarsest | --warmup | --min-solves | \
      --min-time | --device-id | --ranks | --dump-every | --dump-compress | --dump-hints)
      return # a number
      ;;
  esac
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$value")
    [[ $current == --*=* ]] && COMPREPLY=("${COMPREPLY[@]/#/$option=}")
    return
  fi

  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '
      --cells= --spacing= --lengths= --stretch= --operator= --equation= --beta= --boundary= --mean= --coefficients= --rhs=
      --smoother= --smooths= --degree= --omega= --bottom= --cycle= --rtol= --max-cycles= --krylov= --coarsest= --precision=
      --warmup= --min-solves= --min-time= --official --verify-only --energy
      --device= --device-id= --memory= --transport= --cpu-below= --agglomerate-below= --steps-per-pass= --strip-bytes= --restart= --input= --dry-run --ranks=
      --levels-breakdown --json= --csv= --dump= --dump-fields= --dump-levels= --dump-every= --dump-precision=
      --dump-compress= --dump-centering= --dump-hints= --print-config --quiet --verbose
      --help --version' -- "$current")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  fi
}

complete -F _hpgmg_fv hpgmg-fv ./hpgmg-fv
