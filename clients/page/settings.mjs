// What the operator sets: connections are tried, tokens made and revoked; and what
// others see of it.

import OpenAI from 'openai';
import { accessible, assert, expect, given, open, tab } from './browser.mjs';

const { chromium, url, root, ann, key, shots } = given();

async function enter(page, token) {
  await page.goto('/settings');
  await page.locator('input[type=password]').fill(token);
  await page.getByRole('button', { name: 'Use it' }).click();
}

await open(chromium, async (browser) => {
  const page = await tab(browser, url, { quiet: ['401', '429'] });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await enter(page, root);

  // Each model and engine is tried with a real call.
  const row = (name) => page.locator('#connections ~ ul li', { hasText: name });
  await expect(page.locator('#connections ~ ul li')).count(5);
  for (const [name, says] of [['scripted', /Works, .* ms\. I am here\./], ['searxng', /Works, .* results?/], ['locked', 'The key is not accepted'], ['slow', 'did not answer in time'], ['busy', 'asks for fewer calls']]) {
    await page.getByRole('button', { name: 'Test ' + name }).click();
    await expect(row(name).locator('[role=status]')).text(says);
  }
  await expect(row('locked')).text('HTTP 401');
  await accessible(page, 'settings with results');
  if (shots) await page.screenshot({ path: shots + '/connections.png', fullPage: true });
  assert.ok(!(await page.content()).includes(key), 'the key is not in the page');
  for (let i = 0; i < 50 && !(await row('searxng').locator('[role=alert]').count()); i++) { // ten may come at once
    await page.getByRole('button', { name: 'Test searxng' }).click();
    await expect(row('searxng').locator('.spinner')).gone();
  }
  await expect(row('searxng').locator('[role=alert]')).text('too often');

  // A token is made for somebody, shown once, used, and revoked.
  await page.getByText('Make a token').first().click();
  await page.getByLabel('User; empty is the operator').fill('eve');
  await page.locator('.chip', { hasText: 'tools' }).click();
  await page.getByLabel('Note').fill('her laptop');
  await page.getByRole('button', { name: 'Make a token' }).click();
  const shown = page.locator('input[readonly]');
  await expect(shown).shown();
  const token = await shown.inputValue();
  assert.match(token, /^dossier_/);
  await page.getByRole('button', { name: 'Copy the token' }).click();
  await expect(page.getByRole('button', { name: 'Copy the token' })).text('Copied');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), token);
  await expect(page.locator('.tokens')).text(/eve her laptop\s+read, run, tools/);
  const as = (who, path, body) => fetch(url + path, { method: body ? 'POST' : 'GET', headers: { Authorization: 'Bearer ' + who, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
  const me = await (await as(token, '/api/me')).json();
  assert.equal(me.user, 'eve');
  assert.deepEqual(me.scopes, ['read', 'run', 'tools']);
  assert.equal((await as(token, '/api/tokens')).status, 403);
  assert.equal((await as(token, '/api/connections/test', { kind: 'model', name: 'default' })).status, 403);
  if (shots) await page.screenshot({ path: shots + '/token-made.png', fullPage: true });
  await page.reload();
  await expect(page.locator('.tokens li')).atLeast(3);
  assert.ok(!(await page.content()).includes(token), 'it was shown once');
  page.removeAllListeners('dialog');
  page.once('dialog', (d) => d.accept());
  await page.getByRole('button', { name: 'Revoke her laptop' }).click();
  await expect(page.locator('.tokens li', { hasText: 'eve' })).gone();
  assert.equal((await as(token, '/api/me')).status, 401);

  // The checks, and those of the engines when asked for.
  await expect(page.locator('#doctor ~ ul')).text('database');
  await page.getByRole('button', { name: 'Check the search engines too' }).click();
  await expect(page.locator('#doctor ~ ul')).text('engine searxng');

  for (const what of ['data directory', 'parser pdf', 'font Latin', 'browser', 'model']) await expect(page.locator('#doctor ~ ul')).text(what);
  await page.locator('select').first().selectOption('zh');
  for (const what of ['数据目录', '数据库', '浏览器', '模型']) await expect(page.locator('#doctor ~ ul')).text(what);
  assert.doesNotMatch(await page.locator('#doctor ~ ul').innerText(), /parser|database|directory|browser/);
  await page.locator('select').first().selectOption('en');
  await expect(page.locator('#doctor ~ ul')).text('data directory');

  // What a snippet says works.
  const asked = "What's said of \"lamps\"?";
  const run = await (await as(root, '/api/runs', { mode: 'chat', question: asked })).json();
  await (await as(root, `/api/runs/${run.id}/events`)).text();
  await page.reload();
  await page.locator('.chip', { hasText: 'JavaScript' }).click();
  await expect(page.locator('#snippets ~ .copied pre')).text(JSON.stringify(asked));
  const code = await page.locator('#snippets ~ .copied pre').textContent();
  process.env.DOSSIER_TOKEN = root;
  const said = [];
  const Async = Object.getPrototypeOf(async () => undefined).constructor;
  await new Async('OpenAI', 'process', 'console', code.replace(/^import .*$/m, ''))(OpenAI, process, { log: (x) => said.push(x) });
  assert.deepEqual(said, ['I am here.']);
  await page.locator('.chip', { hasText: 'SSE' }).click();
  await expect(page.locator('#snippets ~ .copied pre')).text(`/api/runs/${run.id}/events`);
  await page.locator('.chip', { hasText: 'curl' }).click();
  await expect(page.locator('#snippets ~ .copied pre')).text(`What'\\''s said of`);
  // The events of that run are a click away.
  await page.getByRole('link', { name: 'All events of your last run' }).click();
  await expect(page.locator('.log')).text('run.status');
  await page.done();

  // A user has the page's settings and the snippets, and is told whose the rest is.
  const other = await tab(browser, url, { quiet: ['401'] });
  await enter(other, ann);
  await expect(other.locator('.notice')).text('the operator’s');
  await expect(other.locator('#connections, #tokens, #doctor')).gone();
  await expect(other.locator('#snippets')).shown();
  await accessible(other, 'settings of a user');
  await other.done();
});
