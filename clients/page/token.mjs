// A server that asks everybody for a token.

import { accessible, answered, assert, expect, given, open, tab } from './browser.mjs';

const { chromium, url, ann, bob } = given();

await open(chromium, async (browser) => {
  const page = await tab(browser, url, { quiet: ['401', '403'] });
  await page.goto('/');
  await expect(page.locator('h1')).text('This server asks for a token');
  await accessible(page, 'the question for a token');
  await page.locator('input[type=password]').fill('dossier_wrong');
  await answered(page, /\/api\/me$/, () => page.getByRole('button', { name: 'Use it' }).click());
  await expect(page.locator('h1')).text('This server asks for a token');
  await page.locator('input[type=password]').fill(ann);
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.locator('#question').fill('what is mine?');
  await page.locator('input[value=chat]').check({ force: true });
  await page.locator('#question').press('Enter');
  await page.waitForURL(/\/talk\//);
  await expect(page.locator('.turn .prose')).text('what is mine?');
  await page.getByRole('link', { name: 'Details' }).click();
  await expect(page.locator('.pill.done')).shown();
  const hers = page.url();

  // It is kept, and nowhere in an address.
  await page.reload();
  await expect(page.locator('.pill.done')).shown();
  assert.ok(!(await page.content()).includes(ann), 'the token is not in the page');
  await page.goto('/settings');
  await expect(page.locator('.notice')).shown(); // the checks are the operator's
  await page.getByRole('button', { name: 'Forget the token' }).click();
  await expect(page.locator('h1')).text('This server asks for a token');
  await page.done();

  const other = await tab(browser, url, { quiet: ['401', '404'] });
  await other.goto(hers);
  await other.locator('input[type=password]').fill(bob);
  await other.getByRole('button', { name: 'Use it' }).click();
  await expect(other.locator('.notice.bad')).shown();
  assert.ok(!(await other.locator('main').innerText()).includes('what is mine?'));
  await other.goto('/');
  await expect(other.locator('.empty')).text('Nothing has been asked yet');
  await other.done();
});
