#!/bin/sh
# 01 · A task with nothing but HTTP. It shows: a session is made, a task is said, `Prefer: wait` gives the result when
# the turn ends or waits for you, a question is answered, files and events are read.
#
#   npm start                       # in another terminal
#   sh examples/01-http.sh
#
# DORMOUSE_URL and DORMOUSE_TOKEN say where, and who you are; without a token a server on this machine is asked.
set -eu
URL="${DORMOUSE_URL:-http://localhost:8787}/api/sessions"

ask() { curl -sS --fail-with-body -H "Authorization: Bearer ${DORMOUSE_TOKEN:-}" "$@"; }
field() { printf '%s' "$1" | node -p "JSON.parse(require('fs').readFileSync(0, 'utf8')).$2"; }

ID=$(field "$(ask -X POST "$URL" -d '{"title": "Over HTTP"}')" id)
echo "session $ID"

RESULT=$(ask -X POST "$URL/$ID/messages" -H 'Prefer: wait=60' -d '{"text": "Write it `echo hello > hello.txt`\nWhich colour (red/green)?"}')
echo "$(field "$RESULT" outcome): $(field "$RESULT" wait.text)"

# A message to a session that asks is the answer.
RESULT=$(ask -X POST "$URL/$ID/messages" -H 'Prefer: wait=60' -d '{"text": "green"}')
echo "$(field "$RESULT" outcome): $(field "$RESULT" message)"

echo "hello.txt says: $(ask "$URL/$ID/files/hello.txt")"
echo "events: $(field "$(ask "$URL/$ID/events")" "events.map((e) => e.event).join(' ')")"
