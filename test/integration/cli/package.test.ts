import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { buildProject } from '../../support/database/build.ts';
import { buildIndexedSite } from '../assistant/site.ts';
import { serveCommands } from './served.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const run = promisify(execFile);
const checkout = resolve(import.meta.dirname, '../../..');

it(
  'the packed command line needs only Node, an address and a key, and installs nothing else',
  { tags: 'slow' },
  async () => {
    await using served = await serveCommands();
    const { site, organizationId, adminKey, assistantKey } = await buildIndexedSite(served.database.pool);
    await buildProject(served.database.pool, { organizationId });
    const folder = temporaryDirectory();
    await run('npm', ['pack', './cli', '--pack-destination', folder], { cwd: checkout });
    const [tarball = ''] = await readdir(folder);
    expect((await stat(join(folder, tarball))).size).toBeLessThan(200_000);

    // the machine's Node, if it has one next to the project's
    const path = (process.env['PATH'] ?? '').split(delimiter).filter((one) => !one.startsWith(checkout));
    const env = { PATH: path.join(delimiter), HOME: folder, DOCKET_URL: served.api.url, DOCKET_API_KEY: adminKey };
    const shell = (file: string, args: string[], more = {}) =>
      run(file, args, { cwd: folder, env: { ...env, ...more } });
    await shell('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`]);
    expect((await readdir(join(folder, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual(['docket']);

    const docket = (args: string[], more = {}) => shell('npx', ['--no-install', 'docket', ...args], more);
    const created = JSON.parse((await docket(['job', 'create', 'Write one', '--json'])).stdout);
    expect((await docket(['job', 'list'])).stdout).toContain(created.id);
    const asked = await docket(['ask', 'How do I set the retry limit?', '--site', site.domain], {
      DOCKET_ASSISTANT_KEY: assistantKey,
    });
    expect(asked.stdout).toContain('retryLimit');
    await expect(docket(['job', 'replay', created.id])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('in a Docket checkout'),
    });
    await expect(docket(['org', 'grant', 'ORG', 'x', '--json'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('docker compose exec api node cli/docket.ts org …'),
    });
  },
);
