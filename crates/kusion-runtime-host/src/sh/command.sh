# check_command NUMBER CHECK
check_command() {
  if c_out=$(sh -c "$2" 2>/dev/null </dev/null); then
    printf %s "$c_out" | tail -c 65536 | hex "$1" output
    say "$1" is done
  else say "$1" is absent
  fi
}
# run_command NUMBER COMMAND CHECK force|check: the check must succeed afterwards.
run_command() {
  if [ "$4" = check ] && sh -c "$3" >/dev/null 2>&1 </dev/null; then :
  elif [ -n "$2" ]; then
    c_out=$(sh -c "$2" 2>&1 </dev/null); c_code=$?
    say "$1" wrote yes
    if [ "$c_code" != 0 ]; then
      say "$1" code "$c_code"; printf %s "$c_out" | tail -c 500 | hex "$1" tail
      return
    fi
  fi
  check_command "$1" "$3"
}
