// Every page, form and button in a real headless Chromium, against the demo under load. Screenshots go to target/browser.
// Environment: FAIRGATE_BIN, the built command; PSQL, a psql to set up what no button can (else that part is left out);
// FAIRGATE_CHROMIUM, the browser's program.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
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
let failed = 0;
try {
  for (const [file, steps] of Object.entries({ looks, operations, refreshing, switches })) {
    for (const [name, step] of Object.entries(steps)) {
      if (process.argv[2] && !name.includes(process.argv[2])) continue;
      const began = Date.now();
      try {
        await step(browser, demo);
        console.log(`ok      ${file}: ${name.replaceAll('_', ' ')} (${Date.now() - began} ms)`);
      } catch (error) {
        failed += 1;
        console.log(`FAILED  ${file}: ${name.replaceAll('_', ' ')}\n${error.stack ?? error}`);
        await browser.shoot(`failed-${name}`).catch(() => {});
      }
    }
  }
  assert.deepEqual(browser.complaints, [], 'the browser complained');
} catch (error) {
  failed += 1;
  console.log(`FAILED  ${error.message}`);
} finally {
  await browser.close();
  await demo.stop();
}
console.log(`${failed === 0 ? 'all good' : `${failed} failed`}; screenshots in ${shots}`);
process.exit(failed === 0 ? 0 : 1);
