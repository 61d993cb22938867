// Logs with kinds that nobody knows and fields that are null or missing, a question of a
// hundred lines, three scripts at once: the page shows what there is.

import { accessible, assert, expect, fits, given, open, tab } from './browser.mjs';

const { chromium, url } = given();
const kinds = ['run.status', 'run.error', 'message', 'plan.updated', 'agent.started', 'agent.action', 'agent.reflected', 'todo.updated', 'note.added', 'supervisor.decision', 'coverage', 'search.started', 'search.results', 'source.found', 'source.read', 'source.failed', 'usage', 'budget.warning', 'model.failed', 'clarify.asked', 'clarify.answered', 'report.section', 'followups', 'report.edited', 'citation.verified', 'run.reopened'];
const long = 'Что известно о гавани 港口的历史, and who paid for it?\n'.repeat(100);

const log = (events) => events.map((e, i) => `id: ${i + 1}\ndata: ${JSON.stringify({ v: 1, run: 'x', session: 'x', seq: i + 1, ...e })}\n\n`).join('') + 'event: never.heard.of\ndata: {}\n\ndata: no json\n\nevent: end\ndata: {}\n\n';
const odd = (data) => [...kinds.map((kind) => ({ kind, data })), ...kinds.map((kind) => ({ kind, agent: 'agent_1/work', data })), { kind: 'never.heard.of', data: { status: 'failed' } }];
const json = (body) => (r) => r.fulfill({ contentType: 'application/json', body: JSON.stringify(body) });

await open(chromium, async (browser) => {
  for (const [name, data] of [['null', null], ['nothing', {}], ['a list', []], ['nulls', { steps: [null], todos: null, text: null, questions: [null], void: [null], title: null, name: null, citations: [null], tasks: [7] }]]) {
    const page = await tab(browser, url, { width: 390, height: 844, quiet: ['404'] });
    const events = [{ kind: 'run.status', data: { status: 'running' } }, { kind: 'message', data: { role: 'user', text: long } }, ...odd(data), { kind: 'message', data: { role: 'assistant', text: '港口建于 1871 году.' } }, { kind: 'run.status', data: { status: 'done' } }];
    const record = { id: 'x', session: 'x', mode: 'never_heard_of', title: 'strange', status: 'done', created: '', active: 0 };
    await page.route('**/api/runs/x/events', (r) => r.fulfill({ contentType: 'text/event-stream', body: log(events) }));
    await page.route('**/api/runs/x?view=record', json(record));
    await page.route('**/api/runs?*', json([record, { ...record, id: 'y', title: '', status: 'never_heard_of' }]));
    await page.route('**/api/sessions/x', json({ id: 'x', title: 'strange', list: [record] }));
    await page.route('**/api/sessions?*', json([{ id: 'x', title: 'strange', runs: 1 }]));
    await page.goto('/run/x');
    await expect(page.locator('.pill.done')).shown();
    await expect(page.locator('#panel')).text('港口建于 1871 году.');
    assert.ok((await page.locator('h1').boundingBox()).height < 200, 'a long question leaves room for the rest');
    for (const part of ['work', 'sources', 'log', 'report']) {
      await page.locator('#tab-' + part).click();
      await expect(page.locator('#panel > *')).shown();
      await fits(page, `${part} of ${name}`);
    }
    await accessible(page, name);
    await page.goto('/talk/x');
    await expect(page.locator('.turn .prose')).text('港口建于 1871 году.');
    await expect(page.locator('.turn .meta')).text('never_heard_of');
    await fits(page, `a conversation of ${name}`);
    await page.goto('/');
    await expect(page.locator('.runs li')).count(2);
    await fits(page, `runs of ${name}`);
    await page.done();
  }

  // Who comes in the middle of an answer sees that something stands before it.
  const page = await tab(browser, url, { quiet: ['ERR_'] });
  await page.route('**/api/runs/x/events', (r) => r.fulfill({ contentType: 'text/event-stream', body: [{ seq: 1, kind: 'run.status', data: { status: 'running' } }, { kind: 'answer.delta', data: { text: 'гавань и ', at: 40 } }, { kind: 'answer.delta', data: { text: 'пирс', at: 56 } }].map((e) => `data: ${JSON.stringify(e)}\n\n`).join('') }));
  await page.route('**/api/runs/x?view=record', json({ id: 'x', session: 'x', mode: 'chat', title: 'late', status: 'running', created: '', active: 0 }));
  await page.goto('/run/x');
  await expect(page.locator('.report.live')).text('… гавань и пирс');
  await page.done();
});
