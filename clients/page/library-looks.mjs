// The library, two reports side by side and a report under the pen, in one language,
// light and dark, on a phone and on a wide screen.

import { expect, given, looker, open, tab } from './browser.mjs';

const { chromium, url, run, other, lang, shots } = given();

await open(chromium, async (browser) => {
  if (shots && lang === 'en') {
    // The picture of the README: a sentence, and the passage behind it.
    const page = await tab(browser, url, { width: 1160, height: 720 });
    await page.goto('/run/' + other);
    await expect(page.locator('svg.plot')).atLeast(1);
    await page.locator('h2', { hasText: 'Government' }).evaluate((h) => scrollTo(0, h.getBoundingClientRect().top - 330));
    await page.locator('p:below(h2:has-text("Government")) button.cite.verified').nth(2).click();
    await expect(page.locator('.popover blockquote')).shown();
    await page.screenshot({ path: `${shots}/readme.png` });
    await page.done();
  }
  for (const dark of [false, true]) {
    const page = await tab(browser, url, { lang, dark });
    const look = looker(page, { lang, dark, shots });
    await page.goto('/library');
    await expect(page.locator('.runs li')).atLeast(2);
    await page.locator('.runs li input').first().check();
    await page.locator('.runs li .actions button').first().click();
    await expect(page.locator('.below .tags input')).shown();
    await page.locator('.runs li').nth(1).locator('.actions button').nth(2).click();
    await expect(page.locator('.below .fork select')).shown();
    await look('library');
    await page.goto(`/library?a=${run}&b=${other}`);
    await expect(page.locator('.compare .sides')).atLeast(2);
    await look('compare');
    await page.goto('/run/' + run);
    await expect(page.locator('.notice.edited')).shown();
    await expect(page.locator('svg.plot')).atLeast(1);
    await look('edited');
    await page.locator('.bar-top button').click();
    await page.locator('.block > button').nth(1).click();
    await expect(page.locator('.block textarea')).shown();
    await look('editor');
    await page.done();
  }
});
