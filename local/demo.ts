import { join } from 'node:path';
import { askQuestion } from './demo-question.ts';
import { followJob } from './demo-job.ts';
import { homeOf } from './local-json.ts';
import { catchInterruption } from './processes/interruption.ts';
import { startStack } from './stack.ts';
import { messageOf } from './start-error.ts';
import { createOutput } from './temporal/terminal.ts';

/** `npm run demo`: brings the stack up in a home of its own, turns a prompt into a pull request, asks a question, and stops. */

const prompt =
  'Replace "colour" with "color" everywhere. Create docs/guides/reset.md with "# Reset a lamp\\n\\nHold its button for ten seconds.\\n"';
const question = 'How do I change how often the controller tries an unreachable lamp?';

function heading(text: string): void {
  console.log(`\n── ${text}`);
}

async function main(signal: AbortSignal): Promise<void> {
  const startedAt = Date.now();
  const home = join(homeOf(process.env), 'demo');

  heading('Bringing the stack up (PostgreSQL, Temporal, API, worker)');
  await using stack = await startStack({
    home,
    env: process.env,
    isDemo: true,
    signal,
    ...createOutput(process.stdout),
  });

  heading('A prompt becomes a pull request');
  await followJob(stack.localJson, { prompt, signal });

  heading('A question becomes a streamed answer');
  await askQuestion(stack.localJson, { question, signal });

  heading('Stopping');
  await stack[Symbol.asyncDispose]();
  console.log(
    `Done after ${((Date.now() - startedAt) / 1000).toFixed(1)} s. "npm start" brings the same stack up and keeps it.`,
  );
}

// a terminal that is gone must not take the clean stop with it
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
// a person who insists gets the terminal back; the next start ends what is still running
using interruption = catchInterruption(() => process.exit(1));
try {
  await main(interruption.signal);
} catch (error) {
  console.error(interruption.signal.aborted ? 'Interrupted; everything has stopped.' : messageOf(error));
  process.exitCode = 1;
}
