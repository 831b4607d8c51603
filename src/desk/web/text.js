// text: names of files, hosts and processes were chosen by others. They are shown as what they are: what has no glyph,
// turns the direction of writing or acts on a terminal is written out, and what is too long is cut, the whole on demand.
import { el, button } from './dom.js';

const LONG = 180;
const KEPT_BEFORE = 110;
const KEPT_BEHIND = 50;

// What can't be seen as itself: controls, formats, surrogates, private and unassigned characters, spaces that are not
// the space, fillers; the replacement character, which stands for bytes that are no text.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800\ufffd]/u;
const MARK = /\p{M}/u;
const MARKS_IN_A_ROW = 2;

const SHORT = { 7: '\\a', 8: '\\b', 9: '\\t', 10: '\\n', 11: '\\v', 12: '\\f', 13: '\\r', 27: '\\e' };
const NAMES = {
    0x1b: 'escape', 0xad: 'soft hyphen', 0x61c: 'Arabic letter mark', 0x200b: 'zero-width space', 0x200c: 'zero-width non-joiner',
    0x200d: 'zero-width joiner', 0x200e: 'left-to-right mark', 0x200f: 'right-to-left mark', 0x202a: 'left-to-right embedding',
    0x202b: 'right-to-left embedding', 0x202c: 'end of direction', 0x202d: 'left-to-right override', 0x202e: 'right-to-left override',
    0x2066: 'left-to-right isolate', 0x2067: 'right-to-left isolate', 0x2068: 'first strong isolate', 0x2069: 'end of isolate',
    0xfeff: 'byte order mark', 0xfffd: 'bytes that are no text',
};

function written(code) {
    if (code === 0xfffd)
        return '\ufffd';
    if (SHORT[code])
        return SHORT[code];
    if (code < 0x100)
        return `\\x${code.toString(16).padStart(2, '0')}`;
    return `\\u{${code.toString(16)}}`;
}

/** [[text, code or null], …]: runs of what can be shown, and single characters that must be written out. */
export function pieces(text) {
    const out = [];
    let run = '';
    let marks = 0;
    const characters = Array.from(text);
    characters.forEach((c, i) => {
        const edge = c === ' ' && (i === 0 || i === characters.length - 1);
        marks = MARK.test(c) ? marks + 1 : 0;
        if (!UNSEEN.test(c) && !edge && !(marks > MARKS_IN_A_ROW || (marks && i === 0))) {
            run += c;
            return;
        }
        if (run)
            out.push([run, null]);
        run = '';
        out.push([c, c.codePointAt(0)]);
    });
    if (run)
        out.push([run, null]);
    return out;
}

function nodes(text) {
    return pieces(text).map(([piece, code]) => {
        if (code === null)
            return piece;
        const name = NAMES[code] ? ` ${NAMES[code]}` : '';
        const point = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
        return el('span', { class: 'written', title: point + name }, code === 32 ? '\u2423' : written(code));
    });
}

/** Plain text with the same care, for where only a string can stand: titles, labels, announcements. */
export function plain(text, longest = LONG) {
    const characters = Array.from(String(text ?? ''));
    const cut = characters.length > longest ? `${characters.slice(0, longest - 1).join('')}\u2026` : characters.join('');
    return pieces(cut).map(([piece, code]) => code === null || code === 32 ? piece : written(code)).join('');
}

function cutNodes(characters, between) {
    return [nodes(characters.slice(0, KEPT_BEFORE).join('')), between, nodes(characters.slice(-KEPT_BEHIND).join(''))];
}

/** name(text): as text, isolated from what stands around it. whole: with a button that shows all of a long one. */
export function name(text, { whole = true, code = true } = {}) {
    const characters = Array.from(String(text ?? ''));
    const box = el('bdi', { class: code ? 'name code' : 'name', dir: 'ltr' });
    if (characters.length <= LONG) {
        box.append(...nodes(characters.join('')).flat());
        if (!characters.length)
            box.append(el('span', { class: 'written', title: 'no character at all' }, 'empty'));
        return box;
    }
    const hidden = characters.length - KEPT_BEFORE - KEPT_BEHIND;
    const says = `\u2026 ${hidden.toLocaleString('en')} more \u2026`;
    if (!whole) {
        box.append(...cutNodes(characters, el('span', { class: 'cut' }, says)).flat());
        return box;
    }
    const show = (all) => {
        const toggle = button(all ? 'show less' : says, () => {
            show(!all);
            box.querySelector('button').focus();
        }, { class: 'cut', 'aria-expanded': String(all), 'aria-label': all ? 'show less of this name' : `show ${hidden} more characters of this name` });
        const parts = all ? [nodes(characters.join('')), toggle] : cutNodes(characters, toggle);
        box.replaceChildren(...parts.flat());
    };
    show(false);
    return box;
}

/** The exact bytes of a …_b64 member, as text in which each byte that is not printable ASCII is written out. */
export function bytes(base64) {
    let raw;
    try {
        raw = atob(base64);
    } catch {
        return name(base64);
    }
    const text = Array.from(raw, (c) => c >= ' ' && c <= '~' && c !== '\\' ? c : `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
    return name(text.join(''));
}

/** A command line: words that are more than one word, or none, in quotes, as a shell would take them. */
export function command(argv) {
    const words = (argv || []).map((word) => /^[\p{L}\p{N}_\-+=.,/:@%]+$/u.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`);
    return name(words.join(' '));
}
