// reviews: what was put into quarantine and must be looked at by somebody; what was found is said once, with a reason.
import { el, definitions, replace, severity, table } from './dom.js';
import { name, plain } from './text.js';
import { amount, moment, size } from './time.js';
import { containerAddress, reviewAddress } from './address.js';
import { get, part, post, session } from './api.js';
import { alarm, say } from './say.js';

const VERDICTS = [['benign', 'benign: it did nothing wrong'], ['malicious', 'malicious: it did, and meant it'], ['policy', 'policy: the rules are to be changed'], ['other', 'other: the reason says what']];

function listOf(reviews) {
    if (!reviews.length)
        return el('p', { class: 'dim' }, 'None.');
    return table('Reviews', ['opened', 'severity', 'review', 'container', 'agent', 'rule', 'why', 'state'], reviews.map((one) => [
        one.opened ? moment(one.opened, { seconds: true }) : null, severity(one.severity), el('a', { href: reviewAddress(one.id) }, name(one.id, { whole: false })),
        el('a', { href: containerAddress(one.container) }, name(one.container, { whole: false })), one.agent_id ? name(one.agent_id, { whole: false }) : null,
        one.rule ? name(one.rule, { whole: false }) : null, one.broken || one.reason ? name(one.broken || one.reason, { whole: false, code: false }) : null,
        one.state === 'closed' ? `closed: ${plain(one.closed?.verdict)}` : el('strong', {}, 'open'),
    ]));
}

export function reviewsView(app, address) {
    const place = el('div', { class: 'rows' });
    const tabs = el('nav', { class: 'tabs', 'aria-label': 'Which reviews' });
    app.follow({ kind: 'security_pause,security_resume' }, {});
    return {
        title: 'Reviews',
        node: el('div', { class: 'view' }, el('section', { class: 'pane', 'aria-labelledby': 'reviews-heading' },
            el('h1', { id: 'reviews-heading', tabindex: -1 }, 'Reviews'), tabs, place)),
        async update(now = address) {
            const state = now.state === 'closed' ? 'closed' : 'open';
            replace(tabs, ['open', 'closed'].map((word) => el('a', { href: `/sandbox-audit/reviews?state=${word}`, 'aria-current': word === state ? 'page' : null }, word)));
            try {
                replace(place, listOf((await get('/api/reviews', { state })).reviews));
            } catch (error) {
                replace(place, el('p', { class: 'bad', role: 'alert' }, error.message));
            }
        },
        leave() {},
    };
}

function snapshotOf(snapshot) {
    const number = (value) => value === undefined || value === null ? null : amount(value);
    return el('section', {}, el('h2', {}, 'What was kept of it'), definitions([
        ['processes', number(snapshot.processes)], ['sockets', number(snapshot.sockets)], ['mounts', number(snapshot.mounts)],
        ['changed files', snapshot.files === undefined ? null : `${amount(snapshot.files)}, ${amount(snapshot.deleted)} deleted; ${size(snapshot.tar_bytes)} kept${snapshot.omitted ? `, ${amount(snapshot.omitted)} left out` : ''}`],
        ['frozen', snapshot.frozen === undefined ? null : snapshot.frozen ? 'yes, while it was looked at' : 'no: what was looked at may have changed meanwhile'],
        ['not all of it', snapshot.failure ? name(snapshot.failure, { code: false }) : null],
        ['hash', snapshot.sha256 ? name(snapshot.sha256) : null],
    ]));
}

function closeForm(one, closed) {
    const result = el('p', { class: 'result' });
    const verdict = el('select', { id: 'review-verdict', required: true }, el('option', { value: '' }, 'choose \u2026'), VERDICTS.map(([value, text]) => el('option', { value }, text)));
    const reason = el('textarea', { id: 'review-reason', required: true, rows: 3, maxlength: 900 });
    return el('form', {
        class: 'close-form', 'aria-label': 'Close this review', onsubmit: async (event) => {
            event.preventDefault();
            try {
                await post(`/api/reviews/${part(one.id)}/close`, { verdict: verdict.value, reason: reason.value.trim() });
                say('The review is closed.');
                closed();
            } catch (error) {
                replace(result, error.message);
                result.classList.add('bad');
                alarm(error.message);
            }
        },
    }, el('div', { class: 'entry' }, el('label', { for: 'review-verdict' }, 'Verdict'), verdict),
    el('div', { class: 'entry' }, el('label', { for: 'review-reason' }, 'Reason'), reason),
    el('div', { class: 'actions' }, el('button', { type: 'submit', class: 'primary' }, 'Close review')), result);
}

export function reviewView(app, id) {
    const body = el('div', {});
    const heading = el('h1', { id: 'review-heading', tabindex: -1 }, 'Review ', name(id));
    app.follow({ kind: 'security_pause,security_resume' }, {});

    const load = async () => {
        try {
            const one = await get(`/api/reviews/${part(id)}`);
            replace(body, definitions([
                ['state', one.state === 'closed' ? ['closed: ', el('strong', {}, plain(one.closed?.verdict))] : el('strong', {}, 'open')],
                ['closed', one.closed ? [moment(one.closed.at, { seconds: true }), ' by ', name(one.closed.by || '?'), ': ', name(one.closed.reason || '', { code: false })] : null],
                ['can\u2019t be read', one.broken ? el('span', { class: 'bad' }, name(one.broken, { code: false })) : null],
                ['severity', one.severity ? severity(one.severity) : null], ['ended by', one.cause ? plain(one.cause) : null],
                ['container', el('a', { href: containerAddress(one.container) }, name(one.container))],
                ['agent', one.agent_id ? name(one.agent_id) : null], ['image', one.image ? name(one.image) : null],
                ['opened', one.opened ? moment(one.opened, { seconds: true }) : null], ['policy', one.policy ? name(one.policy) : null], ['rule', one.rule ? name(one.rule) : null], ['why', one.reason ? name(one.reason, { code: false }) : null],
                ['kept in', one.folder ? name(one.folder) : null],
            ]), one.snapshot ? snapshotOf(one.snapshot) : null,
            one.state === 'closed' || session.readOnly ? null : closeForm(one, async () => {
                await load();
                heading.focus();
            }));
        } catch (error) {
            replace(body, el('p', { class: 'bad', role: 'alert' }, error.message));
        }
    };
    return {
        title: `Review ${plain(id, 40)}`,
        node: el('div', { class: 'view' }, el('section', { class: 'pane', 'aria-labelledby': 'review-heading' }, heading, body, el('p', {}, el('a', { href: '/sandbox-audit/reviews' }, 'All reviews')))),
        update: load,
        leave() {},
    };
}
