# manager NUMBER NAME: sets k_manager to the wanted one, or to that of the system.
manager() {
  k_manager=$2
  if [ -z "$k_manager" ]; then
    if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then k_manager=apt
    elif command -v dnf >/dev/null; then k_manager=dnf
    elif command -v apk >/dev/null; then k_manager=apk
    else fail "$1" "no package manager found: expected apt, dnf or apk"; return 1
    fi
  fi
  say "$1" manager "$k_manager"
}
# version NAME: sets k_version; fails if the package is not installed.
version() {
  k_version=
  case $k_manager in
    apt)
      k_line=$(dpkg-query -W -f='${db:Status-Status} ${Version}\n' -- "$1" 2>/dev/null | head -n 1)
      case $k_line in 'installed '*) k_version=${k_line#installed } ;; *) return 1 ;; esac ;;
    dnf) k_version=$(rpm -q --qf '%{VERSION}-%{RELEASE}\n' -- "$1" 2>/dev/null) || return 1
      k_version=${k_version%%
*} ;;
    apk) apk info -e "$1" >/dev/null 2>&1 || return 1
      k_version=$(apk info -e -v "$1" 2>/dev/null | head -n 1); k_version=${k_version#"$1"-} ;;
  esac
}
# read_package NUMBER NAME MANAGER
read_package() {
  manager "$1" "$3" || return
  if version "$2"; then printf %s "$k_version" | hex "$1" version; say "$1" is installed
  else say "$1" is absent
  fi
}
# put_package NUMBER NAME MANAGER VERSION
put_package() {
  manager "$1" "$3" || return
  if version "$2" && { [ -z "$4" ] || [ "$4" = "$k_version" ]; }; then :; else
    case $k_manager in
      apt) try "$1" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
        --no-install-recommends --allow-downgrades -o Dpkg::Options::=--force-confold \
        -o DPkg::Lock::Timeout=120 -- "$2${4:+=$4}" || return ;;
      dnf) try "$1" dnf install -y -q -- "$2${4:+-$4}" || return ;;
      apk) try "$1" apk add -q "$2${4:+=$4}" || return ;;
    esac
    say "$1" wrote yes
  fi
  read_package "$1" "$2" "$3"
}
# drop_package NUMBER NAME MANAGER
drop_package() {
  manager "$1" "$3" || return
  version "$2" || return
  case $k_manager in
    apt) try "$1" env DEBIAN_FRONTEND=noninteractive apt-get remove -y -q \
      -o DPkg::Lock::Timeout=120 -- "$2" || return ;;
    dnf) try "$1" dnf remove -y -q -- "$2" || return ;;
    apk) try "$1" apk del -q "$2" || return ;;
  esac
  say "$1" wrote yes
}
