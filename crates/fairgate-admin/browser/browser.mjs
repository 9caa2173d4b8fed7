// A browser that notes every complaint: errors of scripts, refusals of the content security policy, answers that failed.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PROGRAMS = [process.env.FAIRGATE_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export class Browser {
  static async open(url, shots) {
    const browser = new Browser();
    browser.url = url;
    browser.shots = shots;
    browser.complaints = [];
    const executablePath = PROGRAMS.find((program) => program && existsSync(program));
    assert.ok(executablePath, 'no Chromium was found; FAIRGATE_CHROMIUM names one');
    // Root may not use the sandbox.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    browser.program = await chromium.launch({ executablePath, args });
    await browser.as(1400, 'light');
    return browser;
  }

  // A fresh visitor with such a screen.
  async as(width, colorScheme) {
    await this.context?.close();
    this.context = await this.program.newContext({ viewport: { width, height: 900 }, colorScheme });
    this.page = await this.context.newPage();
    this.page.setDefaultTimeout(20_000);
    this.page.on('pageerror', (error) => this.complaints.push(`script: ${error.message}`));
    this.page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d|net::ERR_ABORTED/.test(message.text())) this.complaints.push(`console: ${message.text()}`);
    });
  }

  async go(path) {
    const answer = await this.page.goto(this.url + path);
    return answer.status();
  }

  async shoot(name) {
    await this.page.screenshot({ path: `${this.shots}/${name}.png`, fullPage: true });
  }

  // What axe finds wrong for people with disabilities.
  async axe() {
    await this.page.evaluate(axe);
    const found = await this.page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    return found.violations.map((one) => `${one.id}: ${one.help} (${one.nodes.map((node) => node.target.join(' ')).slice(0, 4).join(', ')})`);
  }

  // Whether the page is wider than the screen.
  async overflow() {
    return this.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  }

  async press(name, scope = '#main') {
    await this.page.locator(scope).getByRole('button', { name, exact: true }).first().click();
    await this.page.waitForLoadState();
  }

  // Opens a panel of operations and presses the button in it.
  async carefully(id, name) {
    const panel = this.page.locator(`details#${id}`);
    await panel.locator('summary').click();
    await panel.getByRole('button', { name, exact: true }).click();
    await this.page.waitForLoadState();
  }

  async told() {
    return (await this.page.locator('#told').innerText()).trim();
  }

  async close() {
    await this.program.close();
  }
}
