// events: the list. Newest first, a page at a time by cursor; the newest page grows as events come, in batches, and never
// while somebody reads further down: what came is counted then, and shown when asked for.
import { el, button, severity, table, tableRow, replace } from './dom.js';
import { name, plain } from './text.js';
import { amount, moment } from './time.js';
import { alter, containerAddress } from './address.js';
import { outcome, what, whatText, who } from './describe.js';
import { get } from './api.js';
import { sayLater } from './say.js';

export const PAGE = 100;
const MOST = 600;
const BATCH_MS = 250;
const COLUMNS = ['Time (UTC)', 'Severity', 'What', 'Who', 'Container', 'Outcome', 'Rule'];

const keyOf = (event) => event.event_id || `${event.container}/${event.seq}`;
const addressKey = (event) => event.id ? String(event.id) : event.event_id;

function row(event) {
    const link = el('a', { class: 'what', href: alter({ event: addressKey(event) }), 'data-event-link': keyOf(event) }, what(event));
    const cells = [
        moment(event.ts), severity(event.severity), [el('span', { class: 'tag' }, event.kind), ' ', link], who(event.detail?.process),
        el('a', { href: containerAddress(event.container) }, name(event.container, { whole: false })),
        [el('span', { class: `outcome ${outcome(event)}` }, outcome(event)), event.chain === 'broken' ? el('span', { class: 'outcome killed' }, 'chain broken') : null],
        event.rule ? name(event.rule, { whole: false }) : null,
    ];
    const node = tableRow(COLUMNS, cells, { class: `event ${event.severity} ${event.allowed ? '' : 'refused'}`, 'data-key': keyOf(event) });
    node.event = event;
    return node;
}

/** eventList({onShown}): onShown after each change of what is listed. */
export function eventList({ onShown = () => {} } = {}) {
    const body = table('Events, newest first', COLUMNS, [], { class: 'events' });
    const rows = body.tBodies[0];
    const state = el('p', { class: 'state' });
    const fresh = button('', () => { node.scrollIntoView({ block: 'start' }); flush(true); }, { class: 'fresh', hidden: true });
    const older = el('a', { class: 'button', href: '#', rel: 'next' }, 'Older');
    const newest = el('a', { class: 'button', href: '#' }, 'Newest');
    const pages = el('nav', { class: 'pages', 'aria-label': 'Pages of events' }, newest, older);
    const heading = el('h2', { id: 'events-heading', tabindex: -1 }, 'Events');
    const node = el('section', { class: 'list', 'aria-labelledby': 'events-heading' }, el('div', { class: 'head' }, heading, state, fresh), body, pages);
    const seen = new Set();
    let came = [];
    let timer = null;
    let asked = null;
    let early = null; // what came while a page was being loaded
    let live = true;
    let trimmed = false;
    let refusedSince = 0;
    let cameSince = 0;

    rows.addEventListener('click', (click) => {
        if (click.target.closest('a, button') || getSelection().toString())
            return;
        click.target.closest('tr')?.querySelector('a.what')?.click();
    });

    const describeState = () => {
        const shown = rows.rows.length;
        state.textContent = shown ? `${amount(shown)} shown${live ? ', new ones on top' : ', an older page'}` : 'Nothing fits these filters.';
        onShown(shown);
    };

    const readsFurtherDown = () => !live || node.getBoundingClientRect().top < -200 || rows.contains(document.activeElement);

    const trim = () => {
        while (rows.rows.length > MOST) {
            seen.delete(rows.lastElementChild.dataset.key);
            rows.lastElementChild.remove();
            trimmed = true;
        }
        if (trimmed && rows.lastElementChild) {
            older.hidden = false;
            older.setAttribute('href', alter({ until: rows.lastElementChild.event.ts, cursor: '', event: '' }));
        }
    };

    const announce = () => sayLater(() => {
        const text = `${cameSince} new event${cameSince === 1 ? '' : 's'}${refusedSince ? `, ${refusedSince} not allowed` : ''}`;
        cameSince = refusedSince = 0;
        return text;
    });

    function flush(asked_for = false) {
        clearTimeout(timer);
        timer = null;
        if (!came.length)
            return;
        if (!live || (readsFurtherDown() && !asked_for)) {
            fresh.hidden = false;
            fresh.textContent = `${amount(came.length)}${came.length >= MOST ? ' or more' : ''} new`;
            return;
        }
        fresh.hidden = true;
        const nodes = came.map(row).reverse();
        came = [];
        rows.prepend(...nodes);
        trim();
        describeState();
    }

    const add = (event) => {
        if (early) {
            early.push(event);
            return;
        }
        const key = keyOf(event);
        if (seen.has(key))
            return;
        seen.add(key);
        came.push(event);
        if (came.length > MOST)
            seen.delete(keyOf(came.shift()));
        cameSince++;
        if (!event.allowed)
            refusedSince++;
        announce();
        timer ??= setTimeout(flush, BATCH_MS);
    };

    const show = (answer) => {
        seen.clear();
        came = [];
        trimmed = false;
        fresh.hidden = true;
        answer.events.forEach((event) => seen.add(keyOf(event)));
        replace(rows, answer.events.map(row));
        older.hidden = !answer.next;
        older.setAttribute('href', alter({ cursor: answer.next || '', event: '' }));
        newest.hidden = live;
        newest.setAttribute('href', alter({ cursor: '', event: '' }));
        describeState();
    };

    return {
        node,
        async load(filters, cursor) {
            asked?.abort();
            asked = new AbortController();
            live = !cursor;
            early = [];
            node.setAttribute('aria-busy', 'true');
            try {
                show(await get('/api/sandbox-audit/events', { ...filters, limit: PAGE, cursor }, asked.signal));
            } catch (error) {
                if (error.name === 'AbortError')
                    return;
                replace(rows);
                older.hidden = true;
                newest.hidden = live;
                newest.setAttribute('href', alter({ cursor: '', event: '' }));
                replace(state, el('span', { class: 'bad', role: 'alert' }, error.message));
            }
            node.removeAttribute('aria-busy');
            const late = early;
            early = null;
            late.forEach(add);
        },
        /** After a gap, or a connection that was lost: what the server has, merged with what is shown. */
        async catchUp(filters) {
            if (!live)
                return;
            const answer = await get('/api/sandbox-audit/events', { ...filters, limit: PAGE });
            const overlaps = answer.events.some((event) => seen.has(keyOf(event)));
            if (!overlaps && answer.events.length)
                show(answer);
            else
                answer.events.reverse().forEach(add);
        },
        add,
        find: (key) => [...rows.rows].find((one) => addressKey(one.event) === key || keyOf(one.event) === key)?.event,
        /** The addresses in the rows say where we are: after a change of it they are made anew. */
        readdress() {
            for (const one of rows.rows) {
                const link = one.querySelector('a.what');
                link.setAttribute('href', alter({ event: addressKey(one.event) }));
            }
        },
        mark(key) {
            for (const one of rows.rows) {
                const current = Boolean(key) && (addressKey(one.event) === key || keyOf(one.event) === key);
                one.classList.toggle('current', current);
                if (current)
                    one.querySelector('a.what').setAttribute('aria-current', 'true');
                else
                    one.querySelector('a.what').removeAttribute('aria-current');
            }
        },
        focusOn(key) {
            const one = [...rows.rows].find((r) => addressKey(r.event) === key || keyOf(r.event) === key);
            (one?.querySelector('a.what') || heading).focus();
        },
        /** By the keys: the next or previous row. */
        step(by) {
            const links = [...rows.querySelectorAll('a.what')];
            const at = links.findIndex((link) => link.closest('tr').contains(document.activeElement));
            links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
        },
        older: () => older.hidden || older.click(),
        newest: () => live ? flush(true) : newest.click(),
        textOf: (event) => plain(whatText(event)),
    };
}
