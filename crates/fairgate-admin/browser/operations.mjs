// Every button, pressed.
import assert from 'node:assert/strict';

const partitionPath = ({ policy, key }) => `/partitions/${policy}?key=${encodeURIComponent(key)}`;

export async function a_policy_is_paused_and_resumed(browser) {
  await browser.go('/policies/demo_pushes');
  await browser.press('Pause');
  assert.match(await browser.told(), /"demo_pushes" is paused/);
  assert.match(await browser.page.locator('main').innerText(), /paused/);
  await browser.press('Resume');
  assert.match(await browser.told(), /is not paused/);
}

export async function a_partition_is_paused_admitted_from_drained_and_resumed(browser, demo) {
  const place = await demo.fullest();
  await browser.go(partitionPath(place));
  await browser.press('Pause');
  assert.match(await browser.told(), /is paused/);
  await demo.until(async () => (await demo.json(`/api/v1/explain/${place.policy}?key=${encodeURIComponent(place.key)}`)).pending > 1);
  await browser.go(partitionPath(place));
  await browser.page.locator('details#admit summary').click();
  await browser.shoot('partition-admit-panel');
  await browser.page.keyboard.press('Escape');
  assert.equal(await browser.page.locator('details#admit').getAttribute('open'), null);
  await browser.carefully('admit', 'Admit');
  assert.match(await browser.told(), /^1 job admitted/);
  await browser.carefully('drain', 'Drain');
  assert.match(await browser.told(), /jobs? admitted/);
  await browser.press('Resume');
  assert.match(await browser.told(), /is not paused/);
}

export async function blank_and_silly_numbers_get_a_message(browser, demo) {
  await browser.go(partitionPath(await demo.fullest()));
  for (const silly of ['', '-1', '1e9']) {
    await browser.page.locator('details#admit summary').click();
    // Past the browser's own check, to the server's.
    await browser.page.locator('details#admit form').evaluate((form) => { form.noValidate = true; });
    await browser.page.getByLabel('Jobs').fill(silly);
    await browser.page.locator('details#admit').getByRole('button', { name: 'Admit' }).click();
    await browser.page.waitForLoadState();
    assert.match(await browser.told(), /blank|give a whole number/, silly);
  }
}

export async function a_limit_is_overridden_and_the_override_ended(browser, demo) {
  await browser.go(partitionPath({ ...(await demo.fullest()) }));
  const panel = browser.page.locator('details#override');
  await panel.locator('summary').click();
  await panel.getByLabel('Number').fill('77');
  await panel.getByLabel('Why').fill('<b>a busy day</b>');
  await browser.shoot('partition-override-panel');
  assert.deepEqual(await browser.axe(), []);
  await panel.getByRole('button', { name: 'Override' }).click();
  await browser.page.waitForLoadState();
  assert.match(await browser.told(), /is 77 until/);
  assert.match(await browser.page.locator('section[aria-labelledby=overrides]').innerText(), /<b>a busy day<\/b>/);
  await browser.press('End');
  assert.match(await browser.told(), /as declared again/);
}

export async function a_waiting_job_is_cancelled(browser, demo) {
  const place = await demo.fullest();
  await browser.go(partitionPath(place));
  await browser.press('Pause');
  await demo.until(async () => (await demo.json(`/api/v1/explain/${place.policy}?key=${encodeURIComponent(place.key)}`)).pending > 0);
  await browser.go(partitionPath(place));
  await browser.page.locator('section[aria-labelledby=line] a.mono').first().click();
  assert.match(await browser.page.locator('#payload pre').innerText(), /\{/);
  await browser.carefully('cancel', 'Cancel');
  assert.match(await browser.told(), /is cancelled/);
  await browser.go(partitionPath(place));
  await browser.press('Resume');
}

export async function quarantined_jobs_are_read_and_dropped(browser, demo) {
  demo.sql(`WITH ids AS (SELECT j.*, row_number() OVER () AS n FROM fairgate.partition j LIMIT 4)
    INSERT INTO fairgate.quarantined (job_id, partition_id, policy_id, partition_key, priority, staged_at, task, payload, context, forward_attempts, error, quarantined_at)
    SELECT fairgate.job_id(now(), nextval('fairgate.job_seq')), i.id, i.policy_id, i.key, 0, now(), 'fairgate_demo_nothing', '{}', i.context, 5, 'value <too long> for type', now() FROM ids i`);
  await browser.go('/quarantine');
  await browser.shoot('quarantine-full');
  assert.deepEqual(await browser.axe(), []);
  await browser.page.locator('tbody a.mono').first().click();
  await browser.shoot('job-quarantined');
  assert.match(await browser.page.locator('main').innerText(), /value <too long> for type/);
  await browser.carefully('drop', 'Drop');
  assert.match(await browser.told(), /is dropped/);
  await browser.go('/quarantine');
  while (await browser.page.locator('[id^=drop-]').count()) {
    const id = await browser.page.locator('[id^=drop-]').first().getAttribute('id');
    await browser.carefully(id, 'Drop all');
    assert.match(await browser.told(), /dropped/);
  }
  assert.match(await browser.page.locator('main').innerText(), /No job is quarantined/);
}

export async function what_was_done_is_in_the_trail(browser) {
  await browser.go('/audit');
  const trail = await browser.page.locator('tbody').innerText();
  for (const action of ['pause', 'resume', 'admit', 'drain', 'override', 'end override', 'cancel']) {
    assert.ok(trail.includes(action), `${action} is written down`);
  }
  await browser.shoot('trail-full');
}
