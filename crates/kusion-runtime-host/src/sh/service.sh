# service_manager NUMBER NAME: sets v_manager to the wanted one, or to that of the system.
service_manager() {
  v_manager=$2
  if [ -z "$v_manager" ]; then
    if [ -d /run/systemd/system ]; then v_manager=systemd
    elif command -v sv >/dev/null && { [ -d /etc/runit ] || [ -d /etc/sv ]; }; then v_manager=runit
    elif [ -d /etc/init.d ]; then v_manager=sysvinit
    else fail "$1" "no service manager found: expected systemd, runit or sysvinit"; return 1
    fi
  fi
  v_linked=/etc/service v_sv=/etc/sv
  [ -d /etc/service ] || [ ! -d /var/service ] || v_linked=/var/service
  # The variable of `sv`; definitions are beside.
  [ -z "${SVDIR-}" ] || v_linked=$SVDIR v_sv=${SVDIR%/*}/sv
  say "$1" manager "$v_manager"
}
# read_service NUMBER NAME MANAGER
read_service() {
  service_manager "$1" "$3" || return
  v_running=no v_enabled=no v_detail=
  case $v_manager in
    systemd)
      systemctl cat -- "$2" >/dev/null 2>&1 || { say "$1" is absent; return; }
      v_detail=$(systemctl is-active -- "$2" 2>/dev/null)
      [ "$v_detail" != active ] || v_running=yes
      case $(systemctl is-enabled -- "$2" 2>/dev/null) in
        enabled|enabled-runtime|static|alias|indirect|generated) v_enabled=yes ;;
      esac ;;
    runit)
      [ -d "$v_sv/$2" ] || [ -d "$v_linked/$2" ] || { say "$1" is absent; return; }
      [ ! -e "$v_linked/$2" ] || v_enabled=yes
      v_detail=down
      if [ "$v_enabled" = yes ]; then
        case $(sv status "$v_linked/$2" 2>/dev/null) in
          run:*) v_running=yes; v_detail=active ;;
        esac
      fi ;;
    sysvinit)
      [ -x "/etc/init.d/$2" ] || { say "$1" is absent; return; }
      v_detail=inactive
      if "/etc/init.d/$2" status >/dev/null 2>&1; then v_running=yes; v_detail=active; fi
      if ls /etc/ | grep -q '^rc[2345]\.d$' &&
        ls /etc/rc2.d /etc/rc3.d /etc/rc5.d 2>/dev/null | grep -q "^S[0-9]*$2\$"; then v_enabled=yes
      fi ;;
  esac
  printf %s "$v_detail" | hex "$1" detail
  say "$1" running "$v_running"; say "$1" enabled "$v_enabled"; say "$1" is service
}
# enable_service NUMBER NAME yes|no
enable_service() {
  case $v_manager-$3 in
    systemd-yes) try "$1" systemctl enable -q -- "$2" ;;
    systemd-no) try "$1" systemctl disable -q -- "$2" ;;
    runit-yes)
      [ -e "$v_linked/$2" ] || try "$1" ln -s -- "$v_sv/$2" "$v_linked/$2" || return 1
      # The supervisor looks for new services every five seconds.
      v_n=0
      while [ "$v_n" -lt 15 ] && ! [ -e "$v_sv/$2/supervise/ok" ]; do sleep 1; v_n=$((v_n + 1)); done ;;
    runit-no)
      sv -w 10 down "$v_linked/$2" >/dev/null 2>&1
      [ ! -h "$v_linked/$2" ] || try "$1" rm -f -- "$v_linked/$2" ;;
    sysvinit-yes) try "$1" update-rc.d "$2" defaults && try "$1" update-rc.d "$2" enable ;;
    sysvinit-no) try "$1" update-rc.d "$2" disable ;;
  esac
}
# run_service NUMBER NAME start|stop|restart
run_service() {
  case $v_manager in
    systemd) try "$1" systemctl "$3" -- "$2" ;;
    runit)
      if [ ! -e "$v_linked/$2" ]; then
        [ "$3" = stop ] || fail "$1" "a service of runit runs only while it is enabled"
        [ "$3" = stop ]; return
      fi
      try "$1" sv -w 15 "$3" "$v_linked/$2" ;;
    sysvinit) try "$1" "/etc/init.d/$2" "$3" ;;
  esac
}
# put_service NUMBER NAME MANAGER yes|no|'' yes|no|'' restart|'': enabled, running.
put_service() {
  service_manager "$1" "$3" || return
  [ "$v_manager" != systemd ] || try "$1" systemctl daemon-reload || return
  read_service "$1" "$2" "$3" >/dev/null
  case $v_detail in '') say "$1" is absent; return ;; esac
  v_was=$v_running
  if [ -n "$4" ] && [ "$4" != "$v_enabled" ]; then
    enable_service "$1" "$2" "$4" || return
    say "$1" wrote yes
    read_service "$1" "$2" "$3" >/dev/null
  fi
  if [ "$5" = no ] && [ "$v_running" = yes ]; then run_service "$1" "$2" stop || return; say "$1" wrote yes
  elif [ "$5" = yes ] && [ "$v_running" = no ]; then run_service "$1" "$2" start || return; say "$1" wrote yes
  elif [ "$6" = restart ] && [ "$v_was" = yes ] && [ "$v_running" = yes ]; then
    run_service "$1" "$2" restart || return
    say "$1" wrote yes
  fi
  read_service "$1" "$2" "$3"
}
