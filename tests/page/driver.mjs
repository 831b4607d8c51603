// driver: one scenario of the review desk's page, in a browser that runs already.
//
//   node tests/page/driver.mjs SCENARIO ARGUMENT…
//
// SCENARIO is a function that a file of this folder exports. What it needs to know stands in the environment: DESK (address of the
// desk), DESK_TOKEN, BROWSER (where chromium can be driven), PAGE_DEPS (where npm put what package.json names).
// Whatever a scenario is about, it fails where the page broke its own rules: a violation of the content security policy, an
// error on the console, a request to another host.
import { createRequire } from 'node:module';
import { readdirSync } from 'node:fs';

const require = createRequire(`${process.env.PAGE_DEPS}/`);
const { chromium } = require('playwright-core');
export const axePath = () => require.resolve('axe-core/axe.min.js');

export function check(condition, message) {
    if (!condition)
        throw new Error(message);
}

/** until(what, condition): waits; what it waited for is told where it never comes. */
export async function until(what, condition) {
    const deadline = Date.now() + 60000;
    for (;;) {
        const result = await condition();
        if (result)
            return result;
        check(Date.now() < deadline, `never came true: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 30));
    }
}

class Stage {
    constructor(browser) {
        this.browser = browser;
        this.base = process.env.DESK;
        this.wrong = [];
        this.contexts = [];
        // Answers that the scenario asks for, which a browser tells on its console as errors.
        this.expected = new Set();
    }

    /** A person with a browser of their own: no cookie, nothing remembered. */
    async person(options = {}) {
        const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options });
        this.contexts.push(context);
        context.setDefaultTimeout(60000);
        await context.exposeBinding('tellViolation', (_, text) => this.wrong.push(`policy violated: ${text}`));
        await context.addInitScript(() => addEventListener('securitypolicyviolation', (event) => tellViolation(`${event.violatedDirective} ${event.blockedURI}`)));
        context.on('page', (page) => this.watch(page));
        return context;
    }

    watch(page) {
        page.on('pageerror', (error) => this.wrong.push(`error in the page: ${error.stack}`));
        page.on('dialog', (dialog) => {
            this.wrong.push(`a script of somebody else ran: ${dialog.message()}`);
            dialog.dismiss();
        });
        page.on('console', (message) => {
            if (!['error', 'warning'].includes(message.type()))
                return;
            const status = /status of (\d+)/.exec(message.text())?.[1] ?? (/ERR_[A-Z_]+/.exec(message.text())?.[0]);
            if (!this.expected.has(status))
                this.wrong.push(`console: ${message.text()} (${message.location().url})`);
        });
        page.on('request', (request) => {
            const url = new URL(request.url());
            if (url.protocol.startsWith('http') && url.origin !== new URL(this.base).origin && !this.elsewhere?.(url))
                this.wrong.push(`a request to another host: ${request.url()}`);
        });
    }

    async logIn(context) {
        const answer = await context.request.post(`${this.base}/api/login`, { data: { token: process.env.DESK_TOKEN }, headers: { Origin: this.base } });
        check(answer.status() === 204, `log-in by token: ${answer.status()} ${await answer.text()}`);
    }

    /** A page of somebody who is logged in. */
    async open(path = '/sandbox-audit', options = {}) {
        const context = await this.person(options);
        await this.logIn(context);
        const page = await context.newPage();
        await page.goto(this.base + path);
        await page.locator('#log-out').waitFor();
        return page;
    }

    async end() {
        for (const context of this.contexts)
            await context.close();
    }
}

/** Live, so that nothing that comes from now on is missed. */
export const live = (page) => page.locator('.connection.live').waitFor();

export const rows = (page) => page.locator('table.events tbody tr');

async function find(name) {
    for (const file of readdirSync(import.meta.dirname ?? new URL('.', import.meta.url).pathname).filter((one) => one.endsWith('.mjs') && one !== 'driver.mjs')) {
        const module = await import(`./${file}`);
        if (Object.hasOwn(module, name))
            return module[name];
    }
    throw new Error(`no scenario ${name}`);
}

async function main([name, ...args]) {
    const scenario = await find(name);
    const browser = await chromium.connectOverCDP(process.env.BROWSER);
    const stage = new Stage(browser);
    try {
        await scenario(stage, ...args);
        check(!stage.wrong.length, stage.wrong.join('\n'));
    } catch (error) {
        for (const context of stage.contexts)
            for (const page of context.pages())
                console.error(`${page.url()} shows:\n${(await page.locator('body').innerText().catch(() => '')).slice(0, 2000)}`);
        throw error;
    } finally {
        await stage.end();
    }
}

if (process.argv[1]?.endsWith('driver.mjs'))
    main(process.argv.slice(2)).then(() => process.exit(0), (error) => {
        console.error(error.stack || error);
        process.exit(1);
    });
