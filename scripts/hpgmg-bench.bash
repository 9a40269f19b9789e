# Bash completion for hpgmg-bench: long options, their values, ladders and file names.
# Install as hpgmg-bench in the completions directory of bash-completion, or source it.

_hpgmg_bench() {
  local current=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD - 1]}
  local option='' value='' words=''

  # Readline splits words at '=': "--device=cpu" arrives as "--device", "=", "cpu".
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
    --device) words='auto cuda cpu' ;;
    --reduction) words='norm sum' ;;
    --json | --csv | --plot | --source)
      mapfile -t COMPREPLY < <(compgen -f -- "$value")
      compopt -o filenames 2>/dev/null
      return
      ;;
    --mib | --seed | --tries) return ;; # numbers
  esac

  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$value")
    [[ $current == --*=* ]] && COMPREPLY=("${COMPREPLY[@]/#/$option=}")
  elif [[ $previous == exercise ]]; then
    mapfile -t COMPREPLY < <(compgen -W '1 2 3 4 5' -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '
      --device= --mib= --quick --json= --csv= --plot= --reduction= --seed= --tries= --source= --quiet
      --help --version' -- "$current")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  else
    mapfile -t COMPREPLY < <(compgen -W 'copy stride wide smooth reduce roofline search exercise' -- "$current")
  fi
}

complete -F _hpgmg_bench hpgmg-bench ./hpgmg-bench
