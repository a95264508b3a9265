# read_directory NUMBER PATH
read_directory() {
  if [ -h "$2" ]; then say "$1" is link
  elif [ -d "$2" ]; then say_owner "$1" "$2" && say "$1" is directory
  elif [ -e "$2" ]; then say "$1" is other
  else say_absent "$1" "$2"
  fi
}
# put_directory NUMBER PATH MODE OWNER GROUP known|new
put_directory() {
  p=$2; folder_of "$p"
  [ ! -h "$p" ] || { say "$1" is link; return; }
  if [ ! -d "$p" ]; then
    [ ! -e "$p" ] || { say "$1" is other; return; }
    [ "$6" = new ] || { say "$1" is moved; return; }
    [ -d "$d" ] || { say_absent "$1" "$p"; say "$1" blocked parent; return; }
    try "$1" mkdir -- "$p" || return
    say "$1" wrote yes
  fi
  chown_to "$1" "$4" "$5" "$p" || return
  if [ -n "$3" ]; then try "$1" chmod "$3" "$p" || return; fi
  flush "$d"
  say "$1" wrote yes
  read_directory "$1" "$p"
}
# drop_directory NUMBER PATH: never deletes what is inside.
drop_directory() {
  [ ! -h "$2" ] || { say "$1" is link; return; }
  [ -d "$2" ] || return
  try "$1" rmdir -- "$2" && say "$1" wrote yes
}
