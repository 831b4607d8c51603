// time: moments and lengths of time as people read them. Records are in UTC; the desk shows UTC as well, so that what is read
// out on the telephone is what stands in the trace.
import { el } from './dom.js';

const two = (n) => String(n).padStart(2, '0');

/** 12 s, 3 m 04 s, 2 h 10 m, 4 d 03 h: as the command line says it. */
export function duration(ms) {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s >= 86400)
        return `${Math.floor(s / 86400)} d ${two(Math.floor(s / 3600) % 24)} h`;
    if (s >= 3600)
        return `${Math.floor(s / 3600)} h ${two(Math.floor(s / 60) % 60)} m`;
    if (s >= 60)
        return `${Math.floor(s / 60)} m ${two(s % 60)} s`;
    return `${s} s`;
}

/** A moment: the time of day with milliseconds, the day where it is not today; the whole in its title. */
export function moment(text, { seconds = false } = {}) {
    const date = new Date(text);
    if (Number.isNaN(date.getTime()))
        return el('time', {}, String(text ?? ''));
    const iso = date.toISOString();
    const today = iso.slice(0, 10) === new Date().toISOString().slice(0, 10);
    const clock = iso.slice(11, seconds ? 19 : 23);
    return el('time', { datetime: text, title: `${text} (UTC)` }, today ? clock : `${iso.slice(5, 10)} ${clock}`);
}

const UNITS = { s: 1, m: 60, h: 3600, d: 86400 };

/** -15m, an RFC 3339 time, or nothing: what the filters since and until take. */
export function isTime(text) {
    const relative = /^-\d{1,6}([smhd])$/.exec(text);
    return text === '' || (relative && relative[1] in UNITS) || (/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text)));
}

export function amount(n) {
    return Number(n ?? 0).toLocaleString('en');
}

/** Bytes, in units of 1000: as the report says it. */
export function size(n) {
    if (n === undefined || n === null)
        return '';
    const units = ['B', 'kB', 'MB', 'GB', 'TB'];
    let i = 0;
    for (; n >= 1000 && i < units.length - 1; i++)
        n /= 1000;
    return `${i && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}
