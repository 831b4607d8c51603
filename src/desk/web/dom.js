// dom: elements are made here and nowhere else. Text becomes text nodes, never markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false)
            continue;
        if (name.startsWith('on'))
            node.addEventListener(name.slice(2), value);
        else if (value === true)
            node.setAttribute(name, '');
        else
            node.setAttribute(name, String(value));
    }
    node.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
    return node;
}

/** el('a', {href: '/'}, 'text', node…): an element; attributes that are null or false are left out, on… are listeners. */
export function el(name, attributes = {}, ...children) {
    return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, name), attributes, children);
}

/** A button of ours: never a submit button by accident. */
export function button(label, onclick, attributes = {}) {
    return el('button', { type: 'button', onclick, ...attributes }, label);
}

export function replace(parent, ...children) {
    parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
}

/** definitions([['name', node], …]): a list of what is known; what is not known is not in it. */
export function definitions(pairs, attributes = {}) {
    return el('dl', attributes, pairs.filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

/** A table with headings: columns are strings, or [string, class]; rows are arrays of cells, or ready rows. */
export function table(caption, columns, rows, attributes = {}) {
    const head = columns.map((column) => {
        const [name, kind] = Array.isArray(column) ? column : [column];
        return el('th', { scope: 'col', role: 'columnheader', class: kind }, name);
    });
    return el('table', { role: 'table', ...attributes },
        el('caption', { class: 'unseen' }, caption),
        el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, head)),
        el('tbody', { role: 'rowgroup' }, rows.map((row) => Array.isArray(row) ? tableRow(columns, row) : row)));
}

export function tableRow(columns, cells, attributes = {}) {
    return el('tr', { role: 'row', ...attributes }, cells.map((cell, i) => {
        const [name, kind] = Array.isArray(columns[i]) ? columns[i] : [columns[i]];
        // Its heading goes along: on a small screen a row stands as a block of its own.
        return el('td', { role: 'cell', class: kind, 'data-head': name }, cell);
    }));
}

// Severity has a word, a shape and a colour; any one of them is enough.
const SHAPES = {
    none: ['circle', { cx: 6, cy: 6, r: 1.6 }],
    low: ['circle', { cx: 6, cy: 6, r: 3.6, class: 'hollow' }],
    medium: ['path', { d: 'M6 1.5 11 10.5 1 10.5Z' }],
    high: ['path', { d: 'M6 .5 11.5 6 6 11.5 .5 6Z' }],
    critical: ['path', { 'fill-rule': 'evenodd', d: 'M0 0H12V12H0ZM4.9 2H7.1V7.2H4.9ZM4.9 8.3H7.1V10.3H4.9Z' }],
};

export function severity(word) {
    const [name, attributes] = SHAPES[word] || SHAPES.none;
    return el('span', { class: `severity ${SHAPES[word] ? word : 'none'}` },
        svg('svg', { viewBox: '0 0 12 12', 'aria-hidden': 'true' }, svg(name, attributes)), word || 'none');
}
