// Logs with kinds that nobody knows and fields that are null or missing, a question of a
// hundred lines, three scripts at once: the page shows what there is.

import { accessible, answered, assert, expect, fits, given, open, tab } from './browser.mjs';

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
    await page.route('**/api/runs/x/events*', (r) => r.fulfill({ contentType: 'text/event-stream', body: log(events) }));
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

  // The draft as it grows: sections under the titles of the outline, whole ones and one that is being written.
  const draft = await tab(browser, url, { quiet: ['ERR_'] });
  const told = [{ kind: 'run.status', data: { status: 'running' } }, { kind: 'plan.updated', data: { steps: [{ title: 'Who pays?' }] } }, { kind: 'plan.updated', agent: 'write', data: { steps: [{ title: 'Guilds' }, { title: 'Piers' }] } }, { kind: 'report.section', data: { index: 0, title: 'Guilds', text: 'Three paid.' } }];
  const body = told.map((e, i) => `data: ${JSON.stringify({ seq: i + 1, ...e })}\n\n`).join('') + ['There are ', 'three of them'].map((text) => `data: ${JSON.stringify({ kind: 'report.delta', data: { section: 1, text } })}\n\n`).join('');
  await draft.route('**/api/runs/x/events*', (r) => r.fulfill({ contentType: 'text/event-stream', body }));
  await draft.route('**/api/runs/x?view=record', json({ id: 'x', session: 'x', mode: 'deep_research', title: 'late', status: 'running', created: '', active: 0 }));
  await draft.goto('/run/x');
  await expect(draft.locator('.steps')).text('Who pays?');
  assert.equal(await draft.evaluate(() => document.getAnimations().filter((a) => a.playState === 'running').length), 0, 'nothing moves where that is not wanted');
  await draft.locator('#tab-report').click();
  await expect(draft.locator('#panel')).text(/Guilds\s+Three paid\.\s+Piers\s+There are three of them/);
  await accessible(draft, 'a draft');
  await draft.done();

  // A question in the middle of the work, as after a crash in a step that may have taken effect.
  const asks = await tab(browser, url);
  await asks.route('**/api/runs/x/events*', (r) => r.fulfill({ contentType: 'text/event-stream', body: log([
    { kind: 'run.status', data: { status: 'running' } }, { kind: 'search.started', data: { query: 'q' } },
    { kind: 'clarify.asked', data: { id: 'a', questions: ['Step "send" was begun before.'], options: ['retry', 'skip'], reason: 'unknown_effect' } }, { kind: 'run.status', data: { status: 'waiting' } },
  ]) }));
  await asks.route('**/api/runs/x?view=record', json({ id: 'x', session: 'x', mode: 'agent', title: 'asks', status: 'waiting', created: '', active: 0 }));
  let said;
  await asks.route('**/api/runs/x/answer', (r) => ((said = r.request().postDataJSON()), r.fulfill({ status: 204 })));
  await asks.goto('/run/x');
  await expect(asks.locator('.asks')).text('Before it goes on, one question');
  await expect(asks.locator('.asks')).text('it may have taken effect already');
  await expect(asks.getByRole('button', { name: 'Skip and go on' })).shown();
  await answered(asks, /\/answer$/, () => asks.getByRole('button', { name: 'Do it again' }).click());
  await expect(asks.locator('.asks button:disabled')).count(1); // an answer of its own is still empty
  assert.deepEqual(said, { ask: 'a', text: 'retry' });
  await asks.done();

  // Who comes in the middle of an answer sees that something stands before it.
  const page = await tab(browser, url, { quiet: ['ERR_'] });
  await page.route('**/api/runs/x/events*', (r) => r.fulfill({ contentType: 'text/event-stream', body: [{ seq: 1, kind: 'run.status', data: { status: 'running' } }, { kind: 'answer.delta', data: { text: 'гавань и ', at: 40 } }, { kind: 'answer.delta', data: { text: 'пирс', at: 56 } }].map((e) => `data: ${JSON.stringify(e)}\n\n`).join('') }));
  await page.route('**/api/runs/x?view=record', json({ id: 'x', session: 'x', mode: 'chat', title: 'late', status: 'running', created: '', active: 0 }));
  await page.goto('/run/x');
  await expect(page.locator('.report.live')).text('… гавань и пирс');
  await page.done();
});
