// details: everything that is known of one event: verdict, process tree, payload, and the record as text.
import { el, button, definitions, severity, replace } from './dom.js';
import { name, bytes, plain, command } from './text.js';
import { moment } from './time.js';
import { alter, containerAddress, deskAddress } from './address.js';
import { outcome, processTree, what, whatText } from './describe.js';
import { get, part } from './api.js';

const DEEPEST = 6;

// A payload is the trace's, and may have members that this page does not know: all are shown.
function value(v, key, depth) {
    if (v === null || typeof v === 'boolean' || typeof v === 'number')
        return String(v);
    if (typeof v === 'string')
        return key.endsWith('_b64') || key === 'b64' ? [bytes(v), el('span', { class: 'dim' }, ' exact bytes')] : name(v);
    if (depth > DEEPEST)
        return name(JSON.stringify(v));
    if (Array.isArray(v)) {
        if (key === 'argv')
            return command(v);
        return el('ul', { class: 'plain' }, v.map((one) => el('li', {}, value(one, key.endsWith('_b64') ? key : '', depth + 1))));
    }
    return members(v, depth + 1);
}

function members(object, depth = 0) {
    const entries = Object.entries(object);
    if (!entries.length)
        return el('p', { class: 'members dim' }, 'nothing more');
    return el('dl', { class: 'members' }, entries.map(([key, v]) => [el('dt', {}, plain(key, 60)), el('dd', {}, value(v, key, depth))]));
}

function around(event) {
    const t = new Date(event.ts).getTime();
    const at = (ms) => new Date(t + ms).toISOString();
    return deskAddress({ container: event.container, since: at(-30000), until: at(30000) });
}

function processPart(process) {
    const { ancestry, argv, comm, exe, ...rest } = process;
    return el('section', {}, el('h3', {}, 'Process'), processTree(process), members(rest));
}

/** All of it, below a heading that can take the focus. */
export function eventDetails(event) {
    const { process, ...payload } = event.detail || {};
    const raw = el('pre', { class: 'raw', tabindex: 0, 'aria-label': 'the payload as JSON', hidden: true }, JSON.stringify(event.detail, null, 2).split('\n').map((line) => [name(line), '\n']));
    return [
        el('p', { class: 'facts' }, severity(event.severity), el('span', { class: `outcome ${outcome(event)}` }, outcome(event)),
            el('span', { class: 'tag' }, event.kind), moment(event.ts)),
        event.chain === 'broken' ? el('p', { class: 'bad' }, 'The chain of its trace is broken here or before: what stands here may have been changed.') : null,
        event.reason ? el('p', {}, name(event.reason, { code: false })) : null,
        definitions([
            ['rule', event.rule ? name(event.rule) : 'none matched'],
            ['container', event.container ? el('a', { href: containerAddress(event.container) }, name(event.container)) : null],
            ['agent', event.analysis_id ? el('a', { href: deskAddress({ analysis_id: event.analysis_id }) }, name(event.analysis_id)) : null],
            ['time', el('span', { class: 'code' }, plain(event.ts))],
            ['record', `seq ${event.seq}`], ['event', el('span', { class: 'code' }, plain(event.event_id))],
        ]),
        process ? processPart(process) : null,
        el('section', {}, el('h3', {}, 'What the trace says'), members(payload),
            button('As JSON', (click) => {
                raw.hidden = !raw.hidden;
                click.currentTarget.setAttribute('aria-expanded', String(!raw.hidden));
            }, { class: 'quiet', 'aria-expanded': 'false' }), raw),
        el('p', {}, el('a', { href: around(event) }, 'What its container did 30 s before and after')),
    ];
}

/** pane(): the place beside the list. open(key, known), close(); known: an event that the list has already. */
export function pane() {
    const heading = el('h2', { tabindex: -1, id: 'detail-heading' });
    const body = el('div', { class: 'body' });
    const node = el('aside', { class: 'pane detail', 'aria-labelledby': 'detail-heading', hidden: true },
        el('div', { class: 'head' }, heading, el('a', { href: '#', class: 'button quiet', id: 'close-detail' }, 'Close')), body);
    let shown = '';

    const show = (event) => {
        replace(heading, what(event, { whole: true }));
        replace(body, eventDetails(event));
        node.setAttribute('data-event', event.event_id);
        document.title = `${whatText(event)} \u2013 sandtrace`;
    };

    return {
        node,
        async open(key, known) {
            node.querySelector('#close-detail').setAttribute('href', alter({ event: '' }));
            if (key === shown)
                return;
            shown = key;
            node.hidden = false;
            try {
                const event = known || await get(`/api/sandbox-audit/events/${part(key)}`);
                if (shown === key)
                    show(event);
            } catch (error) {
                replace(heading, 'No such event');
                replace(body, el('p', { class: 'bad' }, error.message));
            }
            heading.focus({ preventScroll: false });
        },
        close() {
            shown = '';
            node.hidden = true;
        },
        isOpen: () => !node.hidden,
    };
}
