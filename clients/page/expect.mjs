// playwright-core has no expect of its own: this one waits for what is asked of a
// locator, as long as its page waits for anything.

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

export { chromium };

async function until(locator, say, holds) {
  const end = Date.now() + 20_000;
  for (let last; ; ) {
    try {
      last = await holds();
      if (last === true) return;
    } catch (err) {
      last = err.message;
    }
    if (Date.now() > end) assert.fail(`${locator}: ${say}; last: ${last}\n${await locator.page().locator('main').innerText().catch(() => '')}`);
    await locator.page().evaluate(() => new Promise((r) => requestAnimationFrame(() => r())));
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
    atLeast: (n) => until(locator, `are to be at least ${n}`, async () => (await locator.count()) >= n || (await locator.count())),
  };
}
