import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildDashboard } from './build-dashboard.ts';
import { homeOf } from './local-json.ts';
import { catchInterruption } from './processes/interruption.ts';
import { keepCompiledCode } from '../lib/compile-cache.ts';
import { startStack } from './stack.ts';
import type { Stack } from './stack.ts';
import { flag, readTool } from '../lib/inputs/tool-arguments.ts';
import { secretsOfEnvironment } from '../lib/redaction/environment-secrets.ts';
import { asOneLine } from '../lib/redaction/log-line.ts';
import { createRedactor } from '../lib/redaction/redactor.ts';
import { onUncaught } from '../lib/redaction/uncaught.ts';
import { messageOf, StartError } from './start-error.ts';
import { createOutput } from './temporal/terminal.ts';
import { watchSources } from './processes/watch-sources.ts';

/**
 * Runs `npm start`: starts the stack, keeps it running, and stops it on Ctrl-C. With `--watch`, changed code is
 * restarted.
 */

const checkout = resolve(import.meta.dirname, '..');

/** Prints an error as one sentence. Unexpected errors include the stack trace. */
function say(error: unknown): void {
  const redact = createRedactor(secretsOfEnvironment(process.env));
  const isExpected = error instanceof StartError || !(error instanceof Error);
  const text = isExpected ? messageOf(error) : (error.stack ?? error.message);
  for (const line of text.split('\n')) console.error(asOneLine(redact(line)));
}

function loadEnvironmentFile(): void {
  const file = join(checkout, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
}

function describe({ localJson, signInUrl }: Stack, home: string, elapsedMs: number): string {
  const { baseUrl, temporalUiUrl, domain, assistantKey } = localJson;
  const demo = new URLSearchParams({ site: domain, key: assistantKey }).toString();
  return [
    `\nDocket is ready after ${(elapsedMs / 1000).toFixed(1)} s.`,
    `  Dashboard          ${signInUrl}`,
    `  Widget demo        ${baseUrl}/widget-demo.html#${demo}`,
    `  API                ${baseUrl}`,
    ...(temporalUiUrl === null ? [] : [`  Temporal           ${temporalUiUrl}`]),
    `  Keys, addresses    ${join(home, 'local.json')}`,
    `  Logs               ${join(home, 'logs')}`,
    'The link to the dashboard signs in once, within 15 minutes; "npm run docket -- sign-in" prints another. Ctrl-C stops it.',
  ].join('\n');
}

function watchAndRestart(stack: Stack): Disposable {
  return watchSources(checkout, (target) => {
    console.log(`The code of the ${target} has changed; restarting it`);
    stack[target].restart().catch(say);
  });
}

async function main(): Promise<void> {
  const { options } = readTool({
    command: 'npm start --',
    about: 'Starts the whole stack and keeps it until Ctrl-C. Settings are variables, in the environment or in .env.',
    options: { watch: flag().describe('restarts the API or worker whose code changes') },
  });
  const startedAt = Date.now();
  loadEnvironmentFile();
  // inherited by the processes that are started and restarted
  keepCompiledCode(process.env);
  const home = homeOf(process.env);
  const output = createOutput(process.stdout);
  // a second Ctrl-C exits at once; the next start ends the processes that are still running
  using interruption = catchInterruption(() => process.exit(1));
  const { signal } = interruption;
  console.log(`Starting Docket in ${home}`);
  const dashboard = buildDashboard({ log: output.log, signal });
  await using stack = await startStack({ home, env: process.env, signal, ...output });
  await dashboard;
  using _watching = options.watch ? watchAndRestart(stack) : null;
  console.log(describe(stack, home, Date.now() - startedAt));
  await interruption.received;
  console.log('\nStopping…');
  await stack[Symbol.asyncDispose]();
  console.log('Stopped.');
}

// a closed terminal must not prevent a clean stop
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
onUncaught(say);
try {
  await main();
} catch (error) {
  say(error);
  process.exitCode = 1;
}
