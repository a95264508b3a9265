# entry NAME: sets u_uid, u_home, u_shell; fails if there is no such user.
entry() {
  if command -v getent >/dev/null; then u_line=$(getent passwd "$1") || return 1
  else u_line=$(grep "^$1:" /etc/passwd) || return 1
  fi
  u_rest=${u_line#*:*:}; u_uid=${u_rest%%:*}
  u_rest=${u_rest#*:*:*:}; u_home=${u_rest%%:*}; u_shell=${u_rest#*:}
}
# read_user NUMBER NAME
read_user() {
  entry "$2" || { say "$1" is absent; return; }
  say "$1" uid "$u_uid"
  printf %s "$u_home" | hex "$1" home
  printf %s "$u_shell" | hex "$1" shell
  id -gn -- "$2" 2>/dev/null | tr -d '\n' | hex "$1" group
  id -Gn -- "$2" 2>/dev/null | hex "$1" groups
  say "$1" is user
}
# put_user NUMBER NAME UID HOME SHELL GROUP GROUPS set|keep yes|no: groups with commas, system.
put_user() {
  if entry "$2"; then
    if [ -n "$3" ] && [ "$3" != "$u_uid" ]; then try "$1" usermod -u "$3" -- "$2" || return; say "$1" wrote yes; fi
    if [ -n "$4" ] && [ "$4" != "$u_home" ]; then try "$1" usermod -d "$4" -- "$2" || return; say "$1" wrote yes; fi
    if [ -n "$5" ] && [ "$5" != "$u_shell" ]; then try "$1" usermod -s "$5" -- "$2" || return; say "$1" wrote yes; fi
    if [ -n "$6" ] && [ "$6" != "$(id -gn -- "$2")" ]; then try "$1" usermod -g "$6" -- "$2" || return; say "$1" wrote yes; fi
    if [ "$8" = set ]; then try "$1" usermod -G "$7" -- "$2" || return; say "$1" wrote yes; fi
  elif command -v useradd >/dev/null; then
    u_n=$1 u_name=$2 u_groups=$7 u_set=$8 u_system=$9
    set -- ${3:+-u "$3"} ${4:+-d "$4"} ${5:+-s "$5"} ${6:+-g "$6"}
    [ "$u_set" != set ] || [ -z "$u_groups" ] || set -- "$@" -G "$u_groups"
    if [ "$u_system" = yes ]; then set -- "$@" -r; else set -- "$@" -m; fi
    try "$u_n" useradd "$@" -- "$u_name" || return
    say "$u_n" wrote yes
    read_user "$u_n" "$u_name"; return
  else
    u_n=$1 u_name=$2 u_groups=$7 u_set=$8 u_system=$9
    set -- ${3:+-u "$3"} ${4:+-h "$4"} ${5:+-s "$5"} ${6:+-G "$6"}
    [ "$u_system" != yes ] || set -- "$@" -S -H
    try "$u_n" adduser -D "$@" "$u_name" || return
    say "$u_n" wrote yes
    if [ "$u_set" = set ] && [ -n "$u_groups" ]; then
      for u_group in $(printf %s "$u_groups" | tr , ' '); do
        try "$u_n" addgroup "$u_name" "$u_group" || return
      done
    fi
    read_user "$u_n" "$u_name"; return
  fi
  read_user "$1" "$2"
}
# drop_user NUMBER NAME: the home directory stays.
drop_user() {
  entry "$2" || return
  if command -v userdel >/dev/null; then try "$1" userdel -- "$2" || return
  else try "$1" deluser "$2" || return
  fi
  say "$1" wrote yes
}
