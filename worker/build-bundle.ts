import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';

/** Bundles the workflow code into the given file. `workflow-bundle.ts` runs it in a separate process. */
async function main(target: string, failureConverterPath: string | undefined): Promise<void> {
  const logger = new DefaultLogger('ERROR');
  const workflowsPath = join(import.meta.dirname, '../workflows/index.ts');
  const { code } = await bundleWorkflowCode({ workflowsPath, failureConverterPath, logger });
  const draft = `${target}.${process.pid}`;
  try {
    await writeFile(draft, code);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
}

const [, , target, failureConverterPath] = process.argv;
if (target === undefined) throw new TypeError('Name the file to write.');
await main(target, failureConverterPath);
