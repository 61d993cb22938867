// The main path with no model: what is delivered are quotations, and the page says
// so before and after.

import { accessible, assert, expect, fits, given, open, tab } from './browser.mjs';

const { chromium, url, disputed, question, collection, words } = given();

await open(chromium, async (browser) => {
  const page = await tab(browser, url, { width: 390, height: 844 });
  await page.goto('/');
  await expect(page.locator('.engine.none')).text('Quotes only, no model');
  assert.ok(await page.locator('input[value=chat]').isDisabled(), 'chat needs a model');
  await page.locator('.chip', { hasText: collection }).click();
  await page.locator('#question').fill(question);
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.waitForURL(/\/run\//);
  await expect(page.locator('.pill.done')).shown();
  await expect(page.locator('.report')).text(words);
  await expect(page.locator('.bar-top .engine.none')).text('Quotes only, no model');
  await page.locator('button.cite').first().click();
  await expect(page.locator('.popover blockquote')).text(words);
  await page.getByRole('link', { name: 'Open at passage' }).click();
  await expect(page.locator('.snapshot mark')).text(words);
  await page.goBack();
  await expect(page.locator('.report')).text(words);
  await fits(page, 'the report on a phone');
  await accessible(page, 'the report on a phone');

  // Where sources disagree, both are shown, each with its passage.
  await page.goto('/run/' + disputed);
  await expect(page.locator('.conflicts')).text('Sources disagree');
  for (const value of ['41', '43']) await expect(page.locator('.conflicts blockquote', { hasText: `${value} metres high` }).locator('strong')).text(value);
  await page.locator('.conflicts a').last().click();
  await expect(page.locator('.snapshot mark')).text('metres high');

  // What is found again in the library.
  await page.goto('/library');
  await page.getByRole('searchbox').fill('nothingofthekind');
  await expect(page.locator('.empty')).text('Nothing fits');
  await page.getByRole('searchbox').fill(question.split(' ').pop().replace('?', ''));
  await expect(page.locator('.runs li')).atLeast(1);

  // The collection: what is in it, what of it can't be read and why, and its end.
  await page.goto('/knowledge');
  await page.locator('.runs a', { hasText: collection }).click();
  await expect(page.locator('main')).text('Could not be read: 1');
  await expect(page.locator('.files > li.failed')).text('broken.pdf');
  await page.getByRole('button', { name: 'Use where none is named' }).click();
  await expect(page.locator('.tag')).text('in use');
  await fits(page, 'a collection on a phone');
  page.removeAllListeners('dialog');
  page.once('dialog', (d) => d.accept());
  await page.getByRole('button', { name: 'Delete the collection' }).click();
  await expect(page.locator('.empty')).text('There are no collections yet');
  await page.done();

  // A run that is not there is said to be not there, and what to do.
  const lost = await tab(browser, url, { quiet: ['404'] });
  await lost.goto('/run/nothing');
  await expect(lost.locator('.notice.bad')).shown();
  await lost.done();
});
