import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { canEnter } from '../../../../local/postgres/data-location.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

it('lets an account enter a folder only if it may traverse every folder above', async () => {
  const folder = temporaryDirectory();
  const inner = join(folder, 'a/b');
  await mkdir(inner, { recursive: true });
  const stranger = { uid: 54_321, gid: 54_321 };
  await chmod(folder, 0o711);
  expect(await canEnter(inner, stranger)).toBe(true);
  await chmod(folder, 0o700);
  expect(await canEnter(inner, stranger)).toBe(false);
  expect(await canEnter(inner, { uid: process.getuid!(), gid: process.getgid!() })).toBe(true);
});
