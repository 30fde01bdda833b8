import { startScriptedModelServer, type ScriptedModelServer } from '../../support/scripted-model-server.ts';
import { createTestHome, removeTestHome, startTestStack, type TestStack } from '../../support/stack.ts';
import { leftRunning } from './leftovers.ts';

/**
 * Runs a suite on a stack of real processes, in its own home, with the scripted model. Violations that the suite
 * reports, a stack that does not stop cleanly and leftover processes are printed and counted.
 */
export async function onPlannedStack({
  env,
  seed,
  run,
}: {
  env: Record<string, string>;
  seed: number;
  run(stack: TestStack, model: ScriptedModelServer): Promise<string[]>;
}): Promise<number> {
  const home = await createTestHome();
  const violations: string[] = [];
  try {
    await using model = await startScriptedModelServer();
    const models = {
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
      OPENAI_COMPATIBLE_API_KEY: 'key-of-the-planned-model',
    };
    await using stack = await startTestStack({ home, env: { ...models, ...env } });
    violations.push(...(await run(stack, model)));
    const code = await stack.stop();
    if (code !== 0) violations.push(`the stack ends with ${code}`);
    violations.push(...(await leftRunning(home)).map((line) => `left running: ${line}`));
  } finally {
    await removeTestHome(home);
  }
  for (const violation of violations) console.log(`violation: ${violation}`);
  console.log(`violations: ${violations.length} (seed ${seed})`);
  return violations.length;
}
