import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

it('refuses standard input that is not UTF-8', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [resolve('cli/docket.ts'), 'job', 'create', '--project', 'prj_1', '-'],
    {
      input: Buffer.from('Fix the caf\u00e9', 'latin1'),
      env: { ...process.env, DOCKET_URL: 'http://127.0.0.1:1', DOCKET_API_KEY: `svc_${'a'.repeat(61)}` },
      encoding: 'utf8',
    },
  );
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'Standard input is not UTF-8 text. Convert it, for example with iconv.\n',
  });
});
