import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { askQuestion } from './demo-question.ts';
import { followJob } from './demo-job.ts';
import { startStack } from './stack.ts';

/** `npm run demo`: brings the stack up in a home of its own, turns a prompt into a pull request, asks a question, and stops. */

const prompt =
  'Replace "colour" with "color" everywhere. Create docs/guides/reset.md with "# Reset a lamp\\n\\nHold its button for ten seconds.\\n"';
const question = 'How do I change how often the controller tries an unreachable lamp?';

function heading(text: string): void {
  console.log(`\n── ${text}`);
}

async function main(): Promise<void> {
  const startedAt = Date.now();
  const home = join(resolve(process.env['DOCKET_HOME'] ?? '.docket'), 'demo');
  await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true });

  heading('Bringing the stack up (PostgreSQL, Temporal, API, worker)');
  await using stack = await startStack({ home, env: process.env, isDemo: true });

  heading('A prompt becomes a pull request');
  await followJob(stack.localJson, prompt);

  heading('A question becomes a streamed answer');
  await askQuestion(stack.localJson, question);

  heading('Stopping');
  await stack[Symbol.asyncDispose]();
  console.log(
    `Done after ${((Date.now() - startedAt) / 1000).toFixed(1)} s. "npm start" brings the same stack up and keeps it.`,
  );
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
