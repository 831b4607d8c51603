// Who gets in, and who does not.
import { check, until } from './driver.mjs';

const form = (page) => page.locator('#login-heading');

async function tokenIs(page, token) {
    await page.fill('#token', token);
    await page.click('button[type=submit]');
}

export async function tokenLogsIn(stage) {
    stage.expected.add('401').add('403');
    const context = await stage.person();
    const page = await context.newPage();
    await page.goto(`${stage.base}/sandbox-audit?severity=high`);
    await form(page).waitFor();
    check(await page.evaluate(() => document.activeElement.id) === 'token', 'the field for the token has the focus');
    check(await page.locator('.pending, table').count() === 0, 'nothing of the desk is shown without a session');
    await tokenIs(page, 'not-the-token');
    await page.locator('#login-problem').getByText('not the token').waitFor();
    check(await page.locator('#urgent').textContent() !== null, 'it is announced');
    await page.fill('#who', 'ann <b>');
    await tokenIs(page, process.env.DESK_TOKEN);
    await page.locator('#log-out').waitFor();
    check(await page.locator('.user').innerText() === 'ann <b>', 'the name is shown');
    check(new URL(page.url()).search === '?severity=high', 'the place that was asked for is shown');
    const cookies = await context.cookies();
    check(cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === 'Strict', JSON.stringify(cookies));
    check(await page.evaluate(() => document.cookie) === '', 'no script can read the session');
    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    check(!stored.includes(process.env.DESK_TOKEN), 'the token is not kept');
    // The session outlives the page, and ends by logging out: for the page, and for who kept the cookie.
    await page.reload();
    await page.click('#log-out');
    await form(page).waitFor();
    await context.addCookies(cookies);
    await page.reload();
    await form(page).waitFor();
    check((await context.request.get(`${stage.base}/api/pending`)).status() === 401, 'the old cookie opens nothing');
}

export async function linkLogsInOnce(stage, link) {
    stage.expected.add('401').add('403');
    const first = await (await stage.person()).newPage();
    await first.goto(link);
    await first.locator('#log-out').waitFor();
    check(first.url() === `${stage.base}/sandbox-audit`, `the code is not left in the address: ${first.url()}`);
    const second = await (await stage.person()).newPage();
    await second.goto(link);
    await form(second).waitFor();
    await second.locator('#login-problem').getByText('does not work any more').waitFor();
}

/** A session that ends elsewhere: the page says so, and shows nothing more. */
export async function sessionEndsElsewhere(stage) {
    stage.expected.add('401');
    const page = await stage.open();
    await page.locator('.connection.live').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${stage.base}/sandbox-audit`);
    await other.click('#log-out');
    await page.locator('nav[aria-label=Pages] a', { hasText: 'Containers' }).click();
    await form(page).waitFor();
    check(await page.locator('table').count() === 0, 'nothing is left on the screen');
}

/** A page of another port on this host, in the same browser, with the desk open beside it. */
export async function otherOriginCannotAct(stage, otherBase, pause, container) {
    stage.expected.add('403').add('401').add('405').add('ERR_FAILED').add('ERR_BLOCKED_BY_RESPONSE').add('undefined').add(undefined);
    stage.elsewhere = (url) => url.origin === otherBase;
    const page = await stage.open();
    const evil = await page.context().newPage();
    await evil.goto(otherBase);
    const results = await evil.evaluate(async ({ desk, pause, container }) => {
        const tell = async (work) => {
            try {
                return await work();
            } catch (error) {
                return `refused: ${error.name}`;
            }
        };
        const post = (path, more) => tell(async () => {
            const response = await fetch(desk + path, { method: 'POST', credentials: 'include', body: '{"always":true}', ...more });
            return `${response.type} ${response.status}`;
        });
        return {
            read: await tell(async () => (await fetch(`${desk}/api/pending`, { credentials: 'include' })).status),
            session: await tell(async () => (await (await fetch(`${desk}/api/session`, { credentials: 'include' })).json()).csrf),
            approve: await post(`/api/pending/${pause}/approve`, { headers: { 'Content-Type': 'application/json' } }),
            plain: await post(`/api/pending/${pause}/approve`, { mode: 'no-cors', headers: { 'Content-Type': 'text/plain' } }),
            kill: await post(`/api/containers/${container}/kill`, { mode: 'no-cors' }),
            guessed: await post(`/api/pending/${pause}/approve`, { headers: { 'X-CSRF-Token': 'guess' } }),
        };
    }, { desk: stage.base, pause, container });
    check(String(results.read).startsWith('refused') && String(results.session).startsWith('refused'), JSON.stringify(results));
    for (const way of ['approve', 'guessed'])
        check(results[way].startsWith('refused'), JSON.stringify(results));
    // By a form, which no browser asks about beforehand, and in a frame.
    await evil.evaluate(({ desk, pause }) => {
        const frame = document.createElement('iframe');
        frame.name = 'sink';
        const framed = document.createElement('iframe');
        framed.src = `${desk}/sandbox-audit`;
        framed.id = 'framed';
        const form = document.createElement('form');
        Object.assign(form, { method: 'POST', action: `${desk}/api/pending/${pause}/deny`, target: 'sink', enctype: 'text/plain' });
        document.body.append(frame, framed, form);
        form.submit();
    }, { desk: stage.base, pause });
    await until('the frame was refused', async () => (await evil.locator('#framed').contentFrame().locator('#top').count()) === 0);
    // Nothing of it happened: it still waits, and the container runs.
    check(await page.locator(`[data-pause="${pause}"] .actions button`).first().isVisible(), 'it still waits for an answer');
    const answer = await page.context().request.get(`${stage.base}/api/pending`);
    check((await answer.json()).pending.some((one) => one.pause_id === pause), 'it still waits, says the desk');
}

export async function nothingWithoutToken(stage, ...paths) {
    const context = await stage.person();
    for (const path of paths) {
        const answer = await context.request.get(stage.base + path, { failOnStatusCode: false });
        check(answer.status() === 401, `${path}: ${answer.status()}`);
        check(!(await answer.text()).includes('shadow'), `${path} tells something`);
    }
}
