// desk: the first page: filters, timeline, the list, and beside it an event or an overview.
import { el } from './dom.js';
import { deskAddress, go } from './address.js';
import { filterForm } from './filters.js';
import { timeline } from './timeline.js';
import { eventList } from './events.js';
import { pane } from './details.js';
import { deskAside } from './aside.js';

const REFRESH_MS = 5000;

/** Everything that shows a list of events and one of them beside it: the desk, and a container's page. */
export function listWithDetail(app, { fixed = {}, beside }) {
    const list = eventList();
    const detail = pane();
    const node = el('div', { class: 'columns' }, list.node, el('div', { class: 'side' }, detail.node, beside.node));
    let loaded = null;
    let opened = '';
    let filters = {};

    const showDetail = (key) => {
        list.readdress();
        list.mark(key);
        node.classList.toggle('with-detail', Boolean(key));
        beside.node.hidden = Boolean(key);
        if (key) {
            detail.open(key, list.find(key));
        } else if (opened) {
            detail.close();
            list.focusOn(opened);
        }
        opened = key;
    };

    return {
        node, list,
        isOpen: detail.isOpen,
        /** Returns whether the filters are others than before. */
        async update(address) {
            const wanted = JSON.stringify([address.filters, address.cursor]);
            filters = { ...address.filters, ...fixed };
            const changed = wanted !== loaded;
            loaded = wanted;
            if (changed) {
                app.follow(filters, { record: (event) => address.filters.until || list.add(event), behind: () => list.catchUp(filters) });
                await list.load(filters, address.cursor);
            }
            showDetail(address.event);
            return changed;
        },
    };
}

export function deskView(app) {
    const form = filterForm((filters) => go(deskAddress(filters)));
    const when = timeline();
    const beside = deskAside({ onContainers: form.know });
    const both = listWithDetail(app, { beside });
    let filters = null;
    let stale = false;

    const refresh = () => {
        stale = false;
        when.load(filters);
        beside.load(filters);
    };
    const timer = setInterval(() => stale && !document.hidden && refresh(), REFRESH_MS);
    const stopHearing = app.onRecord(() => { stale = true; });

    return {
        title: 'Desk',
        node: el('div', { class: 'view desk' }, el('h1', { class: 'unseen', tabindex: -1 }, 'Review desk'), form.node, when.node, both.node),
        list: both.list,
        search: form.focus,
        async update(address) {
            form.set(address.filters);
            filters = address.filters;
            if (await both.update(address))
                refresh();
        },
        leave() {
            clearInterval(timer);
            stopHearing();
        },
    };
}
