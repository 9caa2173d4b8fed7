// How pages look: wide and narrow, light and dark, and for those who do not see them.
import assert from 'node:assert/strict';

async function pages(demo) {
  const { policy, key } = await demo.fullest();
  const partition = `/partitions/${policy}?key=${encodeURIComponent(key)}`;
  return { dashboard: '/', policies: '/policies', policy: `/policies/${policy}`, partitions: '/partitions', 'partitions-of': `/partitions/${policy}`, partition, quarantine: '/quarantine', trail: '/audit', missing: '/nope' };
}

export async function every_page_fits_its_screen_and_passes_axe(browser, demo) {
  for (const [width, scheme] of [[1400, 'light'], [400, 'light'], [1400, 'dark'], [400, 'dark']]) {
    await browser.as(width, scheme);
    for (const [name, path] of Object.entries(await pages(demo))) {
      assert.equal(await browser.go(path), name === 'missing' ? 404 : 200, path);
      await browser.shoot(`${name}-${width}-${scheme}`);
      assert.ok((await browser.overflow()) <= 0, `${name} is wider than ${width} px`);
      assert.deepEqual(await browser.axe(), [], `${name} at ${width} px, ${scheme}`);
    }
  }
  await browser.as(1400, 'light');
}

export async function three_clicks_lead_to_why_a_job_waits(browser, demo) {
  const { policy } = await demo.fullest();
  // Paused, so that the job that is looked at still waits when it is clicked.
  await browser.go(`/policies/${policy}`);
  await browser.press('Pause');
  await browser.go('/');
  await browser.page.getByRole('link', { name: policy, exact: true }).first().click();
  await browser.page.locator('.ranking a.key').first().click();
  await browser.page.locator('a.mono').first().click();
  const why = await browser.page.locator('section[aria-labelledby=why]').innerText();
  assert.match(why, /resume/);
  assert.match(why, /is paused/);
  for (const [width, scheme] of [[1400, 'light'], [400, 'dark']]) {
    const path = new URL(browser.page.url()).pathname;
    await browser.as(width, scheme);
    await browser.go(path);
    await browser.shoot(`job-${width}-${scheme}`);
    assert.deepEqual(await browser.axe(), []);
    assert.ok((await browser.overflow()) <= 0, `a job is wider than ${width} px`);
  }
  await browser.go(`/policies/${policy}`);
  await browser.press('Resume');
  await browser.as(1400, 'light');
}

export async function charts_tell_their_values(browser) {
  await browser.go('/?window=1h');
  assert.equal(await browser.page.locator('.chart').count(), 4);
  assert.match(await browser.page.locator('.chart .hover title').last().textContent(), /\d\d:\d\d:\d\d UTC/);
  assert.match(await browser.page.locator('.chart svg').first().getAttribute('aria-label'), /highest [\d,.]+/);
  assert.equal(await browser.page.locator('.windows a[aria-current]').innerText(), '1 hour');
}

export async function a_job_is_found_by_its_id_and_a_wrong_one_gets_a_sentence(browser, demo) {
  await browser.go('/');
  await browser.page.locator('#lookup').fill('not an id');
  await browser.page.locator('#lookup').press('Enter');
  await browser.page.waitForLoadState();
  assert.match(await browser.told(), /UUID/);
  await browser.page.locator('#lookup').fill('01970000-0000-7000-8000-000000000000');
  await browser.page.locator('#lookup').press('Enter');
  await browser.page.waitForURL('**/jobs/01970000-0000-7000-8000-000000000000');
  assert.match(await browser.page.locator('main').innerText(), /This job is not here/);
}

export async function partitions_are_searched_sorted_filtered_and_paged(browser, demo) {
  const { policy, key } = await demo.fullest();
  await browser.go(`/partitions/${policy}`);
  await browser.page.getByLabel('Key contains').fill(key);
  await browser.page.getByLabel('Sort by').selectOption('key');
  await browser.press('Show');
  assert.equal(await browser.page.locator('tbody a.key').first().innerText(), key);
  await browser.page.getByLabel('Key contains').fill('%');
  await browser.page.getByLabel('only where jobs wait').check();
  await browser.press('Show');
  assert.match(await browser.page.locator('main').innerText(), /No partition matches/);
  await browser.go(`/partitions/demo_pushes?sort=key`);
  const first = await browser.page.locator('tbody a.key').first().innerText();
  const next = browser.page.getByRole('link', { name: 'next page »' });
  if (await next.count()) {
    await next.click();
    assert.notEqual(await browser.page.locator('tbody a.key').first().innerText(), first);
    await browser.page.getByRole('link', { name: '« first page' }).click();
    assert.equal(await browser.page.locator('tbody a.key').first().innerText(), first);
  }
}
