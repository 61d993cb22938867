// playwright-core has no expect of its own: this one waits for what is asked of a
// locator, as long as its page waits for anything.

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

export { chromium };

/** patience is how long anything is waited for: a machine that does much beside takes its time. */
export const patience = 60_000;

async function until(locator, say, holds) {
  const end = Date.now() + patience;
  for (let last; ; ) {
    try {
      last = await holds();
      if (last === true) return;
    } catch (err) {
      last = err.message;
    }
    if (Date.now() > end) assert.fail(`${locator}: ${say}; last: ${last}\n${await locator.page().locator('main').innerText().catch(() => '')}`);
    // A page that goes elsewhere meanwhile takes its frame along.
    await locator.page().evaluate(() => new Promise((r) => requestAnimationFrame(() => r()))).catch(() => locator.page().waitForTimeout(20));
  }
}

export function expect(locator) {
  return {
    shown: () => locator.first().waitFor(),
    gone: () => until(locator, 'is to be gone', async () => (await locator.count()) === 0 || (await locator.count())),
    text: (want) => until(locator, `is to say ${want}`, async () => {
      const said = (await locator.allInnerTexts()).join('\n');
      return (want instanceof RegExp ? want.test(said) : said.includes(want)) || said.slice(0, 300);
    }),
    count: (n) => until(locator, `are to be ${n}`, async () => (await locator.count()) === n || (await locator.count())),
    focused: () => until(locator, 'is to have the focus', () => locator.evaluate((el) => el === document.activeElement)),
    inSight: () => until(locator, 'is to be in sight', () => locator.evaluate((el) => el.getBoundingClientRect().top < innerHeight && el.getBoundingClientRect().bottom > 0)),
    as: (other) => until(locator, `are to be as many as ${other}`, async () => {
      const [here, there] = [await locator.count(), await other.count()];
      return (here > 0 && here === there) || `${here} and ${there}`;
    }),
    atLeast: (n) => until(locator, `are to be at least ${n}`, async () => (await locator.count()) >= n || (await locator.count())),
  };
}

/** titled waits for the title of a page. */
export const titled = (page, want) => until(page.locator('title'), `is to be ${want}`, async () => (await page.title()) === want || page.title());
