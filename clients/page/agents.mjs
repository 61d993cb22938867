// Templates, instances and tools, as somebody uses them who has agents of their own.

import { accessible, assert, expect, given, open, tab } from './browser.mjs';

const { chromium, url, gate, first, second, shots } = given();

await open(chromium, async (browser) => {
  const page = await tab(browser, url, { quiet: ['400'] });
  const sure = () => (page.removeAllListeners('dialog'), page.once('dialog', (d) => d.accept()));
  const button = (name) => page.getByRole('button', { name, exact: true });

  // A template, then its second version, and how they differ.
  await page.goto('/');
  await page.locator('nav a[href="/fleet"]').click();
  await expect(page.locator('#templates ~ .empty')).text('No templates yet');
  await page.getByText('New template').click();
  await page.getByLabel('Name', { exact: true }).first().fill('careful');
  await page.getByLabel('Document').fill('base_class: Nobody\n');
  await button('Save').click();
  await expect(page.locator('[role=alert]')).text('Nobody');
  await page.getByLabel('Document').fill(first);
  await page.getByLabel('Note').fill('the first one');
  await button('Save').click();
  await page.waitForURL(/\/fleet\/templates\/careful$/);
  await expect(page.locator('.cards li')).count(1);
  await expect(page.locator('pre.code')).text('Answers questions about lamps with care.');
  await button('Publish').click();
  await expect(page.locator('.meta .tag')).text('version 1 published');
  await page.getByText('New version').click();
  await page.locator('.fields textarea').fill(second);
  await page.getByLabel('Note').fill('towers too');
  await button('Save').click();
  await expect(page.locator('.cards li')).count(2);
  await expect(page.locator('.cards li').first()).text('towers too');
  await expect(page.locator('.diff .add')).count(2);
  await expect(page.locator('.diff .cut')).count(2);
  await expect(page.locator('.diff')).text('+tools: [add_note_tool, final_answer_tool]');
  await accessible(page, 'a template');
  await page.getByLabel('Shown').selectOption('1');
  await page.getByLabel('Compared with').selectOption('0');
  await expect(page.locator('pre.code')).text('with care.');
  await page.reload();
  await expect(page.locator('.diff .add')).count(2);
  await page.locator('.cards li').first().getByRole('button', { name: 'Publish' }).click();
  await expect(page.locator('.meta .tag').first()).text('version 2 published');
  await page.locator('.cards li').nth(1).getByRole('button', { name: 'Publish' }).click(); // back again
  await expect(page.locator('.meta .tag').first()).text('version 1 published');

  // The directory knows it by what it is for.
  await page.locator('nav.top, header nav').first().locator('a[href="/fleet"]').click();
  await page.getByPlaceholder('What do you want done?').fill('a question about a lamp');
  await expect(page.locator('.cards li').first()).text('careful');

  // An instance is made and asked; what it was asked is a run.
  await page.getByText('Make an instance').first().click();
  await page.locator('.three input').first().fill('desk');
  await button('Make an instance').click();
  await page.waitForURL(/\/fleet\/instances\//);
  const desk = page.url();
  await expect(page.locator('.pill')).text('ready');
  await accessible(page, 'an instance');
  if (shots) await page.screenshot({ path: shots + '/instance.png', fullPage: true });
  await page.getByPlaceholder('What is it to do?').fill('Where is the lamp?');
  await page.getByPlaceholder('What is it to do?').press('Enter');
  await page.waitForURL(/\/run\//);
  await expect(page.locator('.prose')).text('The lamp is in the tower.');
  await expect(page.locator('.pill.done')).shown();
  await page.goto(desk);
  await expect(page.locator('.figures')).text(/Served\s+1/);

  // Three come at once to one slot: the list says what it does and who waits, and
  // that it is over.
  assert.ok((await fetch(gate + '/close')).ok);
  const ask = (question) => fetch(url + '/api/runs', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ mode: 'agent', instance: desk.split('/').pop(), question }) });
  for (const n of [1, 2, 3]) assert.equal((await ask('Wait, ' + n)).status, 201);
  await page.goto('/fleet');
  await expect(page.locator('#instances ~ .runs')).text(/busy\s+At work 1\/1\s+Waiting 2\/10/);
  await accessible(page, 'an instance at work');
  assert.ok((await fetch(gate + '/open')).ok);
  await expect(page.locator('#instances ~ .runs')).text(/ready/);
  await page.goto(desk);
  await expect(page.locator('.figures')).text(/Served\s+4/);
  await button('Stop').click();
  await expect(page.locator('.pill')).text('stopped');
  assert.ok(await page.getByPlaceholder('What is it to do?').isDisabled());
  await button('Start').click();
  await expect(page.locator('.pill')).text('ready');
  await button('Take nothing new').click();
  await expect(page.locator('.pill')).text('stopped');
  await page.locator('select').selectOption('2');
  await expect(page.locator('.meta').first()).text('Version 2');
  sure();
  await button('Delete').click();
  await page.waitForURL(/\/fleet$/);
  await expect(page.locator('#instances ~ .empty')).shown();

  // A tool is found by what it does, and called with a form made of its schema.
  await page.locator('nav.tabs a[href="/fleet/tools"]').click();
  await expect(page.locator('.runs li')).atLeast(10);
  await page.getByRole('searchbox').fill('search the web');
  await expect(page.locator('.runs li').nth(1)).text('websearchtool');
  await expect(page.locator('.runs')).text('bocha_web_search_tool');
  await expect(page.locator('.runs li', { hasText: 'adaptplantool' })).gone();
  await page.getByRole('link', { name: /^websearchtool/ }).click();
  await page.getByLabel('reasoning').fill('to see what it finds');
  await page.getByLabel('query').fill('Oststrand mayor');
  await accessible(page, 'a tool');
  await button('Call it').click();
  await expect(page.locator('pre.result')).text('Oststrand');
  if (shots) await page.screenshot({ path: shots + '/tool-called.png', fullPage: true });
  await page.goto('/fleet/tools/reasoningtool');
  await page.getByLabel('reasoning_steps').fill('one');
  await page.getByLabel('current_situation').fill('x');
  await page.getByLabel('plan_status').fill('x');
  await page.getByLabel('remaining_steps').fill('one');
  await button('Call it').click();
  await expect(page.locator('[role=alert]')).text('reasoning_steps'); // it wants two
  await page.goto('/fleet/tools/nosuchtool');
  await expect(page.locator('.empty')).text('No such tool');

  await page.goto('/fleet/templates/careful');
  sure();
  await button('Delete').click();
  await page.waitForURL(/\/fleet$/);
  await expect(page.locator('#templates ~ .empty')).shown();
  await page.done();
});
