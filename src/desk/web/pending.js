// pending: what waits for an answer, on top of every page. Oldest first, and nothing moves under the pointer: a new one comes
// last, and one that was answered elsewhere keeps its place, without buttons, until nobody is at the list.
import { el, button, definitions, severity, replace } from './dom.js';
import { name, plain, command } from './text.js';
import { duration, moment } from './time.js';
import { containerAddress, deskAddress } from './address.js';
import { fromRecord, what, whatText } from './describe.js';
import { act, approve, confirmKill, deny } from './decide.js';
import { session } from './api.js';
import { alarm, say } from './say.js';

const STAYS_MS = 6000;
const THEN = { deny: 'then it is denied', kill: 'then the container is killed', resume: 'then it goes on' };

function ancestry(process) {
    const chain = [...(process.ancestry || [])].reverse();
    return chain.length ? chain.map((p, i) => [i ? ' \u203a ' : null, name(p.comm || '?', { whole: false }), el('span', { class: 'dim' }, ` ${p.pid}`)]) : null;
}

function ruleOf(one) {
    if (!one.rule)
        return one.by_person ? null : 'none matched: what the policy says by default';
    const place = one.rule_file ? [' in ', name(one.rule_file), one.rule_line ? `, line ${one.rule_line}` : ''] : null;
    return [name(one.rule), place];
}

function facts(one, event) {
    const process = event?.detail?.process;
    return definitions([
        ['who', process ? [name(process.comm || '?'), el('span', { class: 'dim' }, `[${process.container_pid ?? '?'}] host pid ${process.pid}${process.uid === undefined ? '' : `, uid ${process.uid}`} `),
            process.exe ? name(process.exe) : null, process.incomplete ? ' (not all of it could be read)' : null] : null],
        ['command', process?.argv?.length ? command(process.argv) : null],
        ['started by', process ? ancestry(process) : null],
        ['rule', ruleOf(one)],
        ['why', one.reason ? name(one.reason, { code: false }) : null],
        ['container', [el('a', { href: containerAddress(one.container) }, name(one.container)),
            one.analysis_id && one.analysis_id !== one.container ? [', agent ', el('a', { href: deskAddress({ analysis_id: one.analysis_id }) }, name(one.analysis_id))] : null]],
        ['since', [moment(one.since, { seconds: true }), one.by_person ? null : one.held ? ': the operation waits for the answer' : ': it was refused already, the container stands still']],
    ]);
}

/** One card. It lives as long as its pause, and is not drawn anew: what was typed stays. */
function card(one, focusNext) {
    const event = one.event ? fromRecord(one.event, one.container) : null;
    const headingId = `pending-${one.pause_id}`;
    const heading = el('h3', { id: headingId, tabindex: -1 }, severity(one.severity || event?.severity || 'none'),
        event ? what(event, { whole: true }) : one.by_person ? 'Somebody paused the container' : 'An operation that was too long to be told here');
    const left = el('p', { class: 'left' });
    const result = el('p', { class: 'result' });
    const reason = el('input', { type: 'text', maxlength: 900, id: `reason-${one.pause_id}`, autocomplete: 'off', placeholder: 'kept in the trace' });
    let busy = false;
    let over = false;
    let deadline = null;

    const tell = (text, bad = false) => {
        result.textContent = text;
        result.classList.toggle('bad', bad);
    };

    // done: the word for what was decided.
    const decide = (done, request) => async () => {
        if (busy || over)
            return;
        if (done === 'Killed' && !await confirmKill(one.container))
            return;
        busy = true;
        tell('\u2026');
        try {
            await request(reason.value.trim());
            tell(`${done}.`);
            say(`${done}: ${event ? whatText(event) : plain(one.container)}`);
            api.end();
            focusNext(one.pause_id);
        } catch (error) {
            tell(error.message, true);
            alarm(error.message);
        }
        busy = false;
    };

    const described = { 'aria-describedby': headingId };
    const buttons = one.by_person
        ? [button('Resume', decide('Resumed', (why) => act(one.container, 'resume', why)), { class: 'primary', ...described })]
        : [
            button('Approve once', decide('Approved once', (why) => approve(one.pause_id, false, why)), described),
            button('Approve always', decide('Approved always', (why) => approve(one.pause_id, true, why)), { title: 'the same use of the same object, until this run of the container ends', ...described }),
            button('Deny', decide('Denied', (why) => deny(one.pause_id, why)), { class: 'primary', ...described }),
        ];
    buttons.push(button('Kill container', decide('Killed', (why) => act(one.container, 'kill', why)), { class: 'danger', ...described }));
    const actions = session.readOnly
        ? el('p', { class: 'dim' }, 'This desk is read-only: answer with sandtrace approve or sandtrace deny.')
        : el('div', { class: 'actions', role: 'group', 'aria-labelledby': headingId }, el('span', { class: 'entry' }, el('label', { for: `reason-${one.pause_id}` }, 'Reason'), reason), buttons);
    const node = el('li', {}, el('article', { class: 'card', 'aria-labelledby': headingId, 'data-pause': one.pause_id },
        el('div', { class: 'head' }, heading, left), facts(one, event), actions, result));

    const api = {
        node, one, text: event ? whatText(event) : plain(one.container), endedAt: null,
        update(newer) {
            deadline = newer.expires_ms === null || newer.expires_ms === undefined ? null : performance.now() + newer.expires_ms;
            api.tick();
        },
        tick() {
            if (over)
                return;
            if (deadline === null) {
                left.textContent = 'waits as long as it takes';
                return;
            }
            const ms = deadline - performance.now();
            left.textContent = `${duration(ms)} left, ${THEN[one.on_timeout] || ''}`;
            left.classList.toggle('soon', ms < 60000);
        },
        end() {
            if (over)
                return;
            over = true;
            api.endedAt = performance.now();
            node.firstElementChild.classList.add('over');
            left.textContent = 'does not wait any more';
            if (!result.textContent || result.textContent === '\u2026')
                tell('Answered elsewhere, or its time was up.');
            if (actions.contains(document.activeElement))
                heading.focus();
        },
        isOver: () => over,
        focus: () => heading.focus(),
    };
    api.update(one);
    return api;
}

export function pendingList() {
    const heading = el('h2', { id: 'pending-heading', tabindex: -1 }, 'Waiting for an answer');
    const none = el('p', { class: 'dim none' }, 'Nothing waits for an answer.');
    const list = el('ul', { class: 'cards', role: 'list' });
    const node = el('section', { class: 'pending', 'aria-labelledby': 'pending-heading' }, heading, none, list);
    const cards = new Map();
    let watchers = () => {};

    const waiting = () => [...cards.values()].filter((one) => !one.isOver());

    const focusNext = () => (waiting()[0]?.focus ?? (() => heading.focus()))();

    const count = () => {
        const n = waiting().length;
        none.hidden = cards.size > 0;
        node.classList.toggle('some', n > 0);
        heading.textContent = n ? `Waiting for an answer: ${n}` : 'Waiting for an answer';
        watchers(n);
    };

    const sweep = () => {
        for (const one of cards.values())
            one.tick();
        if (list.matches(':hover') || list.contains(document.activeElement))
            return;
        for (const [id, one] of cards)
            if (one.isOver() && performance.now() - one.endedAt > STAYS_MS) {
                one.node.remove();
                cards.delete(id);
            }
        count();
    };
    setInterval(sweep, 1000);

    return {
        node,
        onCount(handler) {
            watchers = handler;
        },
        set(pending) {
            const ids = new Set(pending.map((one) => one.pause_id));
            const fresh = pending.filter((one) => !cards.has(one.pause_id)).sort((a, b) => a.since < b.since ? -1 : 1);
            for (const one of pending)
                cards.get(one.pause_id)?.update(one);
            for (const [id, one] of cards)
                if (!ids.has(id))
                    one.end();
            for (const one of fresh) {
                const made = card(one, focusNext);
                cards.set(one.pause_id, made);
                list.append(made.node);
            }
            if (fresh.length)
                alarm(fresh.length === 1 ? `Waits for an answer: ${cards.get(fresh[0].pause_id).text}` : `${fresh.length} more operations wait for an answer`);
            count();
        },
        clear() {
            cards.clear();
            replace(list);
            count();
        },
        focus() {
            focusNext();
        },
    };
}
