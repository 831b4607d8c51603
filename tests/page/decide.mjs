// Answers: what a person decides on the page happens to the container.
import { check, live, rows, until } from './driver.mjs';

const card = (page, pause) => page.locator(`[data-pause="${pause}"]`);
const gone = (page, pause) => until('its buttons are gone', async () => (await card(page, pause).count()) === 0 || !(await card(page, pause).locator('.actions').isVisible()));

/** word: the button; reason: what is typed beside it. */
export async function answer(stage, pause, word, reason) {
    const page = await stage.open();
    const one = card(page, pause);
    await one.getByLabel('Reason').fill(reason);
    await one.getByRole('button', { name: word, exact: true }).click();
    if (word === 'Kill container') {
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: 'Leave it' }).click();
        check(await one.getByRole('button', { name: 'Deny' }).isVisible(), 'nothing has happened yet');
        await one.getByRole('button', { name: word, exact: true }).click();
        await dialog.getByRole('button', { name: 'Kill it' }).click();
    }
    await gone(page, pause);
}

export async function cardSaysWhatWhoWhichWhy(stage, pause, container, policy) {
    const page = await stage.open();
    const one = card(page, pause);
    await one.waitFor();
    const text = await one.innerText();
    for (const part of ['critical', 'read', '/etc/shadow', 'cat /etc/shadow', 'sh', 'secrets', `${policy}.yaml, line `, 'is refused by rule', container, 'left, then it is denied', 'the operation waits'])
        check(text.includes(part), `the card does not say ${part}:\n${text}`);
    check((await page.title()).startsWith('(1) '), await page.title());
    await page.locator('#urgent').getByText('/etc/shadow').waitFor();
    // The time that is left runs, and is not announced.
    const before = await one.locator('.left').innerText();
    await until('the clock runs', async () => await one.locator('.left').innerText() !== before);
    check(await one.locator('[aria-live], [role=status], [role=alert], [role=timer]').count() === 0, 'the card is not chatty');
}

/** By the keyboard alone. */
export async function answerByKeyboard(stage, pause) {
    const page = await stage.open();
    await card(page, pause).waitFor();
    await page.keyboard.press('p');
    await until('p leads to what waits', () => page.evaluate((id) => document.activeElement.id === `pending-${id}`, pause));
    for (const key of ['a', 'd', 'k', 'y', 'Enter', ' ']) { // no key decides
        if (key === 'd' || key === 'k')
            continue; // these lead elsewhere
        await page.keyboard.press(key);
    }
    check(await card(page, pause).locator('.actions').isVisible(), 'no key has decided');
    for (let i = 0; i < 20; i++) {
        await page.keyboard.press('Tab');
        if (await page.evaluate(() => document.activeElement.textContent) === 'Deny')
            break;
    }
    check(await page.evaluate(() => document.activeElement.textContent) === 'Deny', 'Tab reaches the button');
    check(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle) !== 'none', 'the focus can be seen');
    await page.keyboard.press('Enter');
    await gone(page, pause);
    await page.locator('#polite').getByText('Denied').waitFor();
    await until('the focus is not lost', () => page.evaluate(() => document.activeElement !== document.body));
}

/** act: a program that answers it past this page. */
export async function answeredElsewhere(stage, pause, act) {
    const { execFileSync } = await import('node:child_process');
    const page = await stage.open();
    await live(page);
    const one = card(page, pause);
    await one.getByLabel('Reason').fill('half a sen');
    const height = (await one.boundingBox()).height;
    await one.hover();
    execFileSync(act, [pause], { stdio: 'inherit' });
    await one.getByText('Answered elsewhere').waitFor();
    check(!await one.locator('.actions').isVisible(), 'there is nothing to press any more');
    check((await one.boundingBox()).height >= height, 'and what stands below has not moved up');
    check(await page.evaluate(() => document.activeElement.tagName) === 'H3', 'the focus is kept on the card');
}

export async function containerIsPausedAndResumed(stage, container, probe) {
    const { execFileSync } = await import('node:child_process');
    const page = await stage.open(`/sandbox-audit/container/${container}`);
    await page.getByText('The chain stands.').waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await page.locator('#container-reason').fill('lunch');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.locator('.about .status', { hasText: 'paused' }).waitFor();
    execFileSync(probe, ['stands']);
    const waiting = page.locator('.card').filter({ hasText: container });
    await waiting.getByText('Somebody paused the container').waitFor();
    check(await waiting.getByRole('button', { name: /Approve/ }).count() === 0, 'there is nothing to approve');
    await page.locator('.about').getByRole('button', { name: 'Resume', exact: true }).click();
    await page.locator('.about .status', { hasText: 'watching' }).waitFor();
    execFileSync(probe, ['runs']);
    // The story has it, with who and in order.
    const story = page.locator('.story');
    await story.getByText('container stands still').first().waitFor();
    check((await story.innerText()).includes('start'), 'the story begins with the start');
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByText('The chain stands.').waitFor();
    check(await rows(page).count() > 0, 'all its events are listed');
}

export async function brokenTraceIsSaid(stage, container) {
    const page = await stage.open(`/sandbox-audit/container/${container}`);
    await page.getByText('The chain is broken.').waitFor();
    await page.locator('.issues li').first().waitFor();
}

export async function readOnlyHasNoButtons(stage, pause, container) {
    const page = await stage.open();
    await card(page, pause).waitFor();
    check(await page.locator('.card button:not(.cut), .card input').count() === 0, 'no buttons on the card');
    await page.getByText('read-only', { exact: true }).first().waitFor();
    await page.goto(`${stage.base}/sandbox-audit/container/${container}`);
    await page.getByText('The chain stands.').waitFor();
    check(await page.getByRole('button', { name: /Pause|Resume|Kill/ }).count() === 0, 'no buttons on its page');
}

export async function reviewIsClosed(stage, container) {
    const page = await stage.open('/sandbox-audit/reviews');
    const line = page.locator('tbody tr').filter({ hasText: container });
    await line.waitFor();
    await line.getByRole('link').first().click();
    await page.getByRole('heading', { name: /^Review/ }).waitFor();
    await page.getByRole('button', { name: 'Close review' }).click();
    check(await page.getByRole('button', { name: 'Close review' }).isVisible(), 'not without a verdict');
    await page.getByLabel('Verdict').selectOption('malicious');
    await page.getByLabel('Reason').fill('it read <b>the</b> secrets');
    await page.getByRole('button', { name: 'Close review' }).click();
    await page.getByText('closed:').waitFor();
    check((await page.locator('main').innerText()).includes('it read <b>the</b> secrets'), 'the reason is kept, as text');
    await page.goto(`${stage.base}/sandbox-audit/reviews?state=closed`);
    await page.locator('tbody tr').filter({ hasText: container }).waitFor();
}
