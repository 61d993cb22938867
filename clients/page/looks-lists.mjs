// Collections and lists in three languages, light and dark, on a phone and on a wide
// screen: nothing sticks out, axe finds nothing.

import { expect, given, looker, open, tab } from './browser.mjs';

const { chromium, url, shots } = given();

await open(chromium, async (browser) => {
  for (const lang of ['en', 'ru', 'zh']) {
    for (const dark of [false, true]) {
      const page = await tab(browser, url, { lang, dark });
      const look = looker(page, { lang, dark, shots });
      await page.goto('/knowledge/papers');
      await page.locator('.sources input').fill('lamp');
      await page.locator('.sources input').press('Enter');
      await expect(page.locator('.quoted')).text('The lamp is kept in the tower');
      await page.locator('.files > li:not(.failed) summary').first().click();
      await expect(page.locator('.pieces li')).atLeast(1);
      await look('collection');
      await page.goto('/knowledge');
      await expect(page.locator('.runs li')).atLeast(1);
      await look('knowledge');
      await page.goto('/library');
      await expect(page.locator('.runs li')).atLeast(1);
      await look('library');
      await page.goto('/talk');
      await expect(page.locator('.talk aside li')).atLeast(1);
      await look('talks');
      await page.done();
    }
  }
});
