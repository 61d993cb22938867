// The main path: ask, answer what is asked back, change the plan, watch the team,
// read the report, open the passage behind a sentence, take the PDF along.

import { readFileSync } from 'node:fs';
import { accessible, assert, expect, fits, given, open, tab } from './browser.mjs';

const { chromium, url, gate, question, task, shots } = given();
const shot = async (page, name) => shots && page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });

await open(chromium, async (browser) => {
  const page = await tab(browser, url);
  await page.goto('/');
  await page.locator('#question').fill(question);
  await page.locator('input[value=deep_research]').check({ force: true });
  await page.locator('.chip', { hasText: 'The web' }).click();
  await shot(page, 'ask');
  await page.locator('#question').press('Enter');
  await page.waitForURL(/\/run\//);

  // It asks what is meant.
  await expect(page.locator('.asks .asked')).text('Do you mean the town or the county?');
  await accessible(page, 'a question');
  await shot(page, 'question');
  await page.locator('.asks textarea').fill('the town');
  await page.getByRole('button', { name: 'Answer' }).click();

  // The plan can be changed before anything is spent on it.
  await expect(page.locator('.plan li input')).atLeast(2);
  await accessible(page, 'a plan');
  await shot(page, 'plan');
  const parts = await page.locator('.plan li input').count();
  await page.getByRole('button', { name: `Take part ${parts} out` }).click();
  await page.getByRole('button', { name: 'Add a part' }).click();
  await page.locator('.plan li input').last().fill(task);
  await page.getByRole('button', { name: 'Start with these changes' }).click();
  await expect(page.locator('.plan')).gone();

  // The board, live: researchers are at work, and wait until they were looked at.
  await page.locator('#tab-work').click();
  await expect(page.locator('.steps')).text(task);
  await expect(page.locator('.member.working')).atLeast(1);
  await expect(page.locator('.member .todos li.active')).atLeast(1);
  await accessible(page, 'the board');
  await fits(page, 'the board');
  await shot(page, 'board');
  const before = await page.locator('.board').innerText();

  // A second tab, and the first one after a reload, show the same.
  const other = await tab(browser, url);
  await other.goto(page.url());
  await other.locator('#tab-work').click();
  await expect(other.locator('.member.working')).atLeast(1);
  await page.reload();
  await page.locator('#tab-work').click();
  await expect(page.locator('.steps')).text(task);
  for (const p of [page, other]) await expect(p.locator('.board')).text(before.split('\n')[0]);
  await expect(page.locator('.member')).as(other.locator('.member'));
  await expect(page.locator('.todos li')).as(other.locator('.todos li'));
  await fetch(gate + '/open');

  // The report, in both tabs, without anything done for it.
  for (const p of [page, other]) {
    await expect(p.locator('.pill.done')).shown();
    await p.locator('#tab-report').click();
    await expect(p.locator('.report button.cite')).atLeast(5);
  }
  await other.done();
  await expect(page.locator('.outline li')).atLeast(3);
  await expect(page.locator('.sources li')).atLeast(2);
  await shot(page, 'report');
  await accessible(page, 'the report');

  // What had to be known was found out.
  await page.locator('#tab-work').click();
  await expect(page.locator('.steps .mark.done')).atLeast(1);
  await page.locator('#tab-report').click();

  // Behind a number stands the passage, and it stands in the text that was read.
  await page.locator('.report button.cite.verified').first().click();
  await expect(page.locator('.popover blockquote')).shown();
  const quote = (await page.locator('.popover blockquote').innerText()).replace(/\s+/g, ' ').trim();
  assert.ok(quote.length > 10, quote);
  await expect(page.locator('.popover')).text('Found word for word in the source');
  await accessible(page, 'the popover');
  if (shots) await page.screenshot({ path: `${shots}/popover.png` });
  await page.getByRole('link', { name: 'Open at passage' }).click();
  await expect(page.locator('.snapshot mark')).shown();
  const marked = (await page.locator('.snapshot mark').innerText()).replace(/\s+/g, ' ');
  assert.ok(marked.includes(quote) || quote.includes(marked.trim()), `“${quote}” is not in what is marked: “${marked}”`);
  await expect(page.locator('.snapshot mark')).inSight();
  await shot(page, 'passage');
  await page.getByRole('link', { name: 'Back to the report' }).click();
  await expect(page.locator('.report button.cite')).atLeast(5);

  // Esc closes a popover, and the focus is where it was.
  const cite = page.locator('.report button.cite').nth(1);
  await cite.focus();
  await cite.press('Enter');
  await expect(page.locator('.popover')).shown();
  await page.keyboard.press('Escape');
  await expect(page.locator('.popover')).gone();
  await expect(cite).focused();

  // The PDF.
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'PDF' }).click()]);
  const pdf = readFileSync(await saved.path());
  assert.ok(pdf.subarray(0, 5).toString() === '%PDF-' && pdf.length > 5000, `a PDF of ${pdf.length} bytes`);
  await saved.saveAs(given().pdf);

  // A suggestion goes on in the same conversation.
  await expect(page.locator('.followup li button')).atLeast(1);
  await page.locator('#tab-log').click();
  await expect(page.locator('.log li')).atLeast(50);
  await page.done();
});
