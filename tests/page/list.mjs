// The list of events: live, filtered, paged, and one of them in full.
import { check, live, rows, until } from './driver.mjs';

const shown = (page, text) => rows(page).filter({ hasText: text });
const query = (page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Opens the desk, says so by a file, and waits for what the container does then. */
export async function liveEventsAppear(stage, sign, container, ...texts) {
    const page = await stage.open();
    await live(page);
    const { writeFileSync } = await import('node:fs');
    writeFileSync(sign, '');
    for (const text of texts)
        await shown(page, text).first().waitFor();
    check(await shown(page, texts[0]).first().locator('td').nth(4).innerText() === container, 'the row names the container');
    await page.locator('#polite').getByText(/\d+ new event/).waitFor();
    check(await rows(page).locator('[aria-live]').count() === 0, 'the rows themselves are not announced');
}

export async function filtersAreInTheAddress(stage, container, wanted, unwanted) {
    const page = await stage.open();
    await rows(page).first().waitFor();
    const start = page.url();
    await page.getByLabel('critical', { exact: true }).check();
    await until('the address has it', () => query(page).severity === 'critical');
    await until('only critical ones are listed', async () => (await rows(page).count()) > 0 && (await rows(page).locator('.severity:not(.critical)').count()) === 0);
    await page.getByLabel('deny', { exact: true }).check();
    await page.locator('#filter-container').fill(container);
    await page.keyboard.press('Enter');
    await until('all of them are there', () => query(page).container === container && query(page).verdict === 'deny' && query(page).severity === 'critical');
    await until('of this container only', async () => (await rows(page).count()) > 0 && !(await rows(page).locator('td:nth-child(5)').allInnerTexts()).some((text) => text !== container));
    // The address alone says it all.
    const address = page.url();
    await page.reload();
    await rows(page).first().waitFor();
    check(await page.getByLabel('critical', { exact: true }).isChecked() && await page.locator('#filter-container').inputValue() === container, 'a reload keeps the filters');
    await page.goBack();
    await until('back takes the last one away', () => query(page).container === undefined && query(page).verdict === 'deny');
    check(await page.locator('#filter-container').inputValue() === '', 'the form follows');
    await page.goBack();
    await page.goBack();
    await until('and back to the start', () => page.url() === start);
    check(!await page.getByLabel('critical', { exact: true }).isChecked(), 'the form is empty');
    await page.goto(address);
    await rows(page).first().waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await until('cleared', () => page.url() === start);
    // Text, kind, time.
    await page.locator('#filter-q').fill(wanted);
    await page.keyboard.press('Enter');
    await until('the text is found', async () => (await shown(page, wanted).count()) > 0 && (await shown(page, unwanted).count()) === 0);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.locator('.menu summary').click();
    await page.getByLabel('lifecycle').check();
    await until('by kind', async () => (await rows(page).count()) > 0 && (await rows(page).locator('.tag').allInnerTexts()).every((text) => text === 'lifecycle'));
    await page.locator('#filter-since').fill('yesterday');
    await page.keyboard.press('Enter');
    await page.locator('#filter-problem').getByText('-15m').waitFor();
    check(query(page).since === undefined, 'what is no time is not asked for');
    await page.locator('#filter-since').fill('-1h');
    await page.keyboard.press('Enter');
    await until('since an hour', () => query(page).since === '-1h');
    await rows(page).first().waitFor();
    await page.locator('#filter-until').fill('-1h');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing fits these filters.').waitFor();
}

const keys = (page) => rows(page).evaluateAll((all) => all.map((row) => row.dataset.key));

export async function olderPagesByCursor(stage, container, total) {
    const page = await stage.open(`/sandbox-audit?container=${container}&q=file`);
    const seen = [];
    for (;;) {
        await rows(page).first().waitFor();
        seen.push(...await keys(page));
        const older = page.getByRole('link', { name: 'Older' });
        if (!await older.isVisible())
            break;
        const before = page.url();
        await older.click();
        await until('another page', async () => page.url() !== before && (await page.locator('.list[aria-busy]').count()) === 0 && !seen.includes((await keys(page))[0]));
    }
    check(new Set(seen).size === seen.length, 'no event is on two pages');
    check(seen.length >= Number(total), `${seen.length} events of at least ${total}`);
    await page.getByText('an older page').waitFor();
    const last = (await keys(page))[0];
    await page.goBack();
    await until('back is the page before', async () => { const now = await keys(page); return now.length && now[0] !== last && seen.includes(now[0]); });
    await page.getByRole('link', { name: 'Newest' }).click();
    await page.getByText('new ones on top').waitFor();
    await until('the newest', async () => { const now = await keys(page); return now.length && !seen.slice(100).includes(now[0]); });
    // Newer ones do not disturb who reads an older page; the story is the same whatever comes.
    check(query(page).cursor === undefined, 'the newest page has no cursor');
}

export async function eventInFull(stage, container, path, ...chain) {
    const page = await stage.open(`/sandbox-audit?container=${container}&verdict=deny`);
    const row = shown(page, path).first();
    await row.locator('a.what').click();
    const detail = page.locator('.detail');
    await detail.locator('.tree').waitFor();
    check(query(page).event !== undefined, 'the event is in the address');
    await until('the focus is on its heading', () => page.evaluate(() => document.activeElement.id === 'detail-heading'));
    // Who started whom, nested, outermost first.
    const depth = await detail.locator('.tree li').count();
    check(depth >= chain.length, `${depth} processes in the tree`);
    const names = await detail.locator('.tree li').evaluateAll((all) => all.map((one) => one.querySelector('.name').textContent));
    check(chain.every((name, i) => names[names.length - chain.length + i] === name), names.join(' > '));
    await page.keyboard.press('Escape');
    await until('closed', async () => !await detail.isVisible());
    check(await page.evaluate(() => document.activeElement.classList.contains('what')), 'the focus is back on its row');
    await page.goBack();
    await detail.locator('.tree').waitFor();
    await page.reload();
    await detail.locator('.tree').waitFor();
    await detail.getByRole('button', { name: 'As JSON' }).click();
    check((await detail.locator('pre').innerText()).includes(`"path": "${path}"`), 'the payload as it stands in the trace');
    await detail.getByRole('link', { name: /30 s before/ }).click();
    await until('what happened around it', () => query(page).since !== undefined && query(page).until !== undefined);
    await shown(page, path).first().waitFor();
}

export async function timelineLeadsToEvents(stage, container) {
    const page = await stage.open(`/sandbox-audit?container=${container}`);
    await page.locator('svg.timeline rect.all').first().waitFor();
    const label = await page.locator('svg.timeline').getAttribute('aria-label');
    check(/^\d.* events, \d+ blocked/.test(label), label);
    await page.getByText('as a table').click();
    const lines = page.locator('.as-table tbody tr');
    await lines.first().waitFor();
    check(await page.locator('.as-table th[scope=col]').count() === 4, 'the table has headings');
    const counted = (await lines.locator('td:nth-child(2)').allInnerTexts()).reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0);
    check(counted === Number(/^[\d,]+/.exec(label)[0].replaceAll(',', '')), `the table says ${counted}, the picture ${label}`);
    const n = Number((await lines.first().locator('td').nth(1).innerText()).replaceAll(',', ''));
    await lines.first().locator('a').click();
    await until('that time only', () => query(page).since !== undefined && query(page).until !== undefined && query(page).container === container);
    await until('its events', async () => (await rows(page).count()) === Math.min(n, 100));
}

export async function whoTalkedToWhom(stage, container, host) {
    const page = await stage.open();
    const flow = page.locator('table.flows tbody tr').filter({ hasText: host }).first();
    await flow.waitFor();
    check((await flow.innerText()).includes(container), 'it says who');
    await flow.getByRole('link', { name: host }).click();
    await until('its events', async () => query(page).container === container && (await shown(page, host).count()) > 0);
}

/** stop, start: programs that end the server and bring it back. */
export async function lostConnectionIsShown(stage, stop, start, container) {
    const { execFileSync } = await import('node:child_process');
    stage.expected.add('ERR_CONNECTION_REFUSED').add('ERR_INCOMPLETE_CHUNKED_ENCODING').add('ERR_EMPTY_RESPONSE').add('ERR_CONNECTION_RESET').add('ERR_NETWORK_IO_SUSPENDED').add('401');
    const page = await stage.open(`/sandbox-audit?container=${container}`);
    await live(page);
    execFileSync(stop, { stdio: 'inherit' });
    await page.locator('.connection.lost').waitFor();
    await page.locator('#notice').getByText('what is shown gets old').waitFor();
    check(await rows(page).count() > 0, 'what was there stays readable');
    execFileSync(start, { stdio: 'inherit' });
    await page.getByRole('button', { name: 'Try now' }).click().catch(() => {});
    await until('it is live again, or asks who we are', async () => (await page.locator('.connection.live').count()) + (await page.locator('#token').count()) > 0);
}
