// The library, two reports side by side and a report under the pen, in three languages,
// light and dark, on a phone and on a wide screen.

import { accessible, expect, fits, given, open, tab } from './browser.mjs';

const { chromium, url, run, other, shots } = given();

await open(chromium, async (browser) => {
  for (const lang of ['en', 'ru', 'zh']) {
    for (const dark of [false, true]) {
      const page = await tab(browser, url, { lang, dark });
      const look = async (name) => {
        for (const width of [1440, 390]) {
          await page.setViewportSize({ width, height: 900 });
          const where = `${name} ${lang} ${dark ? 'dark' : 'light'} ${width}`;
          await fits(page, where);
          // What axe looks at beside colours is the same in light and dark.
          if (lang === 'en' || !dark) await accessible(page, where, lang === 'en' && width === 1440);
          if (shots) await page.screenshot({ path: `${shots}/${name}-${lang}-${dark ? 'dark' : 'light'}-${width}.png`, fullPage: width === 1440 });
        }
      };
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
  }
});
