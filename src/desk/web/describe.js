// describe: a record in the words of people. The names in it stay apart from the words, as nodes of text.js.
import { el } from './dom.js';
import { name, plain, command } from './text.js';

export const OUTCOMES = { denied: 'denied', paused: 'paused', killed: 'killed' };

/** A record of the trace in the shape of an event of the API. */
export function fromRecord(record, container) {
    const { payload, verdict } = record;
    return {
        id: null, analysis_id: record.agent_id, container, seq: record.seq, event_id: record.event_id, ts: record.wall_time,
        kind: record.event_type, severity: verdict.severity, result: verdict.result, action: verdict.action,
        rule: verdict.policy_rule, reason: verdict.reason, allowed: verdict.result === 'allow', blocked: Boolean(payload.blocked), chain: null, detail: payload,
    };
}

/** One word for what came of it. */
export function outcome(event) {
    if (OUTCOMES[event.action])
        return OUTCOMES[event.action];
    if (event.result === 'allow')
        return 'allowed';
    if (event.result === 'anomaly')
        return 'anomaly';
    return event.blocked ? 'denied' : 'recorded';
}

const endpoint = (d) => {
    const host = d.dst_host || d.dst_ip || d.src_ip || '?';
    const port = d.dst_port ?? d.src_port;
    return port === undefined ? host : `${host}:${port}`;
};

const by = (d) => d.by ? ` by ${d.by.name || d.by.how || `uid ${d.by.uid}`}` : '';

// [word, name, word, name …] by kind: words are ours, names are not.
const SENTENCES = {
    filesystem: (d) => [d.access?.length && d.op === 'open' ? d.access.join('+') : d.op, d.path, ...(d.target ? ['\u2192', d.target] : [])],
    filesystem_summary: (d) => [`${d.files_created?.length ?? 0} created, ${d.files_modified?.length ?? 0} modified, ${d.files_deleted?.length ?? 0} deleted`],
    network_egress: (d) => [d.state === 'closed' ? 'closed' : 'connect', endpoint(d), d.protocol || ''],
    network_ingress: (d) => ['from', endpoint(d), d.protocol || ''],
    dns_query: (d) => [d.answers ? 'answer' : 'look up', d.name, d.qtype || ''],
    process: (d) => [d.op === 'exec' ? 'run' : d.op, d.path || ''],
    syscall: (d) => ['call', d.name],
    lifecycle: (d) => [d.op || d.state || 'lifecycle'],
    security_pause: (d) => [`container stands still${by(d)}`],
    security_resume: (d) => [`${d.decision || 'decided'}${by(d)}`],
    policy_change: (d) => [d.change || 'policy', d.new?.name || ''],
    sensor: (d) => [`${d.name || d.sensor || 'sensor'} ${d.state || ''}`],
    checkpoint: (d) => [d.final ? 'trace closed' : 'checkpoint', '', d.signature ? 'signed' : 'not signed'],
};

function parts(event) {
    const make = SENTENCES[event.kind];
    const out = make ? make(event.detail || {}) : [event.kind, event.path_or_addr];
    return out.map((part) => part === undefined || part === null ? '' : String(part));
}

/** As nodes. whole: long names can be shown in full. */
export function what(event, { whole = false } = {}) {
    return parts(event).map((part, i) => {
        if (part === '')
            return null;
        return [i % 2 ? name(part, { whole }) : el('span', { class: 'verb' }, plain(part)), ' '];
    });
}

/** As a string, for labels and announcements. */
export const whatText = (event) => parts(event).filter(Boolean).map((part) => plain(part, 120)).join(' ');

export function who(process) {
    if (!process)
        return null;
    return [name(process.comm || process.exe || '?', { whole: false }), process.container_pid ? el('span', { class: 'dim' }, `[${process.container_pid}]`) : null];
}

/** The process and who started it, outermost first, as a tree. */
export function processTree(process) {
    const line = (p, own) => [
        el('span', { class: own ? 'own' : null }, name(p.comm || '?')), ' ',
        el('span', { class: 'dim' }, p.container_pid ? `[${p.container_pid}] host pid ${p.pid}` : `host pid ${p.pid ?? '?'}`),
        p.exe ? [' ', name(p.exe)] : null,
    ];
    const chain = [...(process.ancestry || [])].reverse();
    const own = el('li', { 'aria-current': 'true' }, line(process, true),
        process.argv?.length ? el('div', { class: 'argv' }, command(process.argv)) : null);
    const tree = chain.reduceRight((inner, p) => el('li', {}, line(p, false), el('ol', { role: 'list' }, inner)), own);
    return el('ol', { class: 'tree', role: 'list', 'aria-label': 'processes, outermost first' }, tree);
}
