// stream: server-sent events, read by fetch and not by EventSource: that one can't tell a server that is silent from one that
// is gone, nor a session that is over from a connection that is lost. One stream at a time; opened again by itself.
import { open, session } from './api.js';

// The server says something at least each 15 s.
const SILENCE_MS = 40000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15000;

/** parser(emit): feed it text; emit(event, data) for each event, emit(null) for a sign of life. */
export function parser(emit) {
    let rest = '';
    let type = '';
    let data = [];
    const line = (text) => {
        if (text === '') {
            if (data.length)
                emit(type || 'message', data.join('\n'));
            type = '';
            data = [];
        } else if (text.startsWith(':')) {
            emit(null);
        } else {
            const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(text);
            if (field === 'event')
                type = value ?? '';
            else if (field === 'data')
                data.push(value ?? '');
        }
    };
    return (text) => {
        const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
        rest = lines.pop();
        lines.forEach(line);
    };
}

async function read(body, feed, alive) {
    const decoder = new TextDecoder();
    const reader = body.getReader();
    for (;;) {
        const { value, done } = await reader.read();
        if (done)
            return;
        alive();
        feed(decoder.decode(value, { stream: true }));
    }
}

/**
 * follow(parameters, handlers): until stop() of what it returns is called.
 * handlers: record(event), pending(list), gap(missed), state(word, detail): connecting, live, lost (detail: ms to the next try), out.
 */
export function follow(parameters, handlers) {
    let stopped = false;
    let abort;
    let wait = FIRST_WAIT_MS;
    let again;
    let times = 0;

    const emit = (type, data) => {
        if (!type || stopped)
            return;
        let value;
        try {
            value = JSON.parse(data);
        } catch {
            return;
        }
        if (type === 'record')
            handlers.record(value);
        else if (type === 'pending')
            handlers.pending(value.pending ?? value);
        else if (type === 'gap')
            handlers.gap(value.missed);
    };

    const once = async () => {
        abort = new AbortController();
        let silence;
        const alive = () => {
            clearTimeout(silence);
            silence = setTimeout(() => abort.abort(), SILENCE_MS);
        };
        handlers.state('connecting');
        try {
            alive();
            const body = await open('/api/stream', parameters, abort.signal);
            wait = FIRST_WAIT_MS;
            handlers.state('live', times++);
            await read(body, parser(emit), alive);
        } catch (error) {
            if (error.status === 401)
                return true;
        } finally {
            clearTimeout(silence);
        }
        return false;
    };

    const loop = async () => {
        const out = await once();
        if (stopped)
            return;
        if (out) {
            handlers.state('out');
            return;
        }
        handlers.state('lost', wait);
        again = setTimeout(loop, wait);
        wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    };

    if (session.user !== null)
        loop();
    return {
        stop() {
            stopped = true;
            clearTimeout(again);
            abort?.abort();
        },
        now() {
            clearTimeout(again);
            wait = FIRST_WAIT_MS;
            loop();
        },
    };
}
