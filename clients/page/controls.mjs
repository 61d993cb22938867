// Runs are steered from the page while the server goes away and comes back.

import { answered, assert, expect, given, open, tab } from './browser.mjs';

const { chromium, url, gate, run, question } = given();
const tell = async (what) => assert.ok((await fetch(`${gate}/${what}`)).ok, what);

await open(chromium, async (browser) => {
  // The server goes away: the page says so and goes on where it was.
  const page = await tab(browser, url, { quiet: ['ERR_', 'Failed to fetch'] });
  await page.goto('/run/' + run);
  await expect(page.locator('.member.working')).atLeast(2);
  const todos = await page.locator('.todos li').count();
  await tell('restart');
  await page.getByRole('button', { name: 'Steer' }).click();
  await page.locator('.steer input').fill('The mayor of today counts.');
  await page.getByRole('button', { name: 'Tell' }).click();
  await expect(page.locator('.steer')).text('Told.');

  // A pause lets what is under way end; then it goes on to its report.
  await answered(page, /\/pause$/, () => page.getByRole('button', { name: 'Pause' }).click());
  await tell('open');
  await expect(page.locator('.pill.paused')).shown();
  assert.ok((await page.locator('.todos li').count()) >= todos);
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(page.locator('.pill.done')).shown();
  await page.locator('#tab-log').click();
  await expect(page.locator('.log li span')).atLeast(50);
  const shown = (await page.locator('.log li span').allInnerTexts()).map(Number);
  shown.forEach((seq, i) => assert.equal(seq, shown[0] + i, 'an event is missing, or there twice'));
  await page.locator('#tab-report').click();
  await expect(page.locator('.report button.cite')).atLeast(3);
  await page.done();

  // Finish now ends with what there is.
  await tell('close');
  const started = await fetch(url + '/api/runs', { method: 'POST', body: JSON.stringify({ mode: 'deep_research', question, no_input: true, in: { web: {} } }) });
  const other = await tab(browser, url);
  await other.goto('/run/' + (await started.json()).id);
  await expect(other.locator('.member.working')).atLeast(2);
  await answered(other, /\/finish$/, () => other.getByRole('button', { name: 'Finish now' }).click());
  await tell('open');
  await expect(other.locator('.pill.done')).shown();
  await other.locator('#tab-report').click();
  await expect(other.locator('.report .prose')).shown();
  await other.done();
});
