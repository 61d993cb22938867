// A folder is given to a collection and asked about: what could not be read is said
// with its reason, the answer cites the file, and the passage is the file's. With a
// model and without one.

import { accessible, assert, expect, fits, given, open, tab } from './browser.mjs';

const { chromium, url, gate, folder, dropped, shots } = given();
const words = 'The lamp is kept in the tower by the old harbour';

await open(chromium, async (browser) => {
  const page = await tab(browser, url, { quiet: ['ERR_CONNECTION', 'ERR_EMPTY_RESPONSE', 'ERR_INCOMPLETE', '413'] });
  const input = (label) => page.locator(`input[type=file][aria-label="${label}"]`);
  const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await page.goto('/knowledge');
  await expect(page.locator('.empty')).text('There are no collections yet');
  await page.getByLabel('Name').fill('Гавань 港');
  await page.getByLabel('Tags, with commas between').fill('sea, law');
  await page.getByRole('button', { name: 'Create it' }).click();
  await page.waitForURL(/knowledge\/./);
  await expect(page.locator('.empty')).text('There is nothing in this collection yet');
  await accessible(page, 'an empty collection');

  // A folder with names in three languages, one file that can't be read, one that is hidden.
  await input('Choose a folder').setInputFiles(folder);
  await expect(page.locator('.given li.read')).count(3);
  await expect(page.locator('.given li.failed')).text('The file is damaged.');
  await expect(page.locator('.drop')).text('Left out, because their names begin with a dot: 1');
  await expect(page.locator('.files > li')).count(4);
  await expect(page.locator('.files')).text('harbour/отчёты/маяк.md');
  await expect(page.locator('.files')).text('harbour/报告/灯.txt');
  await expect(page.locator('.files li.failed')).text('broken.pdf');
  if (shots) await page.screenshot({ path: `${shots}/uploaded.png`, fullPage: true });
  await accessible(page, 'a collection with documents');
  await page.getByPlaceholder('Name of a file or folder').fill('маяк');
  await expect(page.locator('.files > li')).count(1);
  await page.locator('.files summary').click();
  await expect(page.locator('.pieces .quoted')).text('Маяк построен в 1871 году.');
  await accessible(page, 'the passages of a document');
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page, 'a collection on a phone');
  if (shots) await page.screenshot({ path: `${shots}/uploaded-phone.png`, fullPage: true });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByPlaceholder('Name of a file or folder').fill('');

  // Dropped, a folder from the disk: on its place, and beside it, where the browser
  // would show a file in the place of the page.
  const cdp = await page.context().newCDPSession(page);
  const drop = async (x, y, ...files) => {
    for (const type of ['dragEnter', 'dragOver', 'drop']) await cdp.send('Input.dispatchDragEvent', { type, x, y, data: { items: [], files, dragOperationsMask: 1 } });
  };
  await drop(720, 5, dropped + '/new.md');
  await expect(page.locator('.given li.read')).text('new.md');
  await page.locator('.drop').scrollIntoViewIfNeeded();
  const at = await page.locator('.drop').boundingBox();
  await drop(at.x + 40, at.y + 20, dropped);
  await expect(page.locator('.given li.read')).count(2);
  await expect(page.locator('.files')).text('dropped/deep/er.txt');
  page.removeAllListeners('dialog');
  page.on('dialog', (d) => d.accept());
  for (const path of ['dropped/new.md', 'new.md']) {
    await page.getByRole('button', { name: 'Delete ' + path, exact: true }).click();
    await expect(page.getByRole('button', { name: 'Delete ' + path, exact: true })).gone();
  }
  await expect(page.locator('.files > li')).count(5);

  // What is too much for the server is refused, with what to do about it.
  await input('Choose files').setInputFiles([file('much.txt', 'rope '.repeat(300_000))]);
  await expect(page.locator('.given li.refused')).text('kb.max_uploads_mb');
  await page.getByRole('button', { name: 'Tags' }).click();
  await page.getByLabel('Tags, with commas between').fill('sea，港口');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('.tag')).count(2);

  // The server is gone for a while under an upload: all that was given is there. The
  // eleventh file is on its way when it goes.
  const many = Array.from({ length: 60 }, (_, i) => file(`note-${i}.txt`, `Note ${i} is about rope ${i}.`));
  let sent = 0, goOn;
  const gone = new Promise((r) => (goOn = r));
  await page.route('**/files?*', async (r) => {
    if (++sent > 10) await gone;
    await r.continue();
  });
  await input('Choose files').setInputFiles(many);
  await expect(page.locator('.given li.stored')).count(10);
  assert.ok((await fetch(gate + '/leave')).ok);
  const failed = page.waitForEvent('requestfailed', (r) => r.url().includes('/files?'));
  goOn();
  await failed;
  assert.ok((await fetch(gate + '/restart')).ok);
  await expect(page.locator('.given li.read')).count(60);
  await page.unroute('**/files?*');
  await page.reload();
  await expect(page.locator('.documents h2')).text('65');
  await page.getByRole('button', { name: 'Read all again' }).click();
  await expect(page.locator('.sending')).gone();
  await expect(page.locator('.documents h2')).text('65');

  // Asked, by its tag: the answer cites the file, and shows its words.
  await page.goto('/');
  await page.locator('.chip', { hasText: '#sea' }).click();
  await expect(page.locator('.chip.on')).count(3); // the collection, and both of its tags
  await page.locator('#question').fill('Where is the lamp kept?');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.waitForURL(/\/run\//);
  await expect(page.locator('.pill.done')).shown();
  await expect(page.locator('.report')).text(words);
  await page.locator('.report button.cite').first().click();
  await expect(page.locator('.popover blockquote')).text(words);
  await expect(page.locator('.popover')).text(/lamp/i);
  await page.getByRole('link', { name: 'Open at passage' }).click();
  await expect(page.locator('.snapshot mark')).text(words);

  // With the collection go its files.
  await page.goto('/knowledge');
  await expect(page.locator('.runs .tag')).count(2);
  await page.locator('.runs a').click();
  await page.getByRole('button', { name: 'Delete the collection' }).click();
  await expect(page.locator('.empty')).text('There are no collections yet');
  await page.done();
});
