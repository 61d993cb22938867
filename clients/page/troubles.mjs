// What is said when something goes wrong, and how it goes on.

import { accessible, answered, assert, expect, fits, given, open, tab, titled } from './browser.mjs';

const { chromium, url, gate, question, shots } = given();
const tell = async (what) => assert.ok((await fetch(`${gate}/${what}`)).ok, what);
const shot = async (page, name) => shots && page.screenshot({ path: `${shots}/${name}.png` });

await open(chromium, async (browser) => {
  const page = await tab(browser, url, { quiet: ['ERR_', 'Failed to fetch'] });
  const chat = async (words) => {
    await page.goto('/');
    await page.locator('input[value=chat]').check({ force: true });
    await page.locator('#question').fill(words);
    await page.locator('#question').press('Enter');
    await page.waitForURL(/\/talk\//);
  };

  // A model that refuses: why, what to do, and once more.
  await chat('with the wrong key');
  await expect(page.locator('.turn .notice.bad')).text('401');
  await expect(page.locator('.turn .notice.bad .hint')).shown();
  await expect(page.locator('.turn .pill')).text('failed');
  await accessible(page, 'a failure');
  await shot(page, 'failure');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.locator('.turn .prose')).text('The key fits.');
  await expect(page.locator('.turn .notice')).gone();

  // What an answer rests on stands with it; a branch begins behind any turn.
  await chat('What is a harbour, point by point?');
  await expect(page.locator('.turn .prose')).text('Ships rest in it.');
  await page.getByText('Key points').click();
  await expect(page.locator('.turn .points')).text('It is calm.');
  await page.getByText('How the answer was reached').click();
  await expect(page.locator('.turn .reasoning strong')).text('harbours');
  const first = page.url();
  await titled(page, 'What is a harbour, point by point? · Dossier');
  await page.getByRole('button', { name: 'Branch from here' }).click();
  await page.locator('.asked-again textarea').fill('and a pier, point by point?');
  await page.getByRole('button', { name: 'Ask in a new branch' }).click();
  await page.waitForURL((u) => u.href !== first);
  await expect(page.locator('.turn .prose')).text('Ships rest in it.');
  await page.locator('.earlier summary').click();
  await expect(page.locator('.earlier')).text('What is a harbour, point by point?');
  await expect(page.locator('.earlier')).text('Ships rest in it.');

  // It goes on in another mode, with its sources beside what it says.
  await page.locator('.say select').selectOption('web_search');
  await page.locator('.say textarea').fill('Who is the mayor of Oststrand?');
  await page.locator('.say textarea').press('Enter');
  await expect(page.locator('.turn')).count(2);
  await expect(page.locator('.turn').last().locator('.beside li')).atLeast(1);
  await expect(page.locator('.turn').last().getByRole('button', { name: 'Cancel' })).gone();
  const box = async (x) => page.locator('.turn').last().locator(x).boundingBox();
  assert.ok((await box('.beside')).x >= (await box('.answered > :first-child')).x + (await box('.answered > :first-child')).width, 'sources stand beside the answer');
  await accessible(page, 'sources beside an answer');
  await shot(page, 'beside');
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page, 'sources on a phone');
  await page.setViewportSize({ width: 1440, height: 900 });

  // The server goes away: every screen says so, and what to do, and comes back by itself.
  const started = await fetch(url + '/api/runs', { method: 'POST', body: JSON.stringify({ mode: 'deep_research', question, no_input: true, in: { web: {} }, limits: { searches: 2, pages: 3 } }) });
  const { id } = await started.json();
  await page.goto('/run/' + id);
  await expect(page.locator('.member.working')).atLeast(2);
  const talk = await tab(browser, url, { quiet: ['ERR_', 'Failed to fetch'] });
  await talk.goto('/talk/' + id);
  await expect(talk.locator('.turn .spinner')).shown();
  const home = await tab(browser, url, { quiet: ['ERR_', 'Failed to fetch'] });
  await home.goto('/library');
  await expect(home.locator('.runs li')).atLeast(1);
  await tell('leave');
  await home.locator('nav a').first().click();
  for (const p of [page, talk, home]) await expect(p.locator('.notice.bad')).text('Is `dossier serve` running?');
  await accessible(page, 'a server that is away');
  await shot(page, 'away');
  await tell('restart');
  for (const p of [page, talk, home]) await expect(p.locator('.notice.bad')).gone();
  await expect(home.locator('.modes label')).count(4);
  await expect(home.locator('.runs li').first()).text('running'); // these come first
  await home.done();

  // Nobody is at work in a run that rests; what was told to the team is kept in sight.
  await page.getByRole('button', { name: 'Steer' }).click();
  await expect(page.locator('.steer input')).focused(); // it is ready to be typed in
  await page.keyboard.type('The mayor of today counts.');
  await page.keyboard.press('Enter');
  await expect(page.locator('.steer')).text('Told.');
  await answered(page, /\/pause$/, () => page.getByRole('button', { name: 'Pause' }).click());
  await tell('open');
  await expect(page.locator('.pill.paused')).shown();
  await expect(page.locator('.member.working, .searches .active')).gone();
  await page.getByRole('button', { name: 'Resume' }).click();

  // It meets limits, says which, and goes on with more of each.
  await expect(page.locator('.pill.done')).shown();
  await expect(page.locator('.notice').first()).text('A limit was reached');
  const hit = await page.locator('.notice', { hasText: 'A limit was reached' }).count();
  await page.locator('#tab-work').click();
  await expect(page.locator('.settled')).text('The mayor of today counts.');
  await shot(page, 'limits');
  const [request] = await Promise.all([page.waitForRequest(/\/resume$/), page.getByRole('button', { name: 'Resume with twice the limit' }).click()]);
  assert.equal(Object.keys(request.postDataJSON().limits).length, hit, 'every limit that was met is raised');
  assert.ok((await (await request.response()).finished()) === null && (await request.response()).ok(), 'it goes on');
  await (await fetch(`${url}/api/runs/${id}/events`)).text(); // to its end
  await expect(page.locator('.pill.done')).shown();

  // What it cost, step by step and in all, can be read.
  await page.locator('details.fact summary').click();
  const rows = await page.locator('.fact tr').allInnerTexts();
  assert.ok(rows.length >= 4 && rows[rows.length - 1].startsWith('In all'), rows.join('\n'));
  const numbers = (row) => row.split('\t').slice(1, 4).map((n) => Number(n.replace(/\D/g, '')));
  rows.slice(1, -1).map(numbers).reduce((sum, r) => sum.map((n, i) => n + r[i]), [0, 0, 0]).forEach((n, i) => assert.equal(n, numbers(rows[rows.length - 1])[i]));
  assert.ok((await page.locator('.fact tr').first().boundingBox()).height < 40, 'words are in one line');
  await accessible(page, 'what it cost');
  await shot(page, 'spent');

  // A page that speaks another language than its browser is told everything in its own:
  // what is refused, why a run failed, and what tools are for.
  const foreign = async (lang) => {
    const other = await tab(browser, url, { quiet: ['404'] });
    await other.addInitScript((code) => localStorage.setItem('dossier.language', code), lang);
    return other;
  };
  for (const [lang, none, failed, advice, tool] of [
    ['ru', 'Запуска «nobody» нет', /^Модель .*: ключ не принят \(HTTP 401\)/, 'не принимает ключ', 'Поиск в интернете.'],
    ['zh', '没有运行“nobody”', /^模型 .*：密钥未被接受 \(HTTP 401\)/, '不接受密钥', '搜索网络。'],
  ]) {
    const other = await foreign(lang);
    await other.goto('/run/nobody');
    await expect(other.locator('.notice.bad p').first()).text(none);
    const asked = await (await fetch(url + '/api/runs', { method: 'POST', body: JSON.stringify({ mode: 'chat', question: 'with no key at all' }) })).json();
    for (const [path, at] of [['/talk/' + asked.session, '.turn .notice.bad'], ['/run/' + asked.id, '.notice.bad']]) {
      await other.goto(path);
      await expect(other.locator(at + ' p').first()).text(failed);
      await expect(other.locator(at + ' .hint')).text(advice);
    }
    await other.goto('/fleet/tools/websearchtool');
    await expect(other.locator('.said')).text(tool);
    await shot(other, 'told-' + lang);
    await other.done();
  }

  // A model that is asked too often: what is waited for, also for who comes late, and an end to it.
  await chat('asked too often');
  await expect(page.locator('.turn .spinner')).text(/Waiting for the model: .*429.* The next try is in \d+ s\./);
  for (const [lang, waits] of [['ru', 'Ждём модель: Просит вызывать реже. Следующая попытка через'], ['zh', '正在等待模型：对方要求减少调用']]) {
    const other = await foreign(lang);
    await other.goto(page.url());
    await expect(other.locator('.turn .spinner')).text(waits);
    await other.done();
  }
  await page.locator('.turn a', { hasText: 'Details' }).click();
  await expect(page.locator('.notice')).text('Waiting for the model');
  await page.goBack();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('.turn .pill')).text('cancelled');
  await expect(page.getByRole('button', { name: 'Try again' })).shown();
  await talk.done();
  await page.done();
});
