// address: what is looked at stands in the address, so that it can be kept, sent, and left by the back button.

export const FILTERS = ['analysis_id', 'container', 'severity', 'kind', 'verdict', 'blocked', 'since', 'until', 'q'];
export const HOME = '/sandbox-audit';
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'none'];
export const VERDICTS = ['deny', 'anomaly', 'allow'];
export const KINDS = ['filesystem', 'network_egress', 'network_ingress', 'dns_query', 'process', 'syscall', 'security_pause', 'security_resume',
    'policy_change', 'lifecycle', 'filesystem_summary', 'sensor', 'checkpoint'];

/** {view, id, filters, cursor, event} of a URL. */
export function parse(url) {
    const query = url.searchParams;
    const filters = {};
    for (const key of FILTERS)
        if (query.get(key))
            filters[key] = query.get(key);
    const [, view = '', id = ''] = /^\/sandbox-audit(?:\/([a-z]+)(?:\/([^/]+))?)?\/?$/.exec(url.pathname) || [];
    let decoded = '';
    try {
        decoded = decodeURIComponent(id);
    } catch {
        // No such thing is there: shown as not found.
    }
    return { view: view || 'desk', id: decoded, filters, cursor: query.get('cursor') || '', event: query.get('event') || '', state: query.get('state') || '' };
}

export const here = () => parse(new URL(location.href));

function query(parameters) {
    const pairs = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== '');
    return pairs.length ? `?${new URLSearchParams(pairs)}` : '';
}

export const deskAddress = (filters = {}, more = {}) => HOME + query({ ...filters, ...more });
export const containerAddress = (id, more = {}) => `${HOME}/container/${encodeURIComponent(id)}${query(more)}`;
export const reviewAddress = (id) => `${HOME}/reviews/${encodeURIComponent(id)}`;

/** The same place with another event, cursor …; an empty value takes it out. */
export function alter(changes) {
    const url = new URL(location.href);
    for (const [key, value] of Object.entries(changes))
        if (value)
            url.searchParams.set(key, value);
        else
            url.searchParams.delete(key);
    return url.pathname + url.search;
}

/** Go there, as a link would. */
export function go(address, { replace = false } = {}) {
    if (address !== location.pathname + location.search)
        history[replace ? 'replaceState' : 'pushState'](null, '', address);
    dispatchEvent(new Event('sandtrace:address'));
}
