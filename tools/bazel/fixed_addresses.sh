#!/bin/sh
# Runs a program without address randomisation, where the machine lets us; as it is, where not.
if setarch "$(uname -m)" -R true 2>/dev/null; then
  exec setarch "$(uname -m)" -R "$@"
fi
exec "$@"
