// decide: the words and requests by which a person answers. Nothing is decided by a key alone or by a single stray click on what
// can't be taken back: killing asks once more.
import { el, button } from './dom.js';
import { name } from './text.js';
import { part, post } from './api.js';

/** Asks once more; resolves to true when it is meant. */
export function confirmKill(container) {
    return new Promise((resolve) => {
        const dialog = el('dialog', { 'aria-labelledby': 'confirm-heading' },
            el('h2', { id: 'confirm-heading' }, 'Kill this container?'),
            el('p', {}, name(container)),
            el('p', {}, 'All that waits in it is refused, then every process of it is killed. This can\u2019t be taken back.'),
            el('div', { class: 'actions' },
                button('Leave it', () => dialog.close('no'), { autofocus: true }),
                button('Kill it', () => dialog.close('kill'), { class: 'danger' })));
        dialog.addEventListener('close', () => {
            dialog.remove();
            resolve(dialog.returnValue === 'kill');
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

const body = (reason, more = {}) => reason ? { ...more, reason } : more;

export const approve = (pause, always, reason) => post(`/api/pending/${part(pause)}/approve`, body(reason, { always }));
export const deny = (pause, reason) => post(`/api/pending/${part(pause)}/deny`, body(reason));
export const act = (container, verb, reason, more = {}) => post(`/api/containers/${part(container)}/${verb}`, body(reason, more));
