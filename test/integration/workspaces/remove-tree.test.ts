import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeTree } from '../../../activities/workspaces/remove-tree.ts';
import { digDown } from '../clients/hostile-files.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('removes folders nested deeper than a path may be long', async () => {
  const root = join(temporaryDirectory(), 'job');
  // they are still being removed when the deepest is found to be out of reach
  for (let folder = 0; folder < 4; folder += 1) {
    const path = join(root, String(folder), 'd/'.repeat(300));
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'file'), 'x');
  }
  await digDown(root, 25, 'd'.repeat(200));
  await removeTree(root);
  expect(existsSync(root)).toBe(false);
  // and what is not there is no error
  await removeTree(root);
});
