// Every page, form and button in a real headless Chromium, against the demo under load. Screenshots go to target/browser.
// Environment: FAIRGATE_BIN, the built command; PSQL, a psql to set up what no button can (else the one in PATH);
// FAIRGATE_CHROMIUM, the browser's program.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { resolve } from 'node:path';
import { Demo } from './demo.mjs';
import { Browser } from './browser.mjs';
import * as looks from './looks.mjs';
import * as operations from './operations.mjs';
import * as refreshing from './refreshing.mjs';
import * as switches from './switches.mjs';

const shots = resolve('target/browser');
rmSync(shots, { recursive: true, force: true });
mkdirSync(shots, { recursive: true });

const demo = await Demo.start();
const browser = await Browser.open(demo.url, shots);

for (const [file, steps] of Object.entries({ looks, operations, refreshing, switches })) {
  for (const [name, step] of Object.entries(steps)) {
    if (process.argv[2] && !name.includes(process.argv[2])) continue;
    test(`${file}: ${name.replaceAll('_', ' ')}`, async () => {
      try {
        await step(browser, demo);
      } catch (error) {
        await browser.shoot(`failed-${name}`).catch(() => {});
        throw error;
      }
    });
  }
}
test('the browser complains of nothing', () => assert.deepEqual(browser.complaints, []));

after(async () => {
  await browser.close();
  await demo.stop();
});
