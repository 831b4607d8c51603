// filters: the form above the list. It says what the address says, and changes only that.
import { el, button } from './dom.js';
import { plain } from './text.js';
import { isTime } from './time.js';
import { KINDS, SEVERITIES, VERDICTS } from './address.js';

const words = (text) => (text || '').split(',').filter(Boolean);

function checks(label, field, options, change) {
    const boxes = options.map((word) => el('label', { class: 'check' }, el('input', { type: 'checkbox', name: field, value: word, onchange: change }), word));
    return el('fieldset', { class: 'checks' }, el('legend', {}, label), boxes);
}

function entry(label, field, change, attributes = {}) {
    const id = `filter-${field}`;
    return el('div', { class: 'entry' }, el('label', { for: id }, label),
        el('input', { id, name: field, type: 'text', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', onchange: change, ...attributes }));
}

/** filterForm(apply): apply(filters) when a person changed something. */
export function filterForm(apply) {
    const problem = el('p', { class: 'bad', id: 'filter-problem', role: 'alert', hidden: true });
    const change = () => {
        const values = read();
        if (values)
            apply(values);
    };
    const names = el('datalist', { id: 'known-containers' });
    const agents = el('datalist', { id: 'known-agents' });
    const times = el('datalist', { id: 'known-times' }, ['-5m', '-15m', '-1h', '-6h', '-24h', '-7d'].map((value) => el('option', { value })));
    const kinds = el('details', { class: 'menu' }, el('summary', {}, 'Kind', el('span', { class: 'count' })), checks('Kind', 'kind', KINDS, change));
    const form = el('form', { class: 'filters', role: 'search', 'aria-label': 'Events', onsubmit: (event) => { event.preventDefault(); change(); } },
        entry('Text', 'q', change, { type: 'search', placeholder: 'path or host', 'aria-keyshortcuts': '/' }),
        entry('Agent', 'analysis_id', change, { list: 'known-agents' }),
        entry('Container', 'container', change, { list: 'known-containers' }),
        entry('From', 'since', change, { list: 'known-times', placeholder: '-1h', 'aria-describedby': 'filter-problem' }),
        entry('To', 'until', change, { list: 'known-times', placeholder: 'now', 'aria-describedby': 'filter-problem' }),
        checks('Severity', 'severity', SEVERITIES, change), checks('Verdict', 'verdict', VERDICTS, change),
        el('label', { class: 'check' }, el('input', { type: 'checkbox', name: 'blocked', value: 'true', onchange: change }), 'blocked only'),
        kinds, button('Clear', () => apply({}), { class: 'quiet' }), problem, names, agents, times);

    function read() {
        const data = new FormData(form);
        const values = {};
        for (const field of ['q', 'analysis_id', 'container', 'since', 'until', 'blocked'])
            if (data.get(field)?.trim())
                values[field] = data.get(field).trim();
        for (const field of ['severity', 'kind', 'verdict'])
            if (data.getAll(field).length)
                values[field] = data.getAll(field).join(',');
        const wrong = ['since', 'until'].filter((field) => !isTime(values[field] || ''));
        for (const field of ['since', 'until'])
            form.elements[field].setAttribute('aria-invalid', String(wrong.includes(field)));
        problem.hidden = wrong.length === 0;
        problem.textContent = wrong.length ? 'A time is -15m, -6h, -7d, or one like 2026-11-18T02:30:00Z.' : '';
        return wrong.length ? null : values;
    }

    // On a small screen the form would be all that is seen: it stands folded there.
    const chosen = el('span', { class: 'count' });
    const box = el('details', { class: 'filter-box' }, el('summary', {}, 'Filters', chosen), form);
    const small = matchMedia('(max-width: 720px)');
    const fold = () => { box.open = !small.matches; };
    small.addEventListener('change', fold);
    fold();

    return {
        node: box,
        /** To where one types. */
        focus() {
            box.open = true;
            form.elements.q.focus();
        },
        set(values) {
            for (const field of ['q', 'analysis_id', 'container', 'since', 'until'])
                form.elements[field].value = values[field] || '';
            for (const box of form.querySelectorAll('input[type=checkbox]'))
                box.checked = box.name === 'blocked' ? values.blocked === 'true' : words(values[box.name]).includes(box.value);
            const number = (n) => n ? ` (${n})` : '';
            kinds.querySelector('.count').textContent = number(words(values.kind).length);
            chosen.textContent = number(Object.keys(values).length);
            read();
        },
        /** What can be chosen from. */
        know(containers) {
            const options = (list) => [...new Set(list)].slice(0, 200).map((id) => el('option', { value: id }, plain(id)));
            names.replaceChildren(...options(containers.map((c) => c.id)));
            agents.replaceChildren(...options(containers.map((c) => c.analysis_id).filter(Boolean)));
        },
    };
}
