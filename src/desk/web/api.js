// api: the only place that asks the server. Knows the session: who we are, whether we may act, and the word that every
// POST must carry.
import { plain } from './text.js';

const LONGEST_MESSAGE = 500;

export class Refusal extends Error {
    constructor(status, code, message) {
        super(plain(message, LONGEST_MESSAGE)); // there may be names in it
        this.status = status;
        this.code = code;
    }
}

export const session = { user: null, readOnly: true, csrf: '', version: '' };

let loggedOut = () => {};

/** What is called when the server does not know us any more. */
export function onLoggedOut(handler) {
    loggedOut = handler;
}

async function refusal(response) {
    try {
        const { error } = await response.json();
        return new Refusal(response.status, error.code, error.message);
    } catch {
        return new Refusal(response.status, 'unexpected', `the server answered ${response.status}`);
    }
}

async function call(path, options) {
    let response;
    try {
        response = await fetch(path, { credentials: 'same-origin', cache: 'no-store', redirect: 'error', ...options });
    } catch (error) {
        if (error.name === 'AbortError')
            throw error;
        throw new Refusal(0, 'unreachable', 'sandtrace serve can\u2019t be reached');
    }
    if (response.ok)
        return response;
    throw await refusal(response);
}

/** get('/api/…', {filter: value}, signal): the answer's JSON. Values that are empty are not sent. */
export async function get(path, parameters = {}, signal = undefined) {
    try {
        return await (await call(withQuery(path, parameters), { signal })).json();
    } catch (error) {
        if (error.status === 401)
            loggedOut();
        throw error;
    }
}

export async function post(path, body = {}) {
    try {
        const response = await call(path, {
            method: 'POST', body: JSON.stringify(body),
            headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': session.csrf },
        });
        return response.status === 204 ? {} : await response.json();
    } catch (error) {
        if (error.status === 401)
            loggedOut();
        throw error;
    }
}

/** The body of a stream, as it comes. */
export async function open(path, parameters, signal) {
    return (await call(withQuery(path, parameters), { signal, headers: { Accept: 'text/event-stream' } })).body;
}

export function withQuery(path, parameters) {
    const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== ''));
    return query.size ? `${path}?${query}` : path;
}

/** Who are we? False: nobody yet. */
export async function loadSession() {
    try {
        const answer = await (await call('/api/session', {})).json();
        Object.assign(session, { user: answer.user, readOnly: Boolean(answer.read_only), csrf: answer.csrf, version: answer.version });
        return true;
    } catch (error) {
        if (error.status !== 401 && error.status !== 403)
            throw error;
        Object.assign(session, { user: null, readOnly: true, csrf: '' });
        return false;
    }
}

/** name: who says so in the traces; may be empty. */
export async function logIn(token, name) {
    await call('/api/login', { method: 'POST', body: JSON.stringify(name ? { token, name } : { token }), headers: { 'Content-Type': 'application/json' } });
}

export async function logOut() {
    await post('/api/logout');
    Object.assign(session, { user: null, readOnly: true, csrf: '' });
}

/** An identifier as one part of a path. */
export const part = (id) => encodeURIComponent(id);
