/**
 * What runs inside the container: one bash program, put there when a container comes up, and the lines that call it.
 * Nothing here knows of the SDK.
 *
 * S1  The program is the boot marker: where it is not, or was put by another boot, a call exits with GONE and has
 *     done nothing.
 * S2  `start` claims its id by making a folder, so it may be sent again: a command runs once in the life of a container.
 * S3  A command writes its output, its pid and its exit code into files, so that anyone can follow it later. Nothing
 *     of ours holds its pipes: a child that stays behind hangs no call.
 * S4  Words are single-quoted, and commands and data travel as base64: no quote or byte of theirs means anything.
 * S5  Every verb but `write` may be repeated.
 */
export const GONE = 97;

/** Where the program keeps its files, and the folder that it serves. Tests use others. */
export interface Places {
  run: string;
  root: string;
}
export const PLACES: Places = { run: "/tmp/.run", root: "/workspace" };

export type Verb =
  | "start"
  | "follow"
  | "kill"
  | "jobs"
  | "write"
  | "scan"
  | "pack"
  | "chunk"
  | "commit"
  | "unpack"
  | "remove"
  | "list"
  | "size"
  | "ready";

/** For a POSIX shell: nothing inside single quotes means anything. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** One call of the program; `boot` "-" is taken before the container is ready. */
export const callLine = (
  { run }: Places,
  boot: string,
  verb: Verb,
  args: readonly (string | number)[],
): string => {
  const words = [boot, verb, ...args].map((arg) => quote(String(arg))).join(" ");
  return `[ -f ${run}/box ] || exit ${GONE}; exec bash ${run}/box ${words}`;
};

/** Puts the program into a container; `base64` encodes text. */
export const installLine = (places: Places, base64: (text: string) => string): string =>
  [
    `mkdir -p ${places.run}/job ${places.run}/in ${places.root}`,
    `rm -f ${places.run}/boot ${places.run}/in/*`,
    `printf %s ${base64(program(places))} | base64 -d > ${places.run}/box.new`,
    `mv ${places.run}/box.new ${places.run}/box`,
  ].join(" && ");

/** How much of an output's beginning is never given up, bytes, and how much of it may stand on the disk. */
export const KEPT_HEAD = 1024 * 1024;
const KEPT_ON_DISK = 64 * 1024 * 1024;

const program = ({ run, root }: Places): string => `
export LANG=\${LANG:-C.UTF-8} LC_ALL=\${LC_ALL:-C.UTF-8}
R=${run}; W=${root}
boot=$1; verb=$2; shift 2
known=; [ "$boot" = - ] || { [ -f "$R/boot" ] && read -r known < "$R/boot"; [ "$boot" = "$known" ] || exit ${GONE}; }
plain() { base64 -d <<< "$1"; }
size() { [ -f "$1" ] && stat -c %s "$1" || echo 0; }
# Without a process for each: a machine that is busy has better things to do.
exec {quiet}<> <(:)
nap() { read -r -t "$1" -u "$quiet"; }

# The state of a command ("none", "running" or its exit code), the size of its output, where the printed part begins.
follow() { # id offset max wait_ms
  local d=$R/job/$1 code= left=$4 more=100 all from=$2
  [ -d "$d" ] || { echo "none 0 0"; return; }
  while :; do
    [ -s "$d/code" ] && read -r code < "$d/code"
    all=$(size "$d/out")
    [ -z "$code" ] && [ "$left" -gt 0 ] || break
    # Something is there: it may be all there is, so a moment longer.
    [ "$all" -gt "$2" ] && { [ "$more" -gt 0 ] || break; more=$((more - 20)); }
    left=$((left - 20)); nap 0.02
  done
  # Far behind, beyond the head: the middle of a flood is skipped.
  [ "$from" -ge ${KEPT_HEAD} ] && [ $((all - from)) -gt $((2 * $3)) ] && from=$((all - $3))
  echo "\${code:-running} $all $from"
  [ "$all" -gt "$from" ] && tail -c +$((from + 1)) "$d/out" | head -c "$3" | base64 -w0
  return 0
}

# A flood would fill the disk: the middle of what was printed is given back to it.
guard() { # folder pid
  local all
  until nap 1; [ -s "$1/code" ]; do
    all=$(size "$1/out")
    [ "$all" -gt ${KEPT_ON_DISK} ] || continue
    fallocate -p -o ${KEPT_HEAD} -l $((all - 2 * ${KEPT_HEAD})) "$1/out" 2>/dev/null || kill -KILL -- "-$2"
  done
}

alone() { # folder background
  local d=$1 pid watch
  # A session of its own: what kills the command does not kill who waits for it.
  if [ "$2" = 1 ]; then
    mkfifo "$d/in"; exec 3<>"$d/in"
    setsid bash -c "$(<"$d/cmd")" bash <"$d/in" >>"$d/out" 2>&1 3>&- {quiet}>&- &
  else
    setsid bash -c "$(<"$d/cmd")" bash </dev/null >>"$d/out" 2>&1 {quiet}>&- &
  fi
  pid=$!
  echo $pid > "$d/pid"
  guard "$d" $pid & watch=$!
  wait $pid; echo $? > "$d/code"
  kill $watch
}

tidy() {
  find "$R/job" -mindepth 2 -maxdepth 2 -name code -mmin +2 -printf '%h\\0' |
    while IFS= read -r -d '' d; do [ -e "$d/background" ] || rm -rf "$d"; done
}

start() { # id cwd command background max wait_ms
  local d=$R/job/$1 jobs
  if mkdir "$d" 2>/dev/null; then
    jobs=("$R"/job/*); [ \${#jobs[@]} -lt 30 ] || tidy
    : > "$d/out"; plain "$3" > "$d/cmd"
    [ "$4" = 1 ] && : > "$d/background"
    if cd "$2" 2>/dev/null; then
      setsid bash "$R/box" "$boot" alone "$d" "$4" </dev/null >/dev/null 2>&1 &
    else
      echo "bash: cd: $2: No such file or directory" > "$d/out"; echo 1 > "$d/code"
    fi
  fi
  follow "$1" 0 "$5" "$6"
}

stop() { # id: ends the whole group, politely first
  local d=$R/job/$1 n=0 pid
  [ -d "$d" ] || { echo none; return; }
  until [ -s "$d/pid" ] || [ -s "$d/code" ] || [ $n -ge 100 ]; do n=$((n + 1)); nap 0.02; done
  [ -s "$d/pid" ] && read -r pid < "$d/pid" || { echo ok; return; }
  [ -s "$d/code" ] || kill -TERM -- "-$pid" 2>/dev/null
  n=0; until [ -s "$d/code" ] || [ $n -ge 20 ]; do n=$((n + 1)); nap 0.02; done
  kill -KILL -- "-$pid" 2>/dev/null
  n=0; until [ -s "$d/code" ] || [ $n -ge 100 ]; do n=$((n + 1)); nap 0.02; done
  echo ok
}

jobs_running() {
  local d
  for d in "$R"/job/*/background; do
    d=\${d%/background}
    [ -d "$d" ] && [ ! -s "$d/code" ] && echo "\${d##*/}"
  done
  return 0
}

feed() { # id input
  local d=$R/job/$1
  [ -p "$d/in" ] || { echo none; return; }
  [ -s "$d/code" ] && { echo ended; return; }
  plain "$2" | timeout 5 tee "$d/in" >/dev/null && echo ok || echo full
}

# Every file that is to be kept, as "size time mode path", against what was last known.
scan() { # most bytes of a file, most records, names to skip
  local most=$1 records=$2 skip=() name; shift 2
  for name; do skip+=(-o -name "$name"); done
  touch "$R/seen"
  # A list that was cut short (no room on the disk) would look like files that were deleted.
  find "$W" -xdev \\( -false "\${skip[@]}" \\) -prune -o -type f \\( \\
    -size "+\${most}c" -fprintf "$R/large" '!%s 0 0 %P\\0' -o -printf '%s %T@ %m %P\\0' \\) 2>/dev/null |
    sort -z > "$R/now.new" || exit 1
  mv "$R/now.new" "$R/now"
  ! cmp -s "$R/seen" "$R/now" || [ -s "$R/large" ] || return 0
  { comm -z -13 "$R/seen" "$R/now" | sed -z 's/^/+/'
    comm -z -23 "$R/seen" "$R/now" | sed -z 's/^/-/'
    cat "$R/large"
  } | head -z -n "$records" | base64 -w0
}

list() { # folder or file, most records, names to skip
  local folder=$1 records=$2 skip=() name; shift 2
  for name; do skip+=(-o -name "$name"); done
  find "$folder" \\( -false "\${skip[@]}" \\) -prune -o -type f -printf '%s %p\\0' 2>/dev/null |
    head -z -n "$records" | base64 -w0
}

# What was put into in/ is one tar file; "list" names what is in it.
unpack() {
  cat "$R"/in/* | tar -C "$W" -xf - --no-same-owner 2>&1 || { rm -f "$R"/in/*; exit 1; }
  rm -f "$R"/in/*
  # Only now: a file that is known and not there counts as deleted.
  { cat "$R/seen" 2>/dev/null; sed -z 's/^/0 0 0 /' "$R/list"; } | sort -z -u > "$R/seen.new" || exit 1
  mv "$R/seen.new" "$R/seen"
}

case $verb in
  start|follow|unpack|scan|list) "$verb" "$@" ;;
  alone) alone "$@" ;;
  kill) stop "$1" ;;
  jobs) jobs_running ;;
  write) feed "$@" ;;
  # "list", NUL after each: there may be more names than a command line holds.
  pack) tar -C "$W" --format=gnu --no-recursion --null -T "$R/list" -cf "$R/out.tar" 2>/dev/null; size "$R/out.tar" ;;
  size) [ -f "$1" ] && size "$1" ;;
  chunk) tail -c +$(($2 + 1)) "$1" | head -c "$3" | base64 -w0 ;;
  commit) mv "$R/now" "$R/seen"; rm -f "$R/out.tar" ;;
  remove) cd "$W" && xargs -0 -r rm -rf -- < "$R/list" ;;
  ready) echo "$1" > "$R/boot" ;;
  *) exit 64 ;;
esac
`;
