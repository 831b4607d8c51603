// app: starts the page: session, frame, the view that the address names, the stream, and what is said about the connection.
import { el, button, replace } from './dom.js';
import { duration } from './time.js';
import { HOME, go, here } from './address.js';
import { get, loadSession, logOut, onLoggedOut, session } from './api.js';
import { follow } from './stream.js';
import { pendingList } from './pending.js';
import { deskView } from './desk.js';
import { containerView, containersView } from './container.js';
import { reviewView, reviewsView } from './reviews.js';
import { loginView } from './login.js';
import { listen, showKeys } from './keys.js';
import { plain } from './text.js';
import { alarm, say } from './say.js';

const main = document.getElementById('main');
const top = document.getElementById('top');
const notice = document.getElementById('notice');
const pending = pendingList();
const place = el('div', { id: 'place' });
const HIDDEN_POLL_MS = 10000;

let view = null;
let viewName = '';
let stream = null;
let wanted = null; // [filters, handlers] of the stream
let waits = 0;
let hearers = new Set();

// ---- the frame -------------------------------------------------------------------------------------------------------

const connection = el('span', { class: 'connection' });
const nav = el('nav', { 'aria-label': 'Pages' });
const THEMES = ['system', 'light', 'dark'];
const themeButton = button('', () => {
    sandtraceTheme.set(THEMES[(THEMES.indexOf(sandtraceTheme.get()) + 1) % THEMES.length]);
    showTheme();
}, { class: 'quiet', id: 'theme' });

function showTheme() {
    const word = sandtraceTheme.get();
    replace(themeButton, el('span', { class: 'wide' }, 'Theme: '), word);
    themeButton.setAttribute('aria-label', `Theme: ${word}; change it`);
}

async function leave() {
    try {
        await logOut();
    } catch (error) {
        alarm(error.message);
        return;
    }
    showLogin('');
    say('Logged out.');
}

function showFrame() {
    const links = [['desk', HOME, 'Desk'], ['containers', `${HOME}/containers`, 'Containers'], ['reviews', `${HOME}/reviews`, 'Reviews']];
    const current = { container: 'containers' }[here().view] || here().view;
    replace(nav, links.map(([key, href, text]) => el('a', { href, 'aria-current': key === current ? 'page' : null }, text)));
    replace(top, el('a', { class: 'brand', href: HOME }, el('img', { src: '/assets/icon.svg', alt: '', width: 20, height: 20 }), 'sandtrace'), nav, connection,
        el('div', { class: 'own-things' },
            session.readOnly ? el('span', { class: 'status stop' }, 'read-only') : null, el('span', { class: 'user wide' }, plain(session.user, 40)),
            themeButton, button('?', showKeys, { class: 'quiet', 'aria-label': 'Keys', 'aria-keyshortcuts': '?' }), button('Log out', leave, { class: 'quiet', id: 'log-out' })));
    showTheme();
}

function showTitle() {
    document.title = `${waits ? `(${waits}) ` : ''}${view?.title ?? ''} \u2013 sandtrace`;
}

pending.onCount((n) => {
    waits = n;
    showTitle();
});

// ---- the connection --------------------------------------------------------------------------------------------------

let lostAt = null;

function showState(word, detail) {
    const texts = { connecting: 'connecting \u2026', live: 'live', lost: 'connection lost', out: 'logged out' };
    connection.className = `connection ${word}`;
    connection.textContent = texts[word];
    if (word === 'lost') {
        if (lostAt === null)
            alarm('The connection to the server is lost; what is shown gets old.');
        lostAt ??= Date.now();
        replace(notice, el('p', { class: 'warn' }, `The connection to sandtrace serve was lost ${duration(Date.now() - lostAt)} ago; what is shown gets old. Next try in ${duration(detail)}. `,
            button('Try now', () => stream?.now(), { class: 'quiet' })));
    } else if (word === 'live') {
        if (lostAt !== null) {
            say('Connected again.');
            replace(notice);
            wanted?.[1].behind?.();
            view?.changed?.();
        }
        lostAt = null;
    } else if (word === 'out') {
        showLogin('The session is over.');
    }
}

function showGap(missed) {
    replace(notice, el('p', { class: 'warn', role: 'status' }, `${missed} events came faster than this page could take them. They are in the traces and, as soon as they are indexed, in the list. `,
        button('Dismiss', () => replace(notice), { class: 'quiet' })));
    wanted?.[1].behind?.();
}

function startStream() {
    stream?.stop();
    const [filters, handlers] = wanted;
    stream = follow(filters, {
        record(event) {
            handlers.record?.(event);
            hearers.forEach((hear) => hear(event));
        },
        pending: (list) => pending.set(list),
        gap: showGap,
        state: showState,
    });
}

function stopStream() {
    stream?.stop();
    stream = null;
}

const loadPending = async () => pending.set((await get('/api/pending')).pending);

// A page that nobody sees gives its connection back (a browser has six for a host), and only looks for what waits.
setInterval(() => document.hidden && session.user !== null && loadPending().catch(() => {}), HIDDEN_POLL_MS);
document.addEventListener('visibilitychange', () => {
    if (session.user === null || !wanted)
        return;
    if (document.hidden) {
        stopStream();
    } else {
        startStream();
        wanted[1].behind?.();
    }
});

const app = {
    follow(filters, handlers) {
        wanted = [filters, handlers];
        startStream();
    },
    onRecord(hear) {
        hearers.add(hear);
        return () => hearers.delete(hear);
    },
};

// ---- views -----------------------------------------------------------------------------------------------------------

const VIEWS = {
    desk: () => deskView(app),
    containers: () => containersView(app),
    container: (address) => containerView(app, address.id),
    reviews: (address) => address.id ? reviewView(app, address.id) : reviewsView(app, address),
};

function nothingHere() {
    return { title: 'Not found', node: el('section', { class: 'pane' }, el('h1', { tabindex: -1 }, 'There is no such page'), el('a', { href: HOME }, 'To the desk')), update() {}, leave() {} };
}

async function showAddress() {
    if (session.user === null)
        return;
    const address = here();
    const name = `${address.view}/${address.id}`;
    if (name !== viewName) {
        view?.leave();
        hearers = new Set();
        const first = viewName === '';
        viewName = name;
        view = (VIEWS[address.view] || nothingHere)(address);
        replace(place, view.node);
        showFrame();
        if (!first)
            (place.querySelector('h1') || main).focus();
    }
    showTitle();
    await view.update(address);
    if (!address.event)
        showTitle();
}

function showLogin(message) {
    stopStream();
    wanted = null;
    session.user = null;
    view?.leave();
    viewName = '';
    pending.clear();
    replace(notice);
    replace(nav);
    replace(top, el('span', { class: 'brand' }, el('img', { src: '/assets/icon.svg', alt: '', width: 20, height: 20 }), 'sandtrace'), el('div', { class: 'own-things' }, themeButton));
    showTheme();
    view = loginView(message, enter);
    replace(main, view.node);
    showTitle();
    view.focus();
}

/** With a session: the whole page. */
async function enter() {
    if (!await loadSession()) {
        const byLink = location.pathname === '/login';
        showLogin(byLink ? 'That link does not work any more: each works once, for ten minutes.' : '');
        return;
    }
    if (!location.pathname.startsWith(HOME))
        history.replaceState(null, '', HOME);
    replace(main, pending.node, place);
    loadPending().catch((error) => alarm(error.message));
    await showAddress();
}

onLoggedOut(() => session.user !== null && showLogin('The session is over.'));
addEventListener('popstate', showAddress);
addEventListener('sandtrace:address', showAddress);
document.addEventListener('click', (event) => {
    const href = event.target.closest?.('a')?.getAttribute('href');
    if (!href?.startsWith(HOME) || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
        return;
    event.preventDefault();
    go(href);
});

const list = () => view?.list;
listen({
    '?': showKeys,
    p: () => pending.focus(),
    e: () => document.getElementById('events-heading')?.focus(),
    j: () => list()?.step(1),
    k: () => list()?.step(-1),
    o: () => list()?.older(),
    n: () => list()?.newest(),
    '/': () => view?.search?.(),
    d: () => session.user !== null && go(HOME),
    c: () => session.user !== null && go(`${HOME}/containers`),
    r: () => session.user !== null && go(`${HOME}/reviews`),
    t: () => themeButton.click(),
    Escape: () => here().event && document.getElementById('close-detail')?.click(),
});

enter().catch((error) => {
    replace(main, el('section', { class: 'pane' }, el('h1', {}, 'The desk does not answer'), el('p', { class: 'bad', role: 'alert' }, error.message), button('Try again', () => location.reload())));
});
