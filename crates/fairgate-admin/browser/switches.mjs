// Switching off, on a ticker of its own: the demo ends when it is disabled.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONFIG = '[queues.main]\ntype = "graphile_worker"\n\n[policies.mails]\nqueue = "main"\npartition_by = "tenant"\n';

async function served(demo, work) {
  demo.sql('CREATE DATABASE second');
  const url = demo.database.replace('/fairgate_demo?', '/second?').replace(/\/fairgate_demo$/, '/second');
  demo.command(['migrate', '--database-url', url]);
  writeFileSync(join(demo.folder, 'second.toml'), CONFIG);
  const args = ['run', '--config', 'second.toml', '--database-url', url, '--admin-bind', '127.0.0.1:0', '--admin-password', 'secret'];
  const child = spawn(demo.bin, args, { cwd: demo.folder, stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    const place = await new Promise((done, fail) => {
      let said = '';
      child.on('exit', () => fail(new Error(`the ticker ended:\n${said}`)));
      child.stderr.on('data', (data) => {
        said += data;
        const found = /admin pages: (http:\S+)\/\n/.exec(said);
        if (found) done(found[1]);
      });
    });
    child.removeAllListeners('exit');
    await work(place);
  } finally {
    child.kill('SIGTERM');
  }
}

export async function a_password_is_asked_for_and_everything_is_switched_off_and_on(browser, demo) {
  await served(demo, async (place) => {
    assert.equal((await fetch(place)).status, 401);
    assert.equal((await fetch(`${place}/health/ready`)).status, 200);
    const before = browser.url;
    browser.url = place.replace('http://', 'http://ann:secret@');
    await browser.as(1400, 'light');
    try {
      await browser.go('/policies/mails');
      await browser.carefully('disable', 'Disable');
      assert.match(await browser.told(), /"mails" is disabled/);
      await browser.press('Enable');
      assert.match(await browser.told(), /is enabled/);
      await browser.go('/');
      await browser.carefully('disable-all', 'Disable everything');
      assert.match(await browser.told(), /fairgate is disabled/);
      assert.match(await browser.page.locator('.hints').innerText(), /fairgate is disabled/);
      await browser.press('Enable');
      assert.match(await browser.told(), /fairgate is enabled/);
      await browser.go('/audit');
      const trail = await browser.page.locator('tbody').innerText();
      assert.match(trail, /ann/);
      assert.match(trail, /disable/);
    } finally {
      browser.url = before;
      await browser.as(1400, 'light');
    }
  });
}
