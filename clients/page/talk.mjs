// A conversation: three turns, a question changed and asked in a branch, a reload,
// a new title, and the end of it.

import { accessible, assert, expect, fits, given, open, tab } from './browser.mjs';

const { chromium, url, shots } = given();

await open(chromium, async (browser) => {
  const page = await tab(browser, url);
  await page.goto('/');
  await page.locator('#question').fill('first question');
  await page.locator('input[value=chat]').check({ force: true });
  await page.locator('#question').press('Enter');
  await page.waitForURL(/\/talk\//);
  const first = page.url();
  const answers = page.locator('.turn .prose');
  // over waits for the end of a turn: what is said in one that goes on is not known to the next.
  const over = async (turns, said) => {
    await expect(page.locator('.turn')).count(turns);
    await expect(page.locator('.turn').last().locator('.prose')).text(said);
    await expect(page.locator('.turn').last().getByRole('button', { name: 'Cancel' })).gone();
  };
  await over(1, 'first question');
  for (const [i, q] of ['second question', 'third question'].entries()) {
    await page.locator('.say textarea').fill(q);
    await page.locator('.say textarea').press('Enter');
    await over(i + 2, q);
  }
  await page.reload();
  await expect(page.locator('.turn')).count(3);
  await expect(answers).text('third question');
  assert.deepEqual(await page.locator('.asked-by p').allInnerTexts(), ['first question', 'second question', 'third question']);
  await accessible(page, 'a conversation');
  if (shots) await page.screenshot({ path: `${shots}/talk.png`, fullPage: true });

  // The second question in other words: what came before it goes along, what came after does not.
  await page.locator('.turn').nth(1).getByRole('button', { name: 'Edit this question' }).click();
  await page.locator('.asked-again textarea').fill('second, said better');
  await page.getByRole('button', { name: 'Ask in a new branch' }).click();
  await page.waitForURL((u) => u.href !== first);
  await over(1, 'second, said better');
  await expect(page.locator('.earlier summary')).shown();
  await page.locator('.say textarea').fill('and in the branch?');
  await page.locator('.say textarea').press('Enter');
  await over(2, 'and in the branch?');
  await fits(page, 'a branch');
  await accessible(page, 'a branch');
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page, 'a branch on a phone');
  await page.setViewportSize({ width: 1440, height: 900 });

  // The conversation that it branched from is as it was.
  await page.goto(first);
  await expect(page.locator('.turn')).count(3);

  // The palette leads to a run by words that were said in it, with the keyboard alone.
  await page.keyboard.press('Control+k');
  await expect(page.locator('.palette input')).shown();
  await accessible(page, 'the palette');
  await page.keyboard.type('third');
  await expect(page.locator('.palette li')).count(1);
  await expect(page.locator('.palette li')).text('third question');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/run\//);
  await expect(page.locator('h1')).text('third question');
  await page.keyboard.press('?');
  await expect(page.locator('.palette.keys')).shown();
  await accessible(page, 'the keys');
  await page.keyboard.press('Escape');
  await expect(page.locator('.palette')).gone();
  await page.goto(first);
  await expect(page.locator('.turn')).count(3);

  // Another title, and no more of the branch.
  await expect(page.locator('aside li')).count(2);
  await page.locator('aside li', { hasText: 'first question' }).getByRole('button', { name: 'Rename' }).click();
  await page.locator('aside li input').fill('About questions');
  await page.locator('aside li input').press('Enter');
  await expect(page.locator('aside li')).text('About questions');
  page.removeAllListeners('dialog');
  page.once('dialog', (d) => d.accept());
  await page.locator('aside li', { hasText: 'second, said better' }).getByRole('button', { name: 'Delete' }).click();
  await expect(page.locator('aside li')).count(1);
  await page.done();
});
