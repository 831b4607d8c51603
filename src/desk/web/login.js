// login: the form for who has no session. The token is sent once and not kept.
import { el } from './dom.js';
import { logIn } from './api.js';
import { alarm } from './say.js';

export function loginView(message, done) {
    const problem = el('p', { class: 'bad', id: 'login-problem' }, message);
    const token = el('input', { type: 'password', id: 'token', name: 'token', required: true, autocomplete: 'off', 'aria-describedby': 'login-help login-problem' });
    const who = el('input', { type: 'text', id: 'who', name: 'who', maxlength: 64, autocomplete: 'nickname', 'aria-describedby': 'who-help' });
    const submit = async (event) => {
        event.preventDefault();
        try {
            await logIn(token.value.trim(), who.value.trim());
            token.value = '';
            await done();
        } catch (error) {
            problem.textContent = error.code === 'wrong_token' ? 'That is not the token of this desk.' : error.message;
            alarm(problem.textContent);
            token.select();
        }
    };
    return {
        title: 'Log in',
        node: el('div', { class: 'view login' }, el('section', { class: 'pane', 'aria-labelledby': 'login-heading' },
            el('h1', { id: 'login-heading', tabindex: -1 }, 'Log in to the review desk'),
            el('p', { id: 'login-help' }, 'Follow the link that ', el('code', {}, 'sandtrace serve'), ' printed when it started (it works once), or give the token, which is in the file ',
                el('code', {}, 'desk.token'), ' beside the desk\u2019s database.'),
            el('form', { onsubmit: submit }, el('div', { class: 'entry' }, el('label', { for: 'token' }, 'Token'), token),
                el('div', { class: 'entry' }, el('label', { for: 'who' }, 'Your name'), who, el('span', { class: 'dim', id: 'who-help' }, 'May be left out. It stands in the traces beside what you decide.')), problem,
                el('div', { class: 'actions' }, el('button', { type: 'submit', class: 'primary' }, 'Log in'))))),
        focus: () => token.focus(),
        update() {},
        leave() {},
    };
}
