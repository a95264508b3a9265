LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH
umask 022
set -f
# A temporary file that exists only while it is written.
t=
trap '[ -z "$t" ] || rm -f -- "$t"; exit 1' HUP PIPE TERM
unset IFS CDPATH
# say NUMBER KEY WORD
say() { printf '%s %s %s %s\n' "$N" "$1" "$2" "$3"; }
# hex NUMBER KEY: says standard input.
hex() { printf '%s %s %s x:' "$N" "$1" "$2"; od -An -v -tx1 | tr -d ' \n'; echo; }
# fail NUMBER TEXT
fail() { printf '%s' "$2" | tail -c 2000 | hex "$1" error; }
# try NUMBER COMMAND...: runs a command; its output is said if it fails.
try() {
  t_i=$1; shift
  if t_out=$("$@" 2>&1 </dev/null); then return 0; fi
  fail "$t_i" "${t_out:-$1 failed}"
  return 1
}
# owner PATH: sets s_mode, s_owner and s_group.
owner() {
  s_mode='' s_owner='' s_group=''
  s_line=$(ls -ld -- "$1" 2>/dev/null) || return 1
  s_mode=${s_line%% *}
  set -- $s_line
  s_owner=$3 s_group=$4
}
# say_owner NUMBER PATH
say_owner() {
  owner "$2" || { fail "$1" "cannot read the owner and mode of $2"; return 1; }
  say "$1" mode "$s_mode"; say "$1" owner "$s_owner"; say "$1" group "$s_group"
}
# chown_to NUMBER OWNER GROUP PATH: changes owner and group where they differ and are not empty.
chown_to() {
  owner "$4" || { fail "$1" "cannot read the owner of $4"; return 1; }
  if [ -n "$2" ] && [ "$2" != "$s_owner" ]; then try "$1" chown -- "$2" "$4" || return 1; fi
  if [ -n "$3" ] && [ "$3" != "$s_group" ]; then try "$1" chgrp -- "$3" "$4" || return 1; fi
}
# folder_of PATH: sets d and b.
folder_of() { d=${1%/*}; b=${1##*/}; [ -n "$d" ] || d=/; }
# say_absent NUMBER PATH: says that nothing is there, unless this user may not know.
say_absent() {
  folder_of "$2"
  case $(ls -ld -- "$2" 2>&1) in
    *'ermission denied'*) fail "$1" "permission denied: $2"; return 1 ;;
  esac
  say "$1" is absent
  [ -d "$d" ] || say "$1" parent missing
}
# flush PATH: writes it to the disk.
flush() { sync -- "$1" 2>/dev/null || sync; }
