// say: what is told to those who do not see the page. Few words: what piles up is said as one sentence, and not more often
// than each ten seconds; only what waits for an answer interrupts.

const EVERY_MS = 10000;
let last = 0;
let timer = null;
let waiting = null;

function write(id, text) {
    const region = document.getElementById(id);
    region.textContent = '';
    // Another text in the same moment would not be noticed as a change.
    setTimeout(() => { region.textContent = text; }, 50);
}

/** At once, without interrupting: the result of what was just done. */
export const say = (text) => write('polite', text);

/** At once, interrupting. */
export const alarm = (text) => write('urgent', text);

/** Some time soon; make() is called then, and only for the latest. */
export function sayLater(make) {
    waiting = make;
    if (timer)
        return;
    timer = setTimeout(() => {
        timer = null;
        last = Date.now();
        say(waiting());
    }, Math.max(1000, last + EVERY_MS - Date.now()));
}
