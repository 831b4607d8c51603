// aside: what stands beside the list while no event is looked at: containers, and who talked to whom.
import { el, table, replace } from './dom.js';
import { name } from './text.js';
import { amount, moment, size } from './time.js';
import { containerAddress, deskAddress } from './address.js';
import { get } from './api.js';

const STATUS = { watching: 'ok', paused: 'stop', stuck: 'bad', unwatched: 'bad', stopping: 'dim', ended: 'dim' };

export function status(container) {
    return [el('span', { class: `status ${STATUS[container.status] || 'dim'}` }, container.status),
        container.quarantined ? el('span', { class: 'status bad' }, 'quarantined') : null,
        container.trace?.chain === 'broken' ? el('span', { class: 'status bad' }, 'chain broken') : null];
}

const section = (id, title, body) => el('section', { class: 'pane', 'aria-labelledby': id }, el('h2', { id }, title), body);

export function containersTable(containers) {
    const rows = containers.map((one) => [
        el('a', { href: containerAddress(one.id) }, name(one.id, { whole: false })),
        one.analysis_id ? el('a', { href: deskAddress({ analysis_id: one.analysis_id }) }, name(one.analysis_id, { whole: false })) : null,
        status(one), one.policy ? name(one.policy, { whole: false }) : null, amount(one.pending), amount(one.events), amount(one.refused),
    ]);
    return table('Containers', ['container', 'agent', 'status', 'policy', ['waits', 'n'], ['events', 'n'], ['refused', 'n']], rows);
}

function short(containers) {
    const order = (one) => one.status === 'ended' ? 1 : 0;
    const list = [...containers].sort((a, b) => order(a) - order(b)).slice(0, 12);
    return [table('Containers', ['container', 'status', ['refused', 'n']],
        list.map((one) => [el('a', { href: containerAddress(one.id) }, name(one.id, { whole: false })), status(one), amount(one.refused)])),
    el('p', {}, el('a', { href: '/sandbox-audit/containers' }, containers.length > list.length ? `All ${containers.length} containers` : 'More of them'))];
}

const destination = (flow) => `${flow.name}${flow.port ? `:${flow.port}` : ''}`;

export function flowsTable(flows, { withContainer = true } = {}) {
    if (!flows.length)
        return el('p', { class: 'dim' }, 'Nobody, as far as is known.');
    const columns = [...(withContainer ? ['from'] : []), 'to', ['times', 'n'], ['blocked', 'n'], ['sent', 'n'], ['received', 'n'], 'last'];
    return table('Who talked to whom', columns, flows.map((flow) => [
        ...(withContainer ? [el('a', { href: containerAddress(flow.container) }, name(flow.container, { whole: false }))] : []),
        el('a', { href: deskAddress({ container: flow.container, kind: 'network_egress,network_ingress,dns_query', q: flow.name }) }, name(destination(flow), { whole: false })),
        amount(flow.n), flow.blocked ? el('span', { class: 'outcome denied' }, amount(flow.blocked)) : '0', size(flow.bytes_sent), size(flow.bytes_received), flow.last ? moment(flow.last, { seconds: true }) : null,
    ]), { class: 'flows' });
}

export function deskAside({ onContainers = () => {} } = {}) {
    const containers = el('div', { class: 'rows' });
    const flows = el('div', { class: 'rows' });
    const node = el('div', { class: 'beside' }, section('containers-heading', 'Containers', containers), section('flows-heading', 'Who talked to whom', flows));

    const into = async (place, ask) => {
        try {
            replace(place, await ask());
        } catch (error) {
            replace(place, el('p', { class: 'bad' }, error.message));
        }
    };
    return {
        node,
        load({ analysis_id, container, since }) {
            into(containers, async () => {
                const answer = await get('/api/containers');
                onContainers(answer.containers);
                return short(answer.containers);
            });
            into(flows, async () => flowsTable((await get('/api/sandbox-audit/flows', { analysis_id, container, since })).flows.slice(0, 30)));
        },
    };
}
