// The library and the report under the pen: tags, edits that lose their mark until
// they are checked, a bundle taken in, a run asked again, forked and compared.

import { readFileSync } from 'node:fs';
import { assert, expect, given, open, tab } from './browser.mjs';

const { chromium, url, run } = given();
const cheese = 'The Keldra Bridge is made of cheese since 1703';

await open(chromium, async (browser) => {
  const page = await tab(browser, url, { quiet: ['400 (Bad Request)'] });
  // Tags.
  await page.goto('/library');
  await page.getByRole('button', { name: 'Tags of “' }).first().click();
  await page.getByLabel('New tag').fill('bridges');
  await page.getByLabel('New tag').press('Enter');
  await expect(page.locator('.library > .chips .chip')).text('bridges');
  await expect(page.locator('.below .chip')).text('bridges'); // what is added to
  await page.getByLabel('New tag').fill('<b>x</b>');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.locator('.library > .chips .chip')).count(2);
  await page.getByRole('button', { name: 'Remove the tag <b>x</b>' }).click();
  await expect(page.locator('.library > .chips .chip')).count(1);
  await page.reload();
  await page.locator('.library > .chips .chip').click();
  await expect(page.locator('.runs li')).count(1);
  await expect(page.locator('.below .chip')).text('bridges');
  assert.match(await page.getByRole('button', { name: 'Fork “' }).first().getAttribute('title'), /^Fork “/);
  await page.getByRole('searchbox').fill('harbour Quist');
  await expect(page.locator('.runs li')).count(1); // words of the report
  await page.getByRole('searchbox').fill('xylophone');
  await expect(page.locator('.empty')).shown();

  // A second window on the report, which is never reloaded.
  const other = await tab(browser, url, { quiet: ['400 (Bad Request)'] });
  await other.goto('/run/' + run);
  await expect(other.locator('.report button.cite.verified')).atLeast(3);

  // A paragraph is changed: what is new has no mark, the rest keeps its own.
  await page.goto('/run/' + run);
  await expect(page.locator('.report button.cite.verified')).atLeast(3);
  await expect(page.locator('svg.plot')).atLeast(1);
  const plots = await page.locator('svg.plot').count();
  const report = await (await fetch(`${url}/api/runs/${run}/report.json`)).json();
  assert.equal(plots, (report.sections ?? []).flatMap((s) => s.plots ?? []).length, 'each plot is drawn');
  // The outline says of each part how many of its sentences have a source, and the
  // rest are those that can be highlighted.
  const shares = (await page.locator('.outline small').allInnerTexts()).map((s) => s.split('/').map(Number));
  assert.equal(shares.length, await page.locator('.report h2').count(), 'each part has its share');
  assert.ok(shares.every(([cited, all]) => cited > 0 && cited <= all), shares.join(' '));
  assert.equal(shares.reduce((n, [cited, all]) => n + all - cited, 0), Number(await page.locator('.tick small').innerText()));
  // No line begins with a mark or with what closes its sentence.
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    assert.ok(await page.locator('.held').evaluateAll((all) => all.every((h) => h.getClientRects().length === 1)), 'marks are torn from their words');
  }
  // Sources are found by words; what buttons without words do is said on them.
  await page.locator('.sources .find input').fill('KELDRA');
  await expect(page.locator('.sources li')).count(report.sources.filter((s) => /keldra/i.test(s.title + s.uri + s.author)).length);
  await page.locator('.sources .find input').fill('');
  await expect(page.locator('.sources li')).count(report.sources.length);
  const verified = await page.locator('.report button.cite.verified').count();
  const doubted = await page.locator('.report .unsupported').count();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.locator('.block > button').first().click();
  const borne = report.claims.find((c) => c.verified && c.passages?.length).text;
  const was = await page.locator('.block textarea').inputValue();
  await page.locator('.block textarea').fill(`${was}\n\n${cheese}. Indeed, ${borne}`);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('.notice.edited')).text('Sentences not checked: 2.');
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.locator('.report')).text(cheese);
  await expect(page.locator('.report .unsupported')).count(doubted + 2);
  await expect(page.locator('.report button.cite.verified')).count(verified);
  await expect(other.locator('.notice.edited')).text('Sentences not checked: 2.');
  await expect(other.locator('.report')).text(cheese);

  // Two change the same: the second is told so, and keeps what was written.
  await other.getByRole('button', { name: 'Edit' }).click();
  await other.locator('.block > button').first().click();
  await other.locator('.block textarea').fill('Something else.');
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.locator('.block > button').first().click();
  await page.locator('.block textarea').fill('It is quite another town.');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(other.locator('.notice.edited')).text('Changed by hand: 2.');
  await other.getByRole('button', { name: 'Save' }).click();
  await expect(other.locator('.block [role=alert]')).text('meanwhile');
  assert.equal(await other.locator('.block textarea').inputValue(), 'Something else.');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Undo the last change' }).click();
  await expect(other.locator('.notice.edited')).text('Changed by hand: 1.');
  await other.reload();

  // Checked again, one is borne out and one is not; another tab sees the same.
  await page.getByRole('button', { name: 'Check again' }).click();
  await expect(page.locator('.notice.edited')).text('All of it is checked');
  await expect(page.locator('.report .unsupported')).count(doubted + 1);
  await expect(page.locator('.report button.cite.verified')).atLeast(verified + 1);
  await expect(other.locator('.report .unsupported')).count(doubted + 1);
  await page.reload();
  await expect(page.locator('.report')).text(cheese);
  await page.getByRole('button', { name: 'Show the original' }).click();
  await expect(page.locator('.report button.cite.verified')).count(verified);
  assert.ok(!(await page.locator('.report').innerText()).includes(cheese));
  await page.getByRole('button', { name: 'Show the edited' }).click();
  await page.getByRole('button', { name: 'Undo the last change' }).click();
  await expect(page.locator('.notice.edited')).text('Sentences not checked: 2.');

  await expect(other.locator('.notice.edited')).text('Sentences not checked: 2.');

  // What is taken along has it, marked.
  const [md] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Markdown' }).click()]);
  const text = readFileSync(await md.path(), 'utf8');
  assert.ok(text.includes(cheese + ' [?]') && /2 sentences written by hand have not been checked/.test(text), text.slice(0, 600));
  const [zip] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /evidence|bundle/i }).click()]);
  const bundle = readFileSync(await zip.path());

  // The bundle is taken in as it is, and not with a changed byte.
  await page.goto('/library');
  const changed = Buffer.from(bundle);
  changed[changed.length >> 1] ^= 1;
  const file = (name, buffer) => ({ name, mimeType: 'application/zip', buffer });
  await page.locator('.import input').setInputFiles(file('changed.zip', changed));
  await expect(page.getByRole('alert')).text('not as it was when it was made');
  await page.locator('.import input').setInputFiles(file('good.zip', bundle));
  await page.waitForURL(/\/run\//);
  await expect(page.locator('.report')).text(cheese);
  await page.locator('.report button.cite.verified').first().click();
  await expect(page.locator('.popover blockquote')).shown();
  const copy = page.url().split('/').pop();
  assert.notEqual(copy, run);

  // Asked again, the run says what it said before somebody changed it.
  await page.goto('/library');
  await page.locator('.library > .chips .chip').click();
  await expect(page.locator('.runs li')).count(1);
  await page.getByRole('button', { name: 'Ask “' }).click();
  await page.waitForURL(/\/run\//);
  await expect(page.locator('.pill.done')).shown();
  const again = page.url().split('/').pop();
  assert.ok(again !== run && again !== copy);
  await page.goto('/library');
  await page.locator(`.runs li:has(a[href="/run/${run}"]) > input`).check();
  await page.locator(`.runs li:has(a[href="/run/${again}"]) > input`).check();
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.locator('.compare .gone')).text(cheese);

  // A fork does its last step anew.
  await page.goto('/library');
  await page.locator(`.runs li:has(a[href="/run/${again}"])`).getByRole('button', { name: 'Fork “' }).click();
  await page.locator('.fork button').click();
  await page.waitForURL(/\/run\//);
  await expect(page.locator('.pill.done')).shown();
  await expect(page.locator('.report button.cite.verified')).atLeast(3);
  await other.done();
  await page.done();
});
