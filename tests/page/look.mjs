// How it looks and reads: hostile names, light and dark, small screens, accessibility, pictures.
import { readFileSync } from 'node:fs';
import { axePath, check, live, rows, until } from './driver.mjs';

/** names: JSON, of strings as the trace has them; each is to be found as text on the desk, in the detail, on the container's page. */
export async function hostileNamesAreText(stage, container, namesFile) {
    const names = JSON.parse(readFileSync(namesFile, 'utf8'));
    const page = await stage.open(`/sandbox-audit?container=${container}&verdict=deny`);
    await until('all of them are listed', async () => (await rows(page).count()) >= names.length);
    const clean = async (where) => {
        const found = await page.evaluate(() => ({
            scripts: document.querySelectorAll('script').length, images: document.querySelectorAll('img:not([src="/assets/icon.svg"])').length,
            bold: document.querySelectorAll('b, i, iframe, object, form[action], a[href^="javascript"]').length, ran: globalThis.hacked,
            raw: /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/.test(document.body.textContent),
        }));
        check(found.scripts === 2 && found.images === 0 && found.bold === 0 && found.ran === undefined && !found.raw, `${where}: ${JSON.stringify(found)}`);
    };
    await clean('the list');
    for (const [path, shown] of names) {
        const row = rows(page).filter({ hasText: shown }).first();
        await row.locator('a.what').click();
        await page.locator('.detail .members').first().waitFor();
        check((await page.locator('.detail .body').innerText()).replaceAll('\u2423', ' ').includes(shown), `the detail of ${path} does not show ${shown}`);
        await page.locator('.detail').getByRole('button', { name: 'As JSON' }).click();
        await clean(`the detail of ${path}`);
        await page.keyboard.press('Escape');
        await page.locator('.detail').waitFor({ state: 'hidden' });
    }
    await page.goto(`${stage.base}/sandbox-audit/container/${container}`);
    await page.locator('.story li').nth(names.length - 1).waitFor();
    await clean('the page of the container');
    check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'no name makes the page wider');
    // What the server says of a name that it refuses has the name in it.
    stage.expected.add('404');
    await page.goto(`${stage.base}/sandbox-audit/container/${encodeURIComponent('\u202e<b>nobody')}`);
    await page.getByRole('alert').filter({ hasText: 'nobody' }).first().waitFor();
    await clean('a container that is not there');
}

/** A long name is cut, and shown whole on demand. */
export async function longNameOnDemand(stage, container, length) {
    const page = await stage.open(`/sandbox-audit?container=${container}&verdict=deny`);
    const row = rows(page).filter({ hasText: 'more \u2026' }).first();
    check((await row.innerText()).length < 600, 'cut in the list');
    await row.locator('a.what').click();
    const heading = page.locator('#detail-heading');
    const toggle = heading.getByRole('button');
    await toggle.click();
    await until('the whole of it', async () => (await heading.locator('.name').textContent()).replace('show less', '').length >= Number(length));
    check(await heading.getByRole('button').getAttribute('aria-expanded') === 'true', 'said to be open');
    await heading.getByRole('button').click();
    await until('cut again', async () => (await heading.locator('.name').textContent()).length < 400);
}

export async function pendingShowsHostileNames(stage, pause, shown) {
    const page = await stage.open();
    const card = page.locator(`[data-pause="${pause}"]`);
    await card.waitFor();
    check((await card.innerText()).includes(shown), await card.innerText());
    check(await card.locator('script, img, b, i').count() === 0, 'nothing of it is markup');
    check(!/[\u001b\u202e]/.test((await card.textContent()) + (await page.title()) + (await page.locator('#urgent').textContent())), 'nothing of it acts');
}

const background = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
const isDark = async (page) => /\d+/g[Symbol.match](await background(page)).slice(0, 3).every((value) => Number(value) < 60);

export async function lightAndDark(stage) {
    const page = await stage.open('/sandbox-audit', { colorScheme: 'dark' });
    check(await isDark(page), 'dark where the system is');
    await page.emulateMedia({ colorScheme: 'light' });
    check(!await isDark(page), 'light where the system is');
    await page.locator('#theme').click(); // light
    await page.locator('#theme').click(); // dark
    check(await isDark(page), 'dark by the switch');
    await page.reload();
    await page.locator('#theme').waitFor();
    check(await isDark(page), 'and it is remembered');
    await page.keyboard.press('t');
    check(!await isDark(page), 'as the system has it again');
}

export async function keysLeadAround(stage, container) {
    const page = await stage.open(`/sandbox-audit?container=${container}`);
    await rows(page).nth(1).waitFor();
    const focused = () => page.evaluate(() => document.activeElement.closest('tr')?.rowIndex ?? document.activeElement.id);
    await page.keyboard.press('j');
    check(await focused() === 1, 'j is the first row');
    await page.keyboard.press('j');
    check(await focused() === 2, 'then the next');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.locator('.detail .members').first().waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.detail').waitFor({ state: 'hidden' });
    await page.keyboard.press('/');
    check(await focused() === 'filter-q', 'search');
    await page.keyboard.type('j?');
    check(await page.locator('#filter-q').inputValue() === 'j?', 'what is typed is text');
    await page.locator('#filter-q').fill('');
    await page.locator('h2', { hasText: 'Events' }).click();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('No key decides').waitFor();
    await page.getByRole('dialog').getByLabel('single keys are on').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('c');
    check(page.url().includes('container='), 'switched off');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByLabel('single keys are on').check();
    await page.keyboard.press('Escape');
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Containers' }).waitFor();
    // From the top: the first stop leads past the frame.
    await page.goto(`${stage.base}/sandbox-audit`);
    await page.locator('#log-out').waitFor();
    await page.keyboard.press('Tab');
    check(await page.evaluate(() => document.activeElement.textContent) === 'To the content', 'a way to the content');
}

export async function smallScreen(stage, ...paths) {
    for (const path of paths) {
        const page = await stage.open(path, { viewport: { width: 360, height: 740 }, hasTouch: true });
        await live(page);
        const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        check(wide[0] <= wide[1], `${path} is ${wide[0]} wide on ${wide[1]}`);
        if (await rows(page).count()) {
            await rows(page).first().locator('a.what').click();
            await page.locator('.detail .members').first().waitFor();
            check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `the detail of ${path} is too wide`);
        }
    }
}

/** An event of which the trace says nothing but that it was: a part without members says so. */
export async function nothingIsSaid(stage) {
    const page = await stage.open();
    const bare = await until('an event whose process has no more than a name', async () => page.evaluate(async () => {
        const { events } = await (await fetch('/api/sandbox-audit/events?limit=500')).json();
        return events.find(({ detail: { process } }) => process && !Object.keys(process).some((key) => !['ancestry', 'argv', 'comm', 'exe'].includes(key)))?.id;
    }));
    await page.goto(`${stage.base}/sandbox-audit?event=${bare}`);
    await page.locator('.detail .members').first().waitFor();
    check((await page.locator('.detail .members').first().innerText()) === 'nothing more', await page.locator('.detail').innerText());
}

const EVERYTHING = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
// All that can differ between light and dark: nothing but colours does.
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

async function axe(page, where) {
    await page.evaluate(readFileSync(axePath(), 'utf8'));
    for (const [colorScheme, runOnly] of [['light', EVERYTHING], ['dark', COLOURS]]) {
        await page.emulateMedia({ colorScheme });
        // What has passed is not asked for: to name each node of it takes most of the time.
        const { violations } = await page.evaluate((rules) => axe.run(document, { runOnly: rules, resultTypes: ['violations'] }), runOnly);
        const told = violations.map((one) => `${one.id}: ${one.help}\n${one.nodes.slice(0, 4).map((node) => `    ${node.html.slice(0, 160)} ${node.failureSummary.replaceAll('\n', ' ')}`).join('\n')}`);
        check(!told.length, `${where} (${colorScheme}):\n${told.join('\n')}`);
    }
}

/** By axe-core: everything that WCAG 2.2 AA has a rule for; each page in light and in dark, and the form for who has no session. */
export async function accessible(stage, ...paths) {
    stage.expected.add('401');
    for (const path of paths) {
        const page = await stage.open(path);
        await live(page);
        await until('loaded', async () => (await page.locator('[aria-busy]').count()) === 0);
        // With all that can stand on it: an event beside the list.
        if (await rows(page).count()) {
            await rows(page).first().locator('a.what').click();
            await page.locator('.detail .members').first().waitFor();
        }
        await axe(page, path);
        await page.context().close();
    }
    const page = await (await stage.person()).newPage();
    await page.goto(`${stage.base}/sandbox-audit`);
    await page.locator('#login-heading').waitFor();
    await axe(page, 'the form');
}

/** name:scheme:width:height:path …: pictures of it, for the documents. */
export async function pictures(stage, folder, ...wanted) {
    for (const one of wanted) {
        const [name, colorScheme, width, height, ...path] = one.split(':');
        const page = await stage.open(path.join(':'), { colorScheme, viewport: { width: Number(width), height: Number(height) } });
        await live(page);
        await until('loaded', async () => (await page.locator('[aria-busy]').count()) === 0);
        await page.waitForLoadState('load');
        await page.evaluate(() => document.activeElement.blur());
        await page.screenshot({ path: `${folder}/${name}.png` });
    }
}
