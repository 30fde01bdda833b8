import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { boundFiles } from '../../support/compiled-code.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('empties the folder of compiled code once it holds too many files', () => {
  const parent = temporaryDirectory();
  const folder = join(parent, 'tests');
  boundFiles(folder, 2);
  mkdirSync(join(folder, 'v24'), { recursive: true });
  writeFileSync(join(folder, 'v24/one'), '');
  boundFiles(folder, 2);
  expect(readdirSync(join(folder, 'v24'))).toEqual(['one']);
  writeFileSync(join(folder, 'v24/two'), '');
  boundFiles(folder, 2);
  expect(readdirSync(parent)).toEqual([]);
});
