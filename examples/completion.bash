# SPDX-License-Identifier: BSD-3-Clause
# Bash completion of lbsched's tools: options as --help names them, values where they are words.

_lbsched() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
    case $before in
    -p | --policy | --policies) words="none lazy active immediate" ;;
    --preset) words="windows-7 linux-2.6.22 linux-2.6.31" ;;
    -m | --measure)
        case $1 in
        *compare) words="batch users messages" ;;
        *detect) words="even profile latency events" ;;
        esac
        ;;
    --chart) words="units slices profile latency" ;;
    *)
        [[ $word == -* ]] &&
            words=$("$1" --help 2>/dev/null | grep '^ *-' | sed 's/^\( *-[^ ]* *[^ ]* *[^ ]*\).*/\1/' |
                grep -oE -- '--?[A-Za-z][A-Za-z-]*')
        ;;
    esac
    # shellcheck disable=SC2207
    if [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}

complete -o filenames -F _lbsched lbsched-detect lbsched-classify lbsched-predict \
    lbsched-weights lbsched-compare lbsched-whatif
