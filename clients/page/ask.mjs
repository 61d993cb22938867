// What can be chosen before a question is asked, and what is said of it before.

import { accessible, assert, expect, fits, given, open, tab, titled } from './browser.mjs';

const { chromium, url, shots } = given();

await open(chromium, async (browser) => {
  const page = await tab(browser, url);
  let sent;
  page.on('request', (r) => r.method() === 'POST' && r.url().endsWith('/api/runs') && (sent = r.postDataJSON()));
  const ask = async (question) => {
    sent = undefined;
    await page.locator('#question').fill(question);
    await page.locator('#question').press('Enter');
    await page.waitForURL(/\/(run|talk)\//);
    const asked = sent;
    await page.goto('/');
    await expect(page.locator('.modes label')).count(4);
    return asked;
  };
  const chip = (name) => page.locator('.chip', { hasText: name });
  await page.goto('/');

  // What each kind takes and reads.
  await expect(page.locator('.mode')).count(4);
  const modes = (await page.locator('.mode').allInnerTexts()).map((m) => m.replace(/\s+/g, ' '));
  assert.deepEqual(modes, ['Chat under 5 s · no sources', 'Search 10–30 s · 4–8 sources', 'Deep search 30–60 s · 8–16 sources', 'Deep research 2–10 min · 20–50+ sources']);
  await page.locator('input[value=deep_research]').check({ force: true });
  await expect(page.locator('.estimate')).text('Expect 2–10 min · 20–50+ sources.');
  await expect(page.locator('.engine')).text('scripted');
  await expect(page.locator('.runs, section .empty')).text('Nothing has been asked yet.');

  // A tag chooses all collections that have it.
  await chip('#sea').click();
  assert.ok((await chip('papers').locator('input').isChecked()) && (await chip('letters').locator('input').isChecked()) && !(await chip('laws').locator('input').isChecked()));
  assert.equal(await chip('#old').locator('input').isChecked(), true);

  // Depth and budget, a model of one's own: the badge says who will answer.
  await page.locator('.more summary').click();
  await page.getByLabel('Model').fill('another');
  await expect(page.locator('.question .engine')).text('another');
  for (const [label, value] of [['At most, USD', '0.5'], ['At most, minutes', '3'], ['At most, tokens', '9000'], ['Depth: at most, searches', '12'], ['Depth: at most, pages read', '30']]) await page.getByLabel(label).fill(value);
  await page.getByLabel('Show me the plan').uncheck();
  await accessible(page, 'all settings');
  await fits(page, 'all settings');
  if (shots) await page.screenshot({ path: shots + '/ask-settings.png', fullPage: true });
  const deep = await ask('Which laws are there of the sea?');
  assert.deepEqual(deep, {
    mode: 'deep_research', question: 'Which laws are there of the sea?', model: 'another', plan: 'auto', limits: { cost: 0.5, time: 180e9, tokens: 9000, searches: 12, pages: 30 },
    in: { collection: deep.in.collection, also: deep.in.also },
  });
  assert.deepEqual([deep.in.collection, ...deep.in.also.map((x) => x.collection)].sort(), ['letters', 'papers']);

  // An engine can be chosen without a detour: it searches the web.
  await chip('Wherever fits').click();
  await page.locator('input[value=deep_search]').check({ force: true });
  await page.locator('.more summary').click();
  await page.getByLabel('As deep as it goes').check();
  await chip('wikipedia').click();
  await expect(page.locator('.chip.on', { hasText: 'The web' })).shown();
  await chip('wikipedia').click(); // none of them is all of them
  await chip('searxng').click();
  const wide = await ask('Who is the mayor of Oststrand?');
  assert.deepEqual(wide, { mode: 'quality', question: 'Who is the mayor of Oststrand?', in: { web: { engines: ['searxng'] } } });

  // What it took is told before the next one, and what a limit below that means.
  await expect(page.locator('.runs li', { hasText: 'mayor' })).text('done');
  await expect(page.locator('.runs li', { hasText: 'mayor' })).text('Deep search, as deep as it goes');
  await page.reload();
  await expect(page.locator('.estimate')).text(/Your last 1 run of this kind: about \d+:\d\d .*tokens/);
  await page.locator('.more summary').click();
  await page.getByLabel('At most, tokens').fill('1');
  await expect(page.locator('.estimate')).text('more than the limit (tokens)');

  // Whoever goes to another screen with the keyboard is there.
  for (const to of ['library', 'knowledge', 'library']) {
    await page.locator(`nav a[href="/${to}"]`).press('Enter');
    await page.waitForURL(url + '/' + to);
    await expect(page.locator('main#main:focus')).shown();
  }
  await page.done();

  // Where there is nothing to look in, the page says what to do.
  const bare = await tab(browser, url);
  const json = (body) => (r) => r.fulfill({ contentType: 'application/json', body: JSON.stringify(body) });
  await bare.route('**/api/abilities', json({ modes: ['chat', 'web_search'], models: [], engines: [], limits: {} }));
  await bare.route('**/api/kb/collections', json({ collections: null }));
  await bare.goto('/');
  await expect(bare.locator('.engine.none')).text('Quotes only, no model');
  await expect(bare.locator('.notice a[href="/knowledge"]')).text('nothing to look in yet');
  await bare.locator('.more summary').click();
  await expect(bare.getByLabel('At most, tokens')).gone();
  await accessible(bare, 'nothing to look in');
  await bare.done();

  // The palette comes on any keyboard: these keys are those of a Russian one.
  const keys = await tab(browser, url, { lang: 'ru' });
  await keys.goto('/library');
  await expect(keys.locator('h1')).shown();
  await titled(keys, 'Библиотека · Dossier');
  const press = (key, code, ctrlKey = false) => keys.evaluate((init) => document.body.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true })), { key, code, ctrlKey });
  await press('л', 'KeyK', true);
  await expect(keys.locator('.palette input')).shown();
  await keys.locator('.palette input').fill('такого нигде нет');
  await expect(keys.locator('.palette [role=status]')).text('Ничего не подходит');
  await keys.keyboard.press('Escape');
  await expect(keys.locator('.palette')).gone();
  await press('т', 'KeyN');
  await keys.waitForURL(url + '/');
  await keys.done();
});
