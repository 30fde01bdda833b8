import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestFiles } from '../../../support/git-repository.ts';
import { carelessly, type Scene } from './scene.ts';

/** A working copy as a careless worker creates it: with its `.git` inside. */
export async function carelessCopy(scene: Scene, files: TestFiles = {}): Promise<string> {
  const repository = await scene.repository({ 'a.txt': 'a\n', ...files });
  const copy = join(scene.directory, 'copy');
  await carelessly('git', ['clone', '-q', repository.path, copy], { cwd: scene.directory });
  return copy;
}

/** Runs git in a working copy. */
export const inCopy = (copy: string, ...args: string[]) => carelessly('git', args, { cwd: copy });
/** Changes a file and commits it. */
export const committed = async (copy: string) => {
  await writeFile(join(copy, 'a.txt'), 'changed\n');
  await inCopy(copy, 'commit', '-qam', 'x');
};
