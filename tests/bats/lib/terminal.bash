# A terminal with a shell in it, and somebody who types and reads: by tmux, one server a world.

# open_terminal [COLUMNS [ROWS]]: a shell in the present directory; returns when it has a prompt.
open_terminal() {
    tmux -L "$WORLD_NAME" -f /dev/null new-session -d -x "${1:-120}" -y "${2:-40}" -s terminal "env -u TMUX PS1='ready> ' bash --norc --noprofile" 3>&-
    retry_until screen_has 'ready>'
}

# Never fails: for teardown.
close_terminal() { tmux -L "$WORLD_NAME" kill-server 2>/dev/null || true; }

# type_line TEXT: and Enter.
type_line() { tmux -L "$WORLD_NAME" send-keys -t terminal -l "$1" && press Enter; }

# press KEY…: as tmux calls them: C-c, Enter …
press() { tmux -L "$WORLD_NAME" send-keys -t terminal "$@"; }

resize_terminal() { tmux -L "$WORLD_NAME" resize-window -t terminal -x "$1" -y "$2"; }

# screen: all that was shown, also what has scrolled away; long lines whole.
screen() { tmux -L "$WORLD_NAME" capture-pane -t terminal -p -J -S -; }

screen_has() { screen | grep -qF -- "$1"; }

# screen_shows TEXT: wait until it does; show what there is where it never does.
screen_shows() { retry_until screen_has "$1" || { screen >&2; return 1; }; }
