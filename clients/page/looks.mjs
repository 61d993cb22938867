// Every screen in a language, light or dark, on a phone and on a wide screen:
// nothing sticks out, axe finds nothing, the page is in the language that was asked
// for.

import { assert, expect, given, looker, open, tab } from './browser.mjs';

const { chromium, url, run, shots, lang, dark } = given();
const words = { en: 'What do you want to know?', ru: 'Что вы хотите узнать?', zh: '你想了解什么？' };

await open(chromium, async (browser) => {
  const page = await tab(browser, url, { lang, dark, quiet: [] });
  const look = looker(page, { lang, dark, shots });
  await page.goto('/');
  await expect(page.locator('h1')).text(words[lang]);
  await expect(page.locator('.runs li')).atLeast(1);
  assert.equal(await page.locator('html').getAttribute('lang'), lang);
  await page.locator('.more summary').click();
  await look('ask');
  await page.goto('/run/' + run);
  await expect(page.locator('.report button.cite')).atLeast(1);
  await expect(page.locator('.exports button')).atLeast(5);
  await look('report');
  for (const name of ['work', 'sources', 'log']) {
    await page.locator('#tab-' + name).click();
    await expect(page.locator('#panel li')).atLeast(1);
    await look(name);
  }
  await page.goto(`/run/${run}/source/1`);
  await expect(page.locator('.snapshot')).shown();
  await look('snapshot');
  await page.goto('/talk/' + run);
  await expect(page.locator('.turn .prose button.cite')).atLeast(1);
  await look('talk');
  await page.goto('/fleet');
  await expect(page.locator('.cards li')).atLeast(2);
  await page.locator('.cards summary').first().click();
  await expect(page.locator('.runs li')).count(2);
  await look('agents');
  await page.goto('/fleet/templates/careful');
  await expect(page.locator('.diff .add')).atLeast(1);
  await look('template');
  await page.goto('/fleet');
  await page.locator('.runs a', { hasText: 'desk' }).click();
  await expect(page.locator('.figures')).shown();
  await look('instance');
  await page.goto('/fleet/tools');
  await expect(page.locator('.runs li')).atLeast(10);
  await look('tools');
  await page.goto('/fleet/tools/websearchtool');
  await expect(page.locator('.try label')).atLeast(2);
  await look('tool');
  await page.goto('/settings');
  await expect(page.locator('.findings li')).atLeast(5);
  await page.locator('details.more summary').last().click();
  await look('settings');
  await page.done();
});
