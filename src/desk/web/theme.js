// theme: light, dark, or as the system has it. Loaded before anything is drawn, so that nothing flashes; a plain script for that.
(() => {
    const KEY = 'sandtrace.theme';
    const read = () => {
        try {
            return localStorage.getItem(KEY);
        } catch {
            return null; // no storage: as the system has it
        }
    };
    const apply = (word) => {
        if (word === 'light' || word === 'dark')
            document.documentElement.dataset.theme = word;
        else
            delete document.documentElement.dataset.theme;
    };
    apply(read());
    addEventListener('storage', (event) => event.key === KEY && apply(event.newValue));
    globalThis.sandtraceTheme = {
        get: () => document.documentElement.dataset.theme || 'system',
        set(word) {
            apply(word);
            try {
                localStorage.setItem(KEY, word);
            } catch {
                // it lasts as long as the page then
            }
        },
    };
})();
