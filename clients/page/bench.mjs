// How fast the page is: the first paint, and the frames while ten thousand events
// come in. They come from a server of this script's own, which passes everything
// else on to the one under test.

import http from 'node:http';
import { given, open, tab } from './browser.mjs';

const { chromium, url, events } = given();
const rounds = 100;

let seq = 0;
const event = (kind, data, agent) => `id: ${++seq}\ndata: ${JSON.stringify({ v: 1, run: 'x', session: 'x', seq, time: '2026-01-01T00:00:00Z', agent, kind, data })}\n\n`;

async function stream(reply) {
  seq = 0;
  reply.writeHead(200, { 'Content-Type': 'text/event-stream' });
  reply.write(event('run.status', { status: 'running' }) + event('message', { role: 'user', text: 'A long research' }));
  reply.write(event('plan.updated', { title: 'A plan', steps: [1, 2, 3, 4].map((i) => ({ title: 'Part ' + i, state: 'active' })) }));
  for (let round = 0; round < rounds; round++) {
    let piece = '';
    for (let i = 0; i < events / rounds / 5; i++) {
      const agent = `agent_${(i % 4) + 1}`, query = `query ${round}.${i}`;
      piece += event('search.started', { query, engine: 'web' }, agent + '/task_1/work') + event('search.results', { query, found: 7, new: 3 }, agent + '/task_1/work');
      piece += event('source.found', { number: round * 100 + i + 1, title: 'A page', url: `http://h${round}-${i}.example/`, snippet: 'What it says.' });
      piece += event('note.added', { text: 'Something worth keeping.', sources: [1] }, agent) + event('agent.action', { tool: 'web_search', arguments: { query } }, agent + '/task_1/work');
    }
    reply.write(piece);
    await new Promise((next) => setTimeout(next, 50));
  }
  reply.end(event('run.status', { status: 'done' }) + 'event: end\ndata: {}\n\n');
}

const front = http.createServer(async (request, reply) => {
  if (request.url.startsWith('/api/runs/x/events')) return stream(reply);
  const got = await fetch(url + request.url);
  const policy = got.headers.get('content-security-policy') ?? '';
  reply.writeHead(got.status, { 'Content-Type': got.headers.get('content-type') ?? '', 'Content-Security-Policy': policy });
  reply.end(Buffer.from(await got.arrayBuffer()));
});
await new Promise((ready) => front.listen(0, '127.0.0.1', ready));

await open(chromium, async (browser) => {
  const page = await tab(browser, `http://127.0.0.1:${front.address().port}`, { quiet: ['404'] });
  await page.addInitScript(() => {
    window.frames_ = [];
    let last = performance.now();
    const frame = (at) => (window.frames_.push(at - last), (last = at), requestAnimationFrame(frame));
    requestAnimationFrame(frame);
  });
  await page.goto('/');
  await page.locator('.mode').first().waitFor();
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
  await page.goto('/run/x');
  await page.locator('.member').first().waitFor();
  await page.evaluate(() => (window.frames_ = []));
  await page.locator('.pill.done').waitFor({ timeout: 60_000 });
  const frames = (await page.evaluate(() => window.frames_)).sort((a, b) => a - b);
  const sum = frames.reduce((a, b) => a + b, 0);
  console.log(JSON.stringify({ paint, events: seq, fps: (1000 * frames.length) / sum, middle: frames[frames.length >> 1], slow: frames[Math.floor(frames.length * 0.95)], worst: frames[frames.length - 1] }));
  await page.done();
});
front.close();
