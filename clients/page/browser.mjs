// What every script for the page needs: a browser, and watch over what it must not
// do. A page that writes to the console that something is wrong, or asks any other
// server for anything, fails the script.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, expect, patience, titled } from './expect.mjs';

export { assert, expect, titled };

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** open starts the browser, calls what is to be done, and closes it. */
export async function open(path, what) {
  const args = ['--disable-dev-shm-usage', '--force-prefers-reduced-motion'];
  if (process.getuid?.() === 0) args.push('--no-sandbox');
  const browser = await chromium.launch({ executablePath: path, args });
  try {
    await what(browser);
  } finally {
    await browser.close();
  }
}

/** tab is a page of its own in a browser, with what went wrong in it. */
export async function tab(browser, base, { lang = 'en', dark = false, width = 1440, height = 900, quiet = [] } = {}) {
  const context = await browser.newContext({
    baseURL: base, viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', locale: lang, reducedMotion: 'reduce', acceptDownloads: true, bypassCSP: false,
  });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const wrong = [];
  page.on('console', (m) => (m.type() === 'error' || m.type() === 'warning') && !quiet.some((q) => m.text().includes(q)) && wrong.push(`console: ${m.text()} ${m.location().url}`));
  page.on('pageerror', (e) => wrong.push(`error: ${e.message}`));
  page.on('dialog', (d) => (wrong.push(`dialog: ${d.message()}`), d.dismiss()));
  page.on('request', (r) => !r.url().startsWith(base) && !r.url().startsWith('blob:' + base) && wrong.push(`request to ${r.url()}`));
  page.wrong = wrong;
  page.done = async () => {
    assert.deepEqual(wrong, [], 'the page did what it must not');
    await context.close();
  };
  return page;
}

/** fits asserts that nothing sticks out at the side. */
export async function fits(page, where) {
  const out = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(out <= 0, `${where}: ${out} px stick out at the side`);
}

/** accessible asserts that axe finds nothing. */
export async function accessible(page, where) {
  if (!(await page.evaluate(() => !!window.axe))) await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')}`);
  });
  assert.deepEqual(found, [], where);
}

/** looker returns what looks at a screen, wide and on a phone: nothing sticks out, axe
 * finds nothing. Pictures are left in the folder shots. */
export const looker = (page, { lang, dark, shots }) => async (name) => {
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const where = [name, lang, dark ? 'dark' : 'light', width].join('-');
    await fits(page, where);
    await accessible(page, where);
    if (shots) await page.screenshot({ path: `${shots}/${where}.png`, fullPage: width === 1440 });
  }
};

/** answered does something and waits for the server's answer to the request that comes of it. */
export async function answered(page, path, act) {
  const [reply] = await Promise.all([page.waitForResponse((r) => path.test(new URL(r.url()).pathname)), act()]);
  return reply;
}

export const given = () => JSON.parse(process.argv[2]);
