// What a first visit loads, and what is said where a part of the page doesn't come.

import { assert, expect, given, open, tab } from './browser.mjs';

const { chromium, url } = given();

await open(chromium, async (browser) => {
  const asked = [];
  const first = await tab(browser, url, { lang: 'ru' });
  first.on('request', (r) => asked.push(new URL(r.url()).pathname));
  // Whatever is drawn, at any moment, is in the language of the visitor.
  await first.addInitScript(() => {
    window.drawn = [];
    new MutationObserver(() => document.querySelector('h1') && window.drawn.push(document.querySelector('h1').textContent)).observe(document, { childList: true, subtree: true });
  });
  await first.goto('/');
  await expect(first.locator('h1')).text('Что вы хотите узнать?');
  assert.deepEqual([...new Set(await first.evaluate(() => window.drawn))], ['Что вы хотите узнать?']);
  assert.deepEqual(asked.filter((p) => /^\/page\/.*\.js(on)?$/.test(p)).sort(), ['/page/app.js', '/page/chunk.js', '/page/ru.json']);
  await first.locator('nav a[href="/settings"]').click();
  await expect(first.locator('h1')).text('Настройки');
  assert.ok(asked.includes('/page/screens.js'));
  // Another language comes when it is chosen, and stays.
  await first.locator('select').first().selectOption('zh');
  await expect(first.locator('h1')).text('设置');
  await first.reload();
  await expect(first.locator('h1')).text('设置');
  assert.equal(await first.locator('html').getAttribute('lang'), 'zh');
  await first.done();

  const lost = await tab(browser, url, { quiet: ['Failed to load resource'] });
  const another = async (r) => {
    const reply = await r.fetch();
    await r.fulfill({ contentType: 'text/javascript', headers: { 'Cache-Control': 'no-store' }, body: (await reply.text()).replace(/build="[^"]+"/, 'build="another"') });
  };
  for (const [name, how] of [['library', (r) => r.abort()], ['knowledge', another]]) {
    await lost.route('**/page/screens.js', how);
    await lost.goto('/');
    await lost.locator(`nav a[href="/${name}"]`).click();
    await expect(lost.locator('[role=alert]')).text('Reload the page');
    await lost.unrouteAll();
  }
  await lost.getByRole('button', { name: 'Reload' }).click();
  await expect(lost.locator('h1')).text('Knowledge');
  await lost.done();

  const mute = await tab(browser, url, { quiet: ['Failed to load resource'] });
  await mute.route('**/page/en.json', (r) => r.abort());
  await mute.goto('/');
  await expect(mute.locator('#page')).text('could not be loaded. Reload it');
  await mute.unrouteAll();
  await mute.route('**/page/en.json', (r) => r.fulfill({ json: { build: 'another', numbered: ['wrong'], named: {} } }));
  await mute.goto('/');
  await expect(mute.locator('#page')).text('could not be loaded. Reload it');
  await mute.done();
});
