// Refreshing keeps what the user has, and never runs twice at once.
import assert from 'node:assert/strict';

const count = (browser) => browser.page.evaluate(() => Number(document.documentElement.dataset.refreshes || 0));

async function refreshes(browser, more) {
  const before = await count(browser);
  await browser.page.waitForFunction((wanted) => Number(document.documentElement.dataset.refreshes || 0) >= wanted, before + more);
}

export async function what_is_typed_opened_scrolled_and_focused_stays(browser, demo) {
  const { policy, key } = await demo.fullest();
  await browser.as(400, 'light');
  await browser.go(`/partitions/${policy}?key=${encodeURIComponent(key)}`);
  const panel = browser.page.locator('details#override');
  await panel.locator('summary').click();
  await panel.getByLabel('Why').fill('half a sentence');
  await panel.getByLabel('Number').fill('12');
  await browser.page.locator('details#context summary').click();
  await browser.page.locator('#refresh').selectOption('2');
  await panel.getByLabel('Number').focus();
  await browser.page.evaluate(() => window.scrollTo(0, 200));
  await refreshes(browser, 2);
  assert.equal(await panel.getByLabel('Why').inputValue(), 'half a sentence');
  assert.equal(await panel.getByLabel('Number').inputValue(), '12');
  assert.notEqual(await panel.getAttribute('open'), null, 'the panel is still open');
  assert.equal(await browser.page.locator('details#context').getAttribute('open'), null, 'what was closed stays closed');
  assert.equal(await browser.page.evaluate(() => document.activeElement.name), 'value');
  assert.equal(await browser.page.evaluate(() => Math.round(window.scrollY)), 200);
}

export async function numbers_change_and_the_choice_is_kept(browser) {
  await browser.as(1400, 'light');
  await browser.go('/');
  await browser.page.locator('#refresh').selectOption('2');
  const shown = () => browser.page.locator('main').innerText();
  const before = await shown();
  await refreshes(browser, 2);
  assert.match(await browser.page.locator('#refreshed').innerText(), /^refreshed /);
  assert.notEqual(await shown(), before, 'something has changed under load');
  await browser.go('/policies');
  assert.equal(await browser.page.locator('#refresh').inputValue(), '2');
}

export async function no_refresh_begins_while_another_is_under_way(browser) {
  let running = 0;
  let most = 0;
  await browser.page.route('**/policies', async (route) => {
    if (route.request().headers()['x-refresh']) {
      running += 1;
      most = Math.max(most, running);
      await new Promise((done) => setTimeout(done, 5_000));
      running -= 1;
    }
    await route.continue();
  });
  await browser.go('/policies');
  await browser.page.locator('#refresh').selectOption('2');
  // Longer than the pause between refreshes, twice.
  await refreshes(browser, 2);
  assert.equal(most, 1);
  await browser.page.unroute('**/policies');
  await browser.page.locator('#refresh').selectOption('0');
}

export async function the_theme_is_kept_and_goes_before_the_systems(browser) {
  await browser.as(1400, 'light');
  await browser.go('/');
  const back = () => browser.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await back();
  await browser.page.locator('#theme').selectOption('dark');
  const dark = await back();
  assert.notEqual(dark, light);
  await browser.go('/policies');
  assert.equal(await back(), dark);
  await browser.page.locator('#theme').selectOption('auto');
  assert.equal(await back(), light);
}
