# Bash completion for hpgmg-health: long options, their values and file names.
# Install as hpgmg-health in the completions directory of bash-completion, or source it.

_hpgmg_health() {
  local current=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD - 1]}
  local option='' value=''

  # Readline splits words at '=': "--device=cpu" arrives as "--device", "=", "cpu".
  if [[ $current == '=' ]]; then
    option=$previous
  elif [[ $previous == '=' ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]} value=$current
  elif [[ $previous == --* && $current != -* ]]; then
    option=$previous value=$current
  fi

  COMPREPLY=()
  case $option in
    --device) mapfile -t COMPREPLY < <(compgen -W 'auto cuda cpu cuda-simple' -- "$value") ;;
    --baseline | --json)
      mapfile -t COMPREPLY < <(compgen -f -- "$value")
      compopt -o filenames 2>/dev/null
      ;;
    '')
      mapfile -t COMPREPLY < <(compgen -W '
        --baseline= --slow= --timeout= --min-time= --min-solves= --warmup= --json= --device= --device-id=
        --quiet --verbose --help --version' -- "$current")
      [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
      ;;
  esac
}

complete -F _hpgmg_health hpgmg-health ./hpgmg-health
