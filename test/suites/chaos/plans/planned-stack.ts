import { startScriptedModelServer, type ScriptedModelServer } from '../../../support/servers/scripted-model-server.ts';
import { createTestHome, removeTestHome, startTestStack, type TestStack } from '../../../support/stack/stack.ts';
import { leftRunning } from '../servers/leftovers.ts';

const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

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
  const interrupted = new AbortController();
  const interruption = new Promise<never>((_resolve, reject) => {
    interrupted.signal.addEventListener('abort', () => reject(new Error('The suite was interrupted.')));
  });
  interruption.catch(() => undefined);
  const interrupt = () => interrupted.abort();
  for (const signal of endSignals) process.on(signal, interrupt);
  try {
    await using model = await startScriptedModelServer();
    const models = {
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
      DOCKET_SELF_REVIEW: 'off',
      OPENAI_COMPATIBLE_API_KEY: 'key-of-the-planned-model',
    };
    const { signal } = interrupted;
    await using stack = await startTestStack({ home, env: { ...models, ...env }, signal });
    violations.push(...(await Promise.race([run(stack, model), interruption])));
    const code = await stack.stop();
    if (code !== 0) violations.push(`the stack ends with ${code}`);
    violations.push(...(await leftRunning(home)).map((line) => `left running: ${line}`));
  } finally {
    await removeTestHome(home);
    for (const signal of endSignals) process.off(signal, interrupt);
    if (interrupted.signal.aborted) process.exit(130); // what the suite still waits for would keep it alive
  }
  for (const violation of violations) console.log(`violation: ${violation}`);
  console.log(`violations: ${violations.length} (seed ${seed})`);
  return violations.length;
}
