# read_file NUMBER PATH LIMIT
read_file() {
  if [ -h "$2" ]; then say "$1" is link
  elif [ -f "$2" ]; then
    say_owner "$1" "$2" || return
    f_size=$(wc -c <"$2") || { fail "$1" "permission denied: $2"; return; }
    if [ "$f_size" -gt "$3" ]; then say "$1" is large; return; fi
    hex "$1" content <"$2" || { fail "$1" "cannot read $2"; return; }
    say "$1" is file
  elif [ -d "$2" ]; then say "$1" is directory
  elif [ -e "$2" ]; then say "$1" is other
  else say_absent "$1" "$2"
  fi
}
# put_file NUMBER PATH LIMIT MODE OWNER GROUP known|new: writes what content_NUMBER prints.
put_file() {
  p=$2; folder_of "$p"
  [ ! -h "$p" ] || { say "$1" is link; return; }
  [ ! -d "$p" ] || { say "$1" is directory; return; }
  [ -d "$d" ] || { say_absent "$1" "$p"; say "$1" blocked parent; return; }
  f_mode=$4 f_owner=$5 f_group=$6
  if [ -e "$p" ]; then
    owner "$p" || { fail "$1" "cannot read the owner and mode of $p"; return; }
    [ -n "$f_owner" ] || f_owner=$s_owner
    [ -n "$f_group" ] || f_group=$s_group
    # What was there before stays beside it until the file is deleted.
    if [ "$7" = new ] && [ ! -e "$d/.$b.kusion-before" ]; then
      try "$1" ln -- "$p" "$d/.$b.kusion-before" || return
    fi
  elif [ "$7" = known ]; then say "$1" is moved; return
  fi
  t=$d/.kusion-$N-$1
  if ! (umask 077; set -C; : >"$t") 2>/dev/null; then
    t=
    fail "$1" "cannot write to $d: permission denied or read-only"; return
  fi
  if "content_$1" >"$t" && chown_to "$1" "$f_owner" "$f_group" "$t" && try "$1" chmod "$f_mode" "$t"
  then
    flush "$t"
    # Ends the script if nobody listens any more.
    say "$1" writes now
    if try "$1" mv -f -- "$t" "$p"; then flush "$d"; say "$1" wrote yes; fi
  else
    fail "$1" "${t_out:-cannot write $p: no space left or a limit was reached}"
  fi
  rm -f -- "$t"; t=
  read_file "$1" "$p" "$3"
}
# keep_file NUMBER PATH LIMIT: starts to manage a file that is already as it should be.
keep_file() {
  folder_of "$2"
  if [ -f "$2" ] && [ ! -h "$2" ] && [ ! -e "$d/.$b.kusion-before" ]; then
    try "$1" ln -- "$2" "$d/.$b.kusion-before" || return
  fi
  read_file "$1" "$2" "$3"
}
# drop_file NUMBER PATH: what was there before comes back.
drop_file() {
  folder_of "$2"
  if [ -d "$2" ] && [ ! -h "$2" ]; then say "$1" is directory; return; fi
  if [ -f "$d/.$b.kusion-before" ] && [ ! -h "$d/.$b.kusion-before" ]; then
    f_old=$(ls -di -- "$d/.$b.kusion-before") f_new=$(ls -di -- "$2" 2>/dev/null)
    # Two names of one file: nothing was changed.
    if [ "${f_old%% *}" = "${f_new%% *}" ]; then try "$1" rm -f -- "$d/.$b.kusion-before"
    else try "$1" mv -f -- "$d/.$b.kusion-before" "$2"
    fi && say "$1" wrote yes
  elif [ -e "$2" ] || [ -h "$2" ]; then
    try "$1" rm -f -- "$2" && say "$1" wrote yes
  fi
  [ ! -d "$d" ] || flush "$d"
}
