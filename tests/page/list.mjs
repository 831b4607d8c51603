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

/** expected: a file with the event IDs of a container that has ended, one a line, newest first. */
export async function olderPagesByCursor(stage, container, expected) {
    const { readFileSync } = await import('node:fs');
    const all = readFileSync(expected, 'utf8').trim().split('\n');
    const page = await stage.open(`/sandbox-audit?container=${container}`);
    const older = page.getByRole('link', { name: 'Older', exact: true });
    const seen = [];
    for (;;) {
        const wanted = all.slice(seen.length, seen.length + 100);
        await until(`the ${wanted.length} events after the first ${seen.length}, in order`, async () => JSON.stringify(await keys(page)) === JSON.stringify(wanted));
        seen.push(...wanted);
        if (seen.length === all.length)
            break;
        await older.click();
    }
    check(all.length > 200, 'more than two pages');
    check(!await older.isVisible(), 'nothing is older than the oldest');
    await page.getByText('an older page').waitFor();
    const pages = Math.ceil(all.length / 100);
    await page.goBack();
    await until('back is the page before', async () => JSON.stringify(await keys(page)) === JSON.stringify(all.slice((pages - 2) * 100, (pages - 1) * 100)));
    await page.getByRole('link', { name: 'Newest' }).click();
    await page.getByText('new ones on top').waitFor();
    await until('the newest', async () => JSON.stringify(await keys(page)) === JSON.stringify(all.slice(0, 100)));
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
    // In one go, here and below: the container works on, and what is counted and the times of a column change with it.
    const [counts, drawn] = await page.evaluate(() => [
        [...document.querySelectorAll('.as-table tbody td:nth-child(2)')].map((cell) => cell.innerText),
        document.querySelector('svg.timeline').getAttribute('aria-label'),
    ]);
    const counted = counts.reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0);
    check(counted === Number(/^[\d,]+/.exec(drawn)[0].replaceAll(',', '')), `the table says ${counted}, the picture ${drawn}`);
    // The oldest: nothing is added to it any more.
    const n = await lines.last().evaluate((line) => {
        const said = line.querySelectorAll('td')[1].innerText;
        line.querySelector('a').click();
        return Number(said.replaceAll(',', ''));
    });
    await until('that time only', () => query(page).since !== undefined && query(page).until !== undefined && query(page).container === container);
    await until('its events', async () => (await rows(page).count()) === Math.min(n, 100));
}

/** It got something from host at port once, by its name; at the address denied nothing was to be had. */
export async function whoTalkedToWhom(stage, container, host, port, denied) {
    const page = await stage.open();
    const flow = (to) => page.locator('table.flows tbody tr').filter({ has: page.getByRole('link', { name: to, exact: true }) }).filter({ hasText: container });
    const cell = async (to, head) => (await flow(to).locator(`td[data-head="${head}"]`).innerText()).trim();
    const there = `${host}:${port}`;
    await flow(there).waitFor();
    await until('what was sent and received is known', async () => /^[1-9]\d* B$/.test(await cell(there, 'sent')) && /^[1-9]\d* B$/.test(await cell(there, 'received')));
    check(await cell(there, 'times') === '1' && await cell(there, 'blocked') === '0', `one connection that was let by: ${await flow(there).innerText()}`);
    check(await cell(denied, 'times') === '1' && await cell(denied, 'blocked') === '1', `one that was not: ${await flow(denied).innerText()}`);
    await page.goto(`${stage.base}/sandbox-audit/container/${container}`);
    await page.locator('table.flows').getByRole('link', { name: there, exact: true }).click();
    await until('its events', async () => query(page).container === container && (await shown(page, there).count()) > 0);
    check(await shown(page, denied).count() === 0, 'and no others');
}

// What a browser tells of a server that is not there for a while.
const ABSENT = ['ERR_CONNECTION_REFUSED', 'ERR_INCOMPLETE_CHUNKED_ENCODING', 'ERR_EMPTY_RESPONSE', 'ERR_CONNECTION_RESET', 'ERR_CONNECTION_CLOSED'];

/** act: a program that ends the process that speaks HTTP; with another word it does something in the container, at path. */
export async function lostConnectionComesBack(stage, act, container, path) {
    const { execFileSync } = await import('node:child_process');
    ABSENT.forEach((word) => stage.expected.add(word));
    const page = await stage.open(`/sandbox-audit?container=${container}`);
    await live(page);
    await rows(page).first().waitFor();
    // Each state that the page was in, so that none is missed however short it is.
    await page.evaluate(() => {
        globalThis.states = [];
        new MutationObserver(() => states.push(document.querySelector('.connection')?.textContent)).observe(document.querySelector('.connection'), { attributes: true, childList: true });
    });
    const user = await page.locator('.user').textContent();
    execFileSync(act, ['kill'], { stdio: 'inherit' });
    await until('it was said', () => page.evaluate(() => states.includes('connection lost')));
    execFileSync(act, ['touch'], { stdio: 'inherit' });
    await live(page);
    await shown(page, path).first().waitFor();
    await until('nothing is said any more', async () => (await page.locator('#notice').innerText()) === '');
    check(await page.locator('#token').count() === 0 && await page.locator('.user').textContent() === user, 'nobody had to log in');
    // The old session may also act.
    await page.click('#log-out');
    await page.locator('#token').waitFor();
}

/** stop, start: programs that end the whole server and bring it back; sessions end with it. */
export async function restartAsksForLogIn(stage, stop, start, container) {
    const { execFileSync } = await import('node:child_process');
    ABSENT.forEach((word) => stage.expected.add(word));
    stage.expected.add('401');
    const page = await stage.open(`/sandbox-audit?container=${container}`);
    await live(page);
    await rows(page).first().waitFor();
    execFileSync(stop, { stdio: 'inherit' });
    await page.locator('.connection.lost').waitFor();
    await page.locator('#notice').getByText('what is shown gets old').waitFor();
    await page.getByRole('button', { name: 'Try now' }).waitFor();
    check(await rows(page).count() > 0, 'what was there stays readable');
    execFileSync(start, { stdio: 'inherit' });
    // By itself: nobody presses anything.
    await page.locator('#login-problem').getByText('The session is over').waitFor();
    check(await page.locator('table').count() === 0, 'nothing is left on the screen');
    await page.fill('#token', process.env.DESK_TOKEN);
    await page.click('button[type=submit]');
    await live(page);
    await rows(page).first().waitFor();
    check(query(page).container === container, 'it is where it was');
}
