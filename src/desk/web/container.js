// container: one container: what it is, what can be done about it, whether its trace stands, its story, and all its events.
import { el, button, definitions, replace, severity } from './dom.js';
import { name, plain } from './text.js';
import { amount, duration, moment } from './time.js';
import { alter, deskAddress, reviewAddress } from './address.js';
import { get, part, session } from './api.js';
import { act, confirmKill } from './decide.js';
import { containersTable, flowsTable, status } from './aside.js';
import { outcome, what } from './describe.js';
import { listWithDetail } from './desk.js';
import { alarm, say } from './say.js';

const STORY = 'lifecycle,security_pause,security_resume,policy_change,sensor';
const STORY_LENGTH = 60;
const REFRESH_MS = 4000;

function actionsOf(id, changed) {
    const reason = el('input', { type: 'text', id: 'container-reason', maxlength: 900, autocomplete: 'off', placeholder: 'kept in the trace' });
    const result = el('p', { class: 'result' });
    const force = button('Deny all that waits, and resume', () => run('resume', 'Resumed', { force: true })(), { class: 'danger', hidden: true });

    const run = (verb, done, more = {}) => async () => {
        if (verb === 'kill' && !await confirmKill(id))
            return;
        try {
            await act(id, verb, reason.value.trim(), more);
            replace(result, `${done}.`);
            result.classList.remove('bad');
            say(`${done}: ${plain(id)}`);
            force.hidden = true;
        } catch (error) {
            replace(result, error.message);
            result.classList.add('bad');
            alarm(error.message);
            force.hidden = !(verb === 'resume' && error.code === 'pending');
        }
        changed();
    };
    const pause = button('Pause', run('pause', 'Paused'));
    const resume = button('Resume', run('resume', 'Resumed'));
    const kill = button('Kill container', run('kill', 'Killed'), { class: 'danger' });
    return {
        node: el('div', {}, el('div', { class: 'actions', role: 'group', 'aria-label': 'Act on this container' },
            el('span', { class: 'entry' }, el('label', { for: 'container-reason' }, 'Reason'), reason), pause, resume, kill, force), result),
        set(container) {
            pause.hidden = container.status !== 'watching';
            resume.hidden = !(container.status === 'paused' || container.frozen);
        },
    };
}

const signedUpTo = (seq) => seq ? `signed up to ${amount(seq)}` : 'not signed yet';

function factsOf(one) {
    const trace = one.trace || {};
    return definitions([
        ['status', status(one)],
        ['agent', one.analysis_id ? el('a', { href: deskAddress({ analysis_id: one.analysis_id }) }, name(one.analysis_id)) : null],
        ['policy', one.policy ? [name(one.policy), one.policy_sha256 ? el('span', { class: 'dim code' }, ` ${plain(one.policy_sha256).slice(0, 12)}\u2026`) : null] : null],
        ['first process', one.pid ? `host pid ${one.pid}${one.frozen ? ', frozen' : ''}` : null],
        ['runs for', one.uptime_ms ? duration(one.uptime_ms) : null],
        ['events', `${amount(one.events)}, ${amount(one.refused)} refused${one.pending ? `, ${amount(one.pending)} waiting` : ''}`],
        ['trace', trace.name ? [name(trace.name), ` ${plain(trace.state)}, ${amount(trace.records)} records, ${signedUpTo(trace.signed_seq)}`] : null],
        ['review', one.review ? el('a', { href: reviewAddress(one.review) }, name(one.review)) : null],
    ]);
}

function verdictOf(answer) {
    const issues = answer.issues || [];
    return [
        el('p', { class: answer.valid ? 'good' : 'bad' }, answer.valid ? 'The chain stands.' : 'The chain is broken.',
            ` ${amount(answer.records)} records, ${signedUpTo(answer.signed_seq)}${answer.state ? `, ${plain(answer.state)}` : ''}.`),
        issues.length ? el('ul', { class: 'plain issues' }, issues.map((issue) => el('li', {}, el('span', { class: 'tag' }, plain(issue.code)),
            ` at record ${issue.seq ?? '?'}, line ${issue.line ?? '?'}, byte ${issue.offset ?? '?'}`, issue.what ? [': ', name(issue.what, { code: false })] : null))) : null,
        answer.head ? el('p', { class: 'dim' }, 'head ', name(answer.head)) : null,
    ];
}

function verifyPart(id) {
    const body = el('div', { 'aria-live': 'polite' });
    const run = async () => {
        replace(body, el('p', { class: 'dim' }, 'Reading the trace \u2026'));
        try {
            replace(body, verdictOf(await get(`/api/traces/${part(id)}/verify`)));
        } catch (error) {
            replace(body, el('p', { class: 'bad' }, error.message));
        }
    };
    run();
    return el('section', { class: 'pane', 'aria-labelledby': 'verify-heading' }, el('h2', { id: 'verify-heading' }, 'Is the trace whole?'), body, button('Verify again', run, { class: 'quiet' }));
}

async function story(id) {
    const [marks, refusals] = await Promise.all([
        get('/api/sandbox-audit/events', { container: id, kind: STORY, limit: STORY_LENGTH }),
        get('/api/sandbox-audit/events', { container: id, verdict: 'deny,anomaly', limit: STORY_LENGTH }),
    ]);
    const all = new Map([...marks.events, ...refusals.events].map((event) => [event.event_id, event]));
    return [...all.values()].sort((a, b) => a.ts === b.ts ? a.seq - b.seq : a.ts < b.ts ? -1 : 1).slice(-STORY_LENGTH);
}

const storyLine = (event) => el('li', { class: event.allowed ? '' : 'refused' }, moment(event.ts, { seconds: true }), ' ',
    event.severity !== 'none' ? [severity(event.severity), ' '] : null,
    el('a', { href: alter({ event: String(event.id || event.event_id) }) }, what(event)),
    event.allowed ? null : el('span', { class: `outcome ${outcome(event)}` }, outcome(event)));

export function containerView(app, id) {
    const facts = el('div', {});
    const told = el('ol', { class: 'story', role: 'list' });
    const flows = el('div', { class: 'rows' });
    const actions = session.readOnly ? null : actionsOf(id, () => load());
    const actionsPlace = el('div', { hidden: true }, actions?.node);
    const beside = { node: el('div', { class: 'beside' },
        verifyPart(id),
        el('section', { class: 'pane', 'aria-labelledby': 'story-heading' }, el('h2', { id: 'story-heading' }, 'Its story'), told),
        el('section', { class: 'pane', 'aria-labelledby': 'talked-heading' }, el('h2', { id: 'talked-heading' }, 'Who it talked to'), flows)) };
    const both = listWithDetail(app, { fixed: { container: id }, beside });
    let stale = false;

    async function load() {
        stale = false;
        try {
            const [one, events, talked] = await Promise.all([
                get(`/api/containers/${part(id)}`), story(id), get('/api/sandbox-audit/flows', { container: id }),
            ]);
            replace(facts, factsOf(one));
            actionsPlace.hidden = one.status === 'ended';
            actions?.set(one);
            replace(told, events.map(storyLine));
            replace(flows, flowsTable(talked.flows, { withContainer: false }));
        } catch (error) {
            replace(facts, el('p', { class: 'bad', role: 'alert' }, error.message));
        }
    }
    const timer = setInterval(() => stale && !document.hidden && load(), REFRESH_MS);
    const stopHearing = app.onRecord(() => { stale = true; });
    load();

    return {
        title: `Container ${plain(id, 40)}`,
        node: el('div', { class: 'view container' },
            el('section', { class: 'pane about', 'aria-labelledby': 'container-heading' }, el('h1', { id: 'container-heading', tabindex: -1 }, 'Container ', name(id)), facts, actionsPlace),
            both.node),
        list: both.list,
        update: (address) => both.update(address),
        changed: load,
        leave() {
            clearInterval(timer);
            stopHearing();
        },
    };
}

export function containersView(app) {
    const place = el('div', { class: 'rows' });
    const load = async () => {
        try {
            const { containers } = await get('/api/containers');
            replace(place, containers.length ? containersTable(containers) : el('p', { class: 'dim' }, 'None yet.'));
        } catch (error) {
            replace(place, el('p', { class: 'bad', role: 'alert' }, error.message));
        }
    };
    const timer = setInterval(() => document.hidden || load(), REFRESH_MS);
    app.follow({ kind: 'security_pause,security_resume' }, {});
    load();
    return {
        title: 'Containers',
        node: el('div', { class: 'view' }, el('section', { class: 'pane', 'aria-labelledby': 'all-heading' }, el('h1', { id: 'all-heading', tabindex: -1 }, 'Containers'), place)),
        update() {},
        changed: load,
        leave: () => clearInterval(timer),
    };
}
