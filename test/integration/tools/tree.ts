import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ToolContext, ToolOutput } from '../../../activities/tools/agent-tool.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { removeDirectory, temporaryDirectory } from '../../support/temporary-directory.ts';

export interface TestTree extends AsyncDisposable {
  root: string;
  /** A folder next to the tree, which no tool may reach. */
  outside: string;
  path(name: string): string;
  bytes(name: string): Promise<Buffer>;
  text(name: string): Promise<string>;
  run(tool: string, input: unknown, context?: Partial<ToolContext>): Promise<ToolOutput>;
}

/** A tree with these files, next to a folder with a secret. */
export async function createTree(files: Record<string, string | Uint8Array> = {}): Promise<TestTree> {
  const base = await realpath(temporaryDirectory());
  const root = join(base, 'tree');
  const outside = join(base, 'outside');
  await mkdir(root);
  await mkdir(outside);
  await writeFile(join(outside, 'secret.txt'), 'top secret\n');
  for (const [name, content] of Object.entries(files)) {
    // without a round trip to another thread for each of a thousand files
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  const toolset = createToolset();
  return {
    root,
    outside,
    path: (name) => join(root, name),
    bytes: (name) => readFile(join(root, name)),
    text: (name) => readFile(join(root, name), 'utf8'),
    run: (tool, input, context = {}) =>
      toolset[tool]!.run(input, { signal: new AbortController().signal, ...context, root }),
    [Symbol.asyncDispose]: () => removeDirectory(base),
  };
}
