// keys: shortcuts to get about. None of them decides anything. They can be switched off for those whose tools type letters.
import { el, button, table } from './dom.js';

const KEY = 'sandtrace.keys';
let on = true;
try {
    on = localStorage.getItem(KEY) !== 'off';
} catch {
    // no storage: they are on
}

const LIST = [['?', 'this list'], ['p', 'to what waits for an answer'], ['e', 'to the events'], ['j, k', 'next, previous event'], ['Enter', 'open the event'],
    ['Esc', 'close the event, back to its row'], ['o', 'older events'], ['n', 'newest events'], ['/', 'search'], ['d, c, r', 'desk, containers, reviews'], ['t', 'light, dark, as the system has it']];

export function showKeys() {
    const box = el('input', {
        type: 'checkbox', onchange: (event) => {
            on = event.target.checked;
            try {
                localStorage.setItem(KEY, on ? 'on' : 'off');
            } catch {
                // until the page is left then
            }
        },
    });
    box.checked = on;
    const dialog = el('dialog', { 'aria-labelledby': 'keys-heading' }, el('h2', { id: 'keys-heading' }, 'Keys'),
        table('Keys', ['key', 'goes'], LIST.map(([key, text]) => [el('kbd', {}, key), text]), { class: 'keys' }),
        el('p', {}, 'No key decides: answers are given by the buttons.'),
        el('label', { class: 'check' }, box, 'single keys are on'),
        el('div', { class: 'actions' }, button('Close', () => dialog.close(), { autofocus: true })));
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

/** actions: {key: function}; a key that is typed into a field, or with a modifier, is not ours. */
export function listen(actions) {
    addEventListener('keydown', (event) => {
        const field = event.target.closest?.('input, textarea, select, dialog');
        if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || document.querySelector('dialog[open]'))
            return;
        if (event.key === 'Escape' ? field?.matches('input[type=search]') && field.value : field && field.type !== 'checkbox')
            return;
        if (event.key !== 'Escape' && event.key !== '?' && !on)
            return;
        if (!actions[event.key])
            return;
        event.preventDefault();
        actions[event.key]();
    });
}
