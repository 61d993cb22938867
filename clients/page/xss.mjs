// Every payload wherever others' words are shown: nothing runs, nothing is asked of
// anybody, nothing of it becomes a part of the page that does something.

import { assert, expect, given, open, tab } from './browser.mjs';
import { payloads } from './payloads.mjs';

const { chromium, url } = given();
assert.ok(payloads.length >= 150, `there are ${payloads.length} payloads`);
assert.equal(new Set(payloads).size, payloads.length);

// A log in which the payloads are what a model, pages, files and tools said.
function log(list, whole = true) {
  let seq = 0;
  const lines = [];
  const tell = (kind, data, agent) => lines.push({ v: 1, run: 'x', session: 'x', seq: ++seq, time: '2026-01-01T00:00:00Z', agent, kind, data });
  tell('run.status', { status: 'running' });
  tell('message', { role: 'user', text: list[0] });
  tell('plan.updated', { title: list[0], steps: list.map((title) => ({ title, state: 'done', queries: [title] })) });
  list.forEach((p, i) => {
    tell('agent.started', { name: 'agent_' + i, role: p, task: p });
    tell('todo.updated', { id: 't' + i, agent: 'agent_' + i, title: p, state: 'active' });
    tell('agent.action', { tool: p, arguments: { query: p } }, 'agent_' + i);
    tell('note.added', { text: p, sources: [1] }, 'agent_' + i);
    tell('search.started', { query: p, engine: p });
    tell('search.results', { query: p, engine: p, found: 1, new: 1, error: i % 2 ? p : '' });
    tell('source.found', { number: i + 1, title: p, url: i % 2 ? p : 'http://127.0.0.1/' + encodeURIComponent(p), snippet: p, hash: 'sha256-x' });
    tell('source.failed', { url: p, reason: p });
    tell('supervisor.decision', { decision: p, reason: p, tasks: [p] });
    tell('model.failed', { code: p, message: p, then: 'rules' });
    tell('clarify.asked', { id: 'a' + i, questions: [p], options: [p], reason: p });
    tell('clarify.answered', { id: 'a' + i, answer: p });
    tell('report.section', { index: i, title: p, text: p });
  });
  tell('agent.reflected', { text: list[0], gaps: list });
  tell('followups', { questions: list });
  const answer = list.map((p) => `${p} [1]`).join('\n\n');
  if (whole) tell('message', { role: 'assistant', text: answer, answer, reasoning: list.join('\n\n'), key_points: list, model: list[0], citations: [{ number: 1, url: 'javascript:top.pwned=1', title: list[0], start: 0, end: 1, quote: list[0] }] });
  tell('run.status', { status: 'done' });
  return lines.map((e) => `id: ${e.seq}\ndata: ${JSON.stringify(e)}\n\n`).join('') + 'event: end\ndata: {}\n\n';
}

const json = (body) => ({ contentType: 'application/json', body: JSON.stringify(body) });

await open(chromium, async (browser) => {
  for (let at = 0; at < payloads.length; at += 60) {
    const list = payloads.slice(at, at + 60);
    const page = await tab(browser, url, { quiet: ['400 (Bad Request)'] }); // names that are not taken
    const passages = list.map((text) => ({ text, passage: { source: 1, start: 0, end: 4, heading_path: [text] }, link: text }));
    const report = {
      version: 1, question: list[0], outcome: 'partial', kind: 'research', coverage: { claims: { covered: 1, total: 2 }, facets: { covered: 1, total: 2 }, missing: list, independent: 1 }, notes: list, follow_ups: list,
      sources: list.map((p, i) => ({ number: i + 1, uri: i % 2 ? p : 'javascript:top.pwned=1', title: p, author: p, date: p, site: p, kind: i % 3 ? 'web' : p, snapshot: 'sha256-x', passages })),
      conflicts: list.map((p) => ({ a: { passage: { source: 1, start: 0, end: 4 }, quote: p, value: p, date: p }, b: { passage: { source: 2, start: 0, end: 4 }, quote: p, value: p } })),
    };
    const record = { id: 'x', session: 'x', mode: list[0], title: list[0], status: 'done', created: '2026-01-01T00:00:00Z', active: 0, last_seq: 1, failure: { code: 'x', message: list[0], hint: list[0] } };
    await page.route('**/api/runs/x/events*', (r) => r.fulfill({ contentType: 'text/event-stream', body: log(list) }));
    await page.route('**/api/runs/x?view=record', (r) => r.fulfill(json(record)));
    await page.route('**/api/runs/x/report.json', (r) => r.fulfill(json(report)));
    await page.route('**/api/runs/x/snapshots/*', (r) => r.fulfill({ contentType: 'text/plain', body: list.join('\n') }));
    await page.route('**/api/runs?*', (r) => r.fulfill(json(list.map((title, i) => ({ ...record, id: 'x' + i, title, mode: title })))));
    await page.route('**/api/kb/collections', (r) => r.fulfill(json({ collections: list.map((name, i) => ({ id: 'c' + i, name, documents: 1, tags: [name, 'tag'] })) })));
    const failure = (reason) => ({ reason, why: reason });
    await page.route('**/api/kb/collections/x', (r) => r.fulfill(json({ id: 'x', name: 'x', documents: 1, chunks: 1, roots: list, tags: list, unread: 1 })));
    await page.route('**/api/kb/collections/x/documents?*', (r) => r.fulfill(json({ total: list.length, documents: list.map((path, n) => ({ n, path, title: path + '!', format: path, size: 1, chunks: 1, uploaded: true, failure: n % 2 ? failure(path) : undefined })) })));
    await page.route('**/api/kb/collections/x/documents/*', (r) => r.fulfill(json({ n: 0, path: list[0], size: 1, chunks: list.length, passages: list.map((text, i) => ({ id: '0.' + i, headings: [text], text })) })));
    await page.route('**/api/kb/collections/x/search', (r) => r.fulfill(json({ hits: list.map((text) => ({ path: text, title: text, text, headings: [text], score: 1 })) })));
    await page.route('**/api/doctor*', (r) => r.fulfill(json(list.map((what) => ({ what, ok: false, detail: what, hint: what })))));

    await page.route('**/api/runs/y/events*', (r) => r.fulfill({ contentType: 'text/event-stream', body: log(list, false) }));
    await page.route('**/api/runs/y?view=record', (r) => r.fulfill(json({ ...record, id: 'y' })));

    // Names and notes of templates, descriptions and results of tools (those of MCP servers are others' words), errors of models.
    const version = { version: 1, state: list[0], note: list[0], author: list[0], created: '2026-01-01T00:00:00Z', document: list.join('\n') };
    const schema = { type: 'object', properties: Object.fromEntries(list.map((p) => [p, { type: 'string', description: p, enum: [p], default: p }])) };
    for (const [path, body] of [
      ['agents', list.map((p) => ({ name: p, kind: p, description: p, capabilities: [p], tools: [p], trouble: p }))],
      ['templates', list.map((name) => ({ name, latest: 1, updated: '2026-01-01T00:00:00Z' }))],
      ['templates/x', { name: list[0], latest: 60, published: 1, updated: '2026-01-01T00:00:00Z', versions: list.map((p, i) => ({ ...version, version: i + 1, state: p, note: p, author: p })) }],
      ['templates/x/versions/*', version], ['templates/x/diff?*', { diff: '--- a\n+++ b\n' + list.map((p, i) => '+-@ '[i % 4] + p.replace(/\n/g, ' ')).join('\n') }], ['templates/x/stats', []],
      ['instances', list.map((p, i) => ({ id: 'i' + i, name: p, template: p, state: p, slots: 1, queue: 1, served: 1 }))],
      ['instances/x', { id: 'x', name: list[0], template: 'x', state: list[0], slots: 1, queue: 1, served: 1 }],
      ['tools', { tools: list.map((p, i) => ({ name: i ? p : 'x', origin: 'mcp:' + p, description: p, effect: i ? p : 'effectful', error: p, schema })), trouble: list.map((p) => ({ origin: p, problem: p, hint: p })) }],
      ['connections', list.flatMap((p) => [{ kind: 'model', name: p, model: p, provider: p, endpoint: p, roles: [p] }, { kind: 'engine', name: p, missing: p }])],
      ['connections/test', { what: list[0], ok: at > 0, detail: list.join('\n'), hint: list[0], code: list[0] }],
      ['tokens', list.map((p, i) => ({ id: 't' + i, user: p, note: p, scopes: [p], created: '2026-01-01T00:00:00Z', expires: p }))],
    ]) await page.route('**/api/' + path, (r) => r.fulfill(json(body)));
    await page.route('**/api/runs', (r) => r.fulfill(json({ ...record, id: 'y' })));

    const harmless = async (where) => {
      const found = await page.evaluate(() => {
        const bad = [];
        if (window.pwned || top.pwned) bad.push('something ran');
        for (const el of document.querySelectorAll('script, style, iframe, object, embed, link, meta, base, form[action], img, video, audio, svg image, [style]')) {
          const own = el.closest('head') || el.matches('.brand img') || (el.matches('[style]') && el.closest('.bar, .popover'));
          if (!own) bad.push('an element: ' + el.outerHTML.slice(0, 120));
        }
        for (const el of document.querySelectorAll('#main *')) {
          for (const a of el.attributes) if (/^on/i.test(a.name)) bad.push('a handler: ' + el.outerHTML.slice(0, 120));
          if (el.parentElement.closest('.prose') && (el.id && !/^part-\d+$/.test(el.id) || (el.className && !/^(cite( verified)?|unsupported|wide|held)$/.test(el.className)))) bad.push('a part of the page: ' + el.outerHTML.slice(0, 120));
        }
        for (const a of document.querySelectorAll('#main a[href]')) {
          const ours = a.hasAttribute('data-go') || a.getAttribute('href').startsWith('#part-') || a.getAttribute('href') === '/docs';
          if (!ours && !/^https?:\/\//i.test(a.getAttribute('href'))) bad.push('an address: ' + a.outerHTML.slice(0, 120));
          if (a.closest('.prose') && a.hasAttribute('data-go')) bad.push('a place of the page: ' + a.outerHTML.slice(0, 120));
        }
        return bad;
      });
      assert.deepEqual(found, [], `${where}, payloads from ${at}`);
    };
    // What is given to the collection is taken by the server itself.
    const made = await (await fetch(url + '/api/kb/collections', { method: 'POST', body: JSON.stringify({ name: 'files ' + at }) })).json();
    await page.route('**/api/kb/collections/x/files?*', (r) => r.continue({ url: r.request().url().replace('/x/files', `/${made.id}/files`) }));
    await page.route('**/api/kb/collections/x/ingest', (r) => r.continue({ url: r.request().url().replace('/x/ingest', `/${made.id}/ingest`) }));
    await page.goto('/run/x');
    await expect(page.locator('.prose p').first()).shown();
    await expect(page.locator('.exports button')).atLeast(5);
    await harmless('the report');
    await page.locator('.report button.cite').first().click();
    await expect(page.locator('.popover')).shown();
    await harmless('the popover');
    await page.keyboard.press('Escape');
    // Whatever there is to point at or to focus does nothing.
    await page.evaluate(() => document.querySelectorAll('.prose *').forEach((el) => ['mouseover', 'pointerover', 'focus', 'blur', 'toggle', 'animationstart', 'error', 'load'].forEach((n) => el.dispatchEvent(new window.Event(n)))));
    for (const name of ['work', 'sources', 'log']) {
      await page.locator('#tab-' + name).click();
      await expect(page.locator('#panel li').first()).shown();
      await harmless(name);
    }
    // Each by itself: one that is not closed would hide those behind it.
    await page.goto('/run/y');
    await expect(page.locator('.live section')).count(list.length);
    await harmless('sections');
    await page.goto('/run/x/source/1?at=0-9');
    await expect(page.locator('.snapshot mark')).shown();
    await harmless('a source');
    await page.goto('/knowledge/x');
    await page.locator('.files summary').first().click();
    await expect(page.locator('.pieces li')).count(list.length);
    await page.locator('.sources input').fill('x');
    await page.locator('.sources input').press('Enter');
    await expect(page.locator('.sources > ol > li')).count(list.length);
    await harmless('a collection');
    // As names of files that are given, some taken and some refused.
    await page.locator('input[type=file]').first().setInputFiles(list.map((name, i) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('text ' + i) })));
    await expect(page.locator('.given li')).count(list.length);
    await page.locator('.given').evaluate((el) => (el.open = true));
    await expect(page.locator('.given li.waits, .given li.sending')).count(0);
    await harmless('files that are given');
    for (const [path, sign] of [['/', '.runs li'], ['/knowledge', '.runs li'], ['/library', '.runs li'], ['/settings', '.findings li']]) {
      await page.goto(path);
      await expect(page.locator(sign).first()).shown();
      await harmless(path);
    }
    for (const [path, sign, press] of [
      ['/fleet', '.cards li', '.cards + p button'], ['/fleet/templates/x', '.diff span', ''], ['/fleet/instances/x', '.figures', ''], ['/fleet/tools', '.runs li', ''],
      ['/fleet/tools/x', '.try label', '.try button'], ['/settings', '#connections ~ ul li', '#connections ~ ul button'],
    ]) {
      await page.goto(path);
      await expect(page.locator(sign).first()).shown();
      if (press && (await page.locator(press).count())) await page.locator(press).first().click();
      if (path === '/fleet/tools/x') await expect(page.locator('.notice.bad')).shown();
      if (path === '/settings') await expect(page.locator('#connections ~ ul [role=status]')).shown();
      await harmless(path);
    }
    await page.done();
  }
});
console.log(payloads.length, 'payloads');
