# Sourced by bare and deb, behind surroundings.sh: fresh roots of the Debian that runs here, of another release, or of an Ubuntu.
# Packages come from where this machine has them: its lists of packages, its certificates, its settings of pip and cargo.

# The keys that sign Ubuntu's archive, of which Debian 12 has no package.
ubuntu_keyring=(https://archive.ubuntu.com/ubuntu/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb
  36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8)

# fresh_base <packages> [release]: makes a root with nothing but these, at $place/base; skips, with the reason, where that is not
# permitted, or packages cannot be had. A release is Debian's, as trixie, or Ubuntu's, as ubuntu:noble.
fresh_base() {
  skip() { say "$purpose: skipped: $*"; exit 0; }
  [ "$(id -u)" = 0 ] || skip "needs root, for chroot and mounts"
  unshare -mpf --mount-proc true 2>/dev/null || skip "mounting is not permitted here"
  . /etc/os-release
  [[ ${ID:-} =~ ^(debian|ubuntu)$ ]] || skip "this is neither Debian nor Ubuntu but ${ID:-something unknown}"
  "$checkout/setup/prepare" bare || skip "mmdebstrap is not here, and could not be installed"

  place=$(mktemp -d "${TMPDIR:-/var/tmp}/slabmark-$purpose.XXXXXX")
  trap 'rm -rf --one-file-system "$place"' EXIT

  local release=${2:-$VERSION_CODENAME} lists=() trust=() list settings attempt name value file
  if [[ $release = ubuntu:* ]]; then
    release=${release#ubuntu:}
    for list in "$release" "$release-updates" "$release-security"; do
      lists+=("deb http://archive.ubuntu.com/ubuntu $list main universe")
    done
    curl -fsS --retry 5 -o "$place/keyring.deb" "${ubuntu_keyring[0]}" &&
      echo "${ubuntu_keyring[1]} $place/keyring.deb" | sha256sum --check --quiet ||
      skip "the keys of Ubuntu's archive could not be had"
    dpkg-deb --extract "$place/keyring.deb" "$place/keyring"
    trust=(--keyring="$place/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg")
  elif [ "$release" != "$VERSION_CODENAME" ]; then
    lists=("deb http://deb.debian.org/debian $release main")
  else
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
      [ ! -s "$list" ] || lists+=("$list")
    done
  fi
  settings="Acquire::Retries \"5\"; $(apt-config dump | grep -iE '^Acquire::(https?::|Check-|Retries)' || true)"
  say "making a root of ${2:-$ID $release}"
  for attempt in 1 2 3; do
    mmdebstrap --quiet --dpkgopt=force-unsafe-io --variant=minbase --include="apt,$1" --aptopt="$settings" "${trust[@]}" \
      "$release" "$place/base" "${lists[@]}" >"$place/log" 2>&1 && break
    rm -rf --one-file-system "$place/base"
    [ "$attempt" != 3 ] || { tail -n 15 "$place/log" >&2; skip "mmdebstrap could not make a root, three times"; }
    sleep 10
  done

  # What leads to packages from here: certificates, pip.conf, cargo's settings, and variables with the files that they name.
  variables=()
  while IFS='=' read -r name value; do
    variables+=("$name=$value")
    [ ! -e "$value" ] || cp -a --parents "$value" "$place/base"
  done < <(env | grep -E '^(PIP_|CARGO_|SSL_CERT_|[a-zA-Z]+_proxy=|[A-Z]+_PROXY=)' || true)
  for file in /etc/ssl/certs /usr/local/share/ca-certificates /usr/share/ca-certificates /etc/pip.conf /etc/hosts /etc/resolv.conf \
    "$HOME/.config/pip" "$HOME/.cargo/config.toml"; do
    [ ! -e "$file" ] || cp -a --parents "$file" "$place/base"
  done
}

# install_in <root> <packages or files>: says nothing unless it fails.
install_in() {
  in_root "$1" 0:0 "{ apt-get update -q && apt-get install -qy --no-install-recommends ${*:2}; } >/installed 2>&1 ||
    { tail -n 20 /installed >&2; exit 1; }"
}

# in_root <root> <user> <command>
in_root() {
  # shellcheck disable=SC2016
  unshare -mpf bash -ec '
    root=$1 user=$2
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/dev/shm"
    exec chroot --userspec="$user" "$root" "${@:3}"' in_root "$1" "$2" \
    env -i "${variables[@]}" HOME="$([ "$2" = 0:0 ] && echo /root || echo /home/somebody)" TERM=dumb JOBS="${JOBS:-$(nproc)}" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -c "$3"
}
