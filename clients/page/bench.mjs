// How fast the page is: the first paint, and the frames in the slowest second while
// ten thousand events come in, on each of the screens of a run, beside those of a page
// that stands still; and the first paint beside that of a single word, the middle of
// nine each. The events come from a server of this script's own, which passes
// everything else on to the one under test.

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

// writing is a run whose answer is written in so many pieces.
async function writing(reply) {
  seq = 0;
  reply.writeHead(200, { 'Content-Type': 'text/event-stream' });
  reply.write(event('run.status', { status: 'running' }) + event('message', { role: 'user', text: 'A long answer' }));
  for (let round = 0; round < rounds; round++) {
    let piece = '';
    for (let i = 0; i < events / rounds; i++) piece += event('answer.delta', { text: i === 99 ? '.\n\n' : i === 0 && round % 10 === 0 ? `## Part ${round}\n\nWords` : ` word${i % 9 ? '' : ' **strong** [1]'}` });
    reply.write(piece);
    await new Promise((next) => setTimeout(next, 50));
  }
  reply.end(event('run.status', { status: 'done' }) + 'event: end\ndata: {}\n\n');
}

const front = http.createServer(async (request, reply) => {
  if (request.url.startsWith('/api/runs/x/events')) return stream(reply);
  if (request.url.startsWith('/api/runs/y/events')) return writing(reply);
  if (request.url === '/word') return reply.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>A word</title><p>word');
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
  const painted = async (path) => {
    await page.goto(path);
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length);
    return page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
  };
  const words = [], pages = [];
  for (let i = 0; i < 9; i++) {
    words.push(await painted('/word'));
    pages.push(await painted('/'));
    await page.locator('.mode').first().waitFor();
  }
  const [bare, paint] = [words, pages].map((all) => all.sort((a, b) => a - b)[all.length >> 1]);
  const still = await page.evaluate(() => new Promise((all) => ((window.frames_ = []), setTimeout(() => all(window.frames_), 3000))));
  const seen = { paint, bare, still: lowest(still) };
  for (const view of ['work', 'sources', 'log', 'report']) {
    await page.goto(view === 'report' ? '/run/y' : '/run/x');
    await page.locator(view === 'report' ? '.live' : '.member').first().waitFor();
    await page.locator('#tab-' + view).click();
    await page.evaluate(() => (window.frames_ = []));
    await page.locator('.pill.done').waitFor({ timeout: 60_000 });
    const frames = await page.evaluate(() => window.frames_);
    seen[view] = lowest(frames);
    seen[view + 'Worst'] = Math.max(...frames);
  }
  console.log(JSON.stringify(seen));
  await page.done();
});
front.close();

// lowest is the rate in the second that had the fewest frames.
function lowest(frames) {
  let least = Infinity;
  for (let from = 0, to = 0, took = 0; to < frames.length; ) {
    took += frames[to++];
    while (took - frames[from] >= 1000) took -= frames[from++];
    if (took >= 1000) least = Math.min(least, ((to - from) * 1000) / took);
  }
  return least;
}
