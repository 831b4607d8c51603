// timeline: how much happened when. A picture for the eye, the same as a table for everybody; a column leads to its events.
import { el, svg, table, replace } from './dom.js';
import { get } from './api.js';
import { amount, duration, moment } from './time.js';
import { alter, go } from './address.js';

const WIDTH = 960;
const HEIGHT = 64;
const BUCKETS = 60;

const span = (bucket, step) => {
    const t = new Date(bucket.t).getTime();
    return alter({ since: new Date(t).toISOString(), until: new Date(t + step).toISOString(), cursor: '', event: '' });
};

function column(bucket, i, n, highest, step) {
    const width = WIDTH / n;
    // Little among much is still seen: two pixels at least.
    const height = (count) => count ? Math.max(2, count / highest * (HEIGHT - 8)) : 0;
    const bar = (count, kind) => count ? svg('rect', { class: kind, x: i * width + 0.5, y: HEIGHT - height(count), width: Math.max(1, width - 1), height: height(count) }) : null;
    const label = `${new Date(bucket.t).toISOString().slice(11, 19)}: ${amount(bucket.n)} events, ${amount(bucket.blocked)} blocked, ${amount(bucket.severe)} severe`;
    // For the pointer; the table has the same as links.
    return svg('g', { class: 'column', onclick: () => go(span(bucket, step)) }, svg('title', {}, label),
        svg('rect', { class: 'hit', x: i * width, y: 0, width, height: HEIGHT }), bar(bucket.n, 'all'), bar(bucket.blocked, 'blocked'),
        bucket.severe ? svg('path', { class: 'severe', d: `M${i * width + width / 2 - 4} 0h8l-4 6Z` }) : null);
}

function picture(answer, total) {
    const { buckets, step_ms: step } = answer;
    const highest = Math.max(1, ...buckets.map((bucket) => bucket.n));
    const label = `${amount(total)} events, ${amount(buckets.reduce((sum, b) => sum + b.blocked, 0))} blocked; the same as a table is below`;
    return svg('svg', { class: 'timeline', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
        svg('path', { class: 'ground', d: `M0 ${HEIGHT - 0.5}H${WIDTH}` }),
        buckets.map((bucket, i) => column(bucket, i, buckets.length, highest, step)));
}

function asTable(answer) {
    const rows = answer.buckets.filter((bucket) => bucket.n).reverse();
    return table('Events by time', ['from', ['events', 'n'], ['blocked', 'n'], ['severe', 'n']],
        rows.map((bucket) => [el('a', { href: span(bucket, answer.step_ms) }, moment(bucket.t, { seconds: true })), amount(bucket.n), amount(bucket.blocked), amount(bucket.severe)]));
}

export function timeline() {
    const drawing = el('div', { class: 'drawing' });
    const legend = el('p', { class: 'legend' });
    const rows = el('div', { class: 'rows', tabindex: 0, role: 'region', 'aria-label': 'Timeline as a table' });
    const details = el('details', { class: 'as-table' }, el('summary', {}, 'as a table'), rows);
    const node = el('section', { class: 'pane', 'aria-labelledby': 'timeline-heading' }, el('h2', { id: 'timeline-heading', class: 'unseen' }, 'Timeline'), drawing,
        el('div', { class: 'under' }, legend, details));
    let asked = null;

    return {
        node,
        async load(filters) {
            asked?.abort();
            asked = new AbortController();
            const { signal } = asked;
            try {
                const answer = await get('/api/sandbox-audit/timeline', { ...filters, buckets: BUCKETS }, signal);
                const total = answer.buckets.reduce((sum, bucket) => sum + bucket.n, 0);
                replace(drawing, picture(answer, total));
                replace(rows, asTable(answer));
                replace(legend, moment(answer.from, { seconds: true }), ' to ', moment(answer.until, { seconds: true }),
                    ` UTC, a column is ${answer.step_ms < 1000 ? `${answer.step_ms} ms` : duration(answer.step_ms)}: `, el('span', { class: 'key all' }, `${amount(total)} events`), ' ',
                    el('span', { class: 'key blocked' }, 'blocked'), ' ', el('span', { class: 'key severe' }, 'high or critical'));
            } catch (error) {
                if (error.name !== 'AbortError')
                    replace(legend, el('span', { class: 'bad' }, error.message));
            }
        },
    };
}
