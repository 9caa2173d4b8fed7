// The demo in a folder of its own, with its private PostgreSQL.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const PATIENCE_MS = 90_000;

export class Demo {
  static async start() {
    const demo = new Demo();
    demo.folder = mkdtempSync(join(tmpdir(), 'fairgate-browser-'));
    demo.bin = resolve(process.env.FAIRGATE_BIN ?? 'target/debug/fairgate');
    const env = { ...process.env };
    delete env.DATABASE_URL;
    delete env.FAIRGATE_DATABASE_URL;
    demo.child = spawn(demo.bin, ['demo', '--port', '0'], { cwd: demo.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    demo.child.stdout.resume();
    await new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`the demo did not start:\n${said}`)), PATIENCE_MS);
      demo.child.on('exit', (code) => fail(new Error(`the demo ended with ${code}:\n${said}`)));
      demo.child.stderr.on('data', (data) => {
        said += data;
        const url = /admin pages: (http:\S+)\/\n/.exec(said);
        const database = /psql '([^']+)'/.exec(said);
        if (url && database) {
          demo.url = url[1];
          demo.database = database[1];
          clearTimeout(timer);
          done();
        }
      });
    });
    demo.child.removeAllListeners('exit');
    demo.child.on('exit', (code) => {
      if (!demo.stopping) console.log(`the demo ended by itself with ${code}:\n${said.slice(-2_000)}`);
    });
    await demo.until(async () => {
      const status = await demo.json('/api/v1/status');
      return status.policies.some((policy) => policy.pending > 20) && status.policies.some((policy) => policy.admitted_last_minute > 0);
    });
    return demo;
  }

  async json(path) {
    return (await fetch(this.url + path)).json();
  }

  // Asks until it is so.
  async until(condition) {
    const end = Date.now() + PATIENCE_MS;
    while (!(await condition())) {
      if (Date.now() > end) throw new Error(`never came true: ${condition}`);
      await new Promise((done) => setTimeout(done, 100));
    }
  }

  // What no button can set up.
  sql(text) {
    return execFileSync(process.env.PSQL ?? 'psql', [this.database, '-qAt', '-v', 'ON_ERROR_STOP=1', '-c', text], { encoding: 'utf8' }).trim();
  }

  command(args) {
    return execFileSync(this.bin, args, { cwd: this.folder, encoding: 'utf8', stdio: 'pipe' });
  }

  // The key of the partition with the most waiting jobs, and its policy.
  async fullest() {
    let found;
    await this.until(async () => {
      const { policies } = await this.json('/api/v1/status');
      const policy = policies.toSorted((a, b) => b.pending - a.pending)[0].name;
      const { partitions } = await this.json(`/api/v1/partitions/${policy}?limit=1`);
      found = { policy, key: partitions[0]?.key };
      return partitions[0]?.pending > 0;
    });
    return found;
  }

  async stop() {
    this.stopping = true;
    if (this.child.exitCode !== null) return;
    const ended = new Promise((done) => this.child.once('exit', done));
    this.child.kill('SIGINT');
    const again = setInterval(() => this.child.kill('SIGINT'), 3_000);
    const patience = setTimeout(() => this.child.kill('SIGKILL'), 30_000);
    await ended;
    clearInterval(again);
    clearTimeout(patience);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
