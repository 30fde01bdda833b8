import type { TestRepository } from '../../support/git-repository.ts';

/** Puts a tree on a branch that contains the same folder ten times, recursively: 10^depth files in a few objects. */
export async function makeBomb(
  repository: TestRepository,
  { depth, content, branch = 'main' }: { depth: number; content: string; branch?: string },
): Promise<void> {
  await repository.commit({ blob: content }, { branch });
  let entry = (await repository.git('ls-tree', branch, 'blob')).split('\t')[0]!;
  for (let level = 0; level < depth; level += 1) {
    const names = Array.from({ length: 10 }, (_, index) => `${entry}\t${index}`).join('\n');
    entry = `040000 tree ${await repository.makeTree(`${names}\n`)}`;
  }
  const commit = await repository.git('commit-tree', entry.split(' ')[2]!, '-p', branch, '-m', 'Bomb');
  await repository.git('update-ref', `refs/heads/${branch}`, commit);
}
