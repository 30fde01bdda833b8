import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { askQuestion } from '../cli/commands/ask.ts';
import { answerOf, bodyOf, createApi } from '../cli/http/api.ts';
import { readTool } from '../lib/inputs/tool-arguments.ts';
import { homeOf, type LocalJson } from './local-json.ts';
import { catchInterruption } from './processes/interruption.ts';
import { startStack } from './stack.ts';
import { messageOf } from './start-error.ts';
import { createOutput } from './temporal/terminal.ts';

/**
 * Runs `npm run demo`: starts the stack in a separate home, turns a prompt into a pull request, asks a question and
 * stops.
 */

const prompt =
  'Replace "colour" with "color" everywhere. Create docs/guides/reset.md with "# Reset a lamp\\n\\nHold its button for ten seconds.\\n"';
const question = 'How do I change how often the controller tries an unreachable lamp?';

function heading(text: string): void {
  console.log(`\n── ${text}`);
}

async function main(signal: AbortSignal): Promise<void> {
  const startedAt = Date.now();
  const home = join(homeOf(process.env), 'demo');

  heading('Starting the stack (PostgreSQL, Temporal, API, worker)');
  await using stack = await startStack({
    home,
    env: process.env,
    isDemo: true,
    signal,
    ...createOutput(process.stdout),
  });

  heading('A prompt becomes a pull request');
  await runJob(stack.localJson, signal);

  heading('A question becomes a streamed answer');
  await ask(stack.localJson, signal);

  heading('Stopping');
  await stack[Symbol.asyncDispose]();
  console.log(
    `Done after ${((Date.now() - startedAt) / 1000).toFixed(1)} s. "npm start" brings the same stack up and keeps it.`,
  );
}

const pollIntervalMs = 150;
const maxWaitMs = 120_000;

/** Creates a job, prints its phases until it ends, and then the job, the link of its pull request and its diff. */
async function runJob({ baseUrl, projectId, adminKey }: LocalJson, signal: AbortSignal): Promise<void> {
  const api = createApi({ baseUrl, key: adminKey });
  const address = `${baseUrl}/v2/agent/${projectId}/job`;
  console.log(`POST ${address}\n  ${JSON.stringify({ prompt })}`);
  const request = { params: { path: { projectId } }, body: { prompt }, signal };
  const { id } = await answerOf(api.POST('/v2/agent/{projectId}/job', request));

  const params = { path: { projectId, id } };
  const deadline = Date.now() + maxWaitMs;
  const read = () => answerOf(api.GET('/v2/agent/{projectId}/job/{id}', { params, signal }));
  let shown = '';
  let job = await read();
  for (; job.status === 'active'; job = await read()) {
    const state = `${job.details.phase ?? 'queued'}, ${job.details.steps} steps`;
    if (state !== shown) console.log(`  ${id}: ${state}`);
    shown = state;
    if (Date.now() > deadline) throw new Error(`The job did not end within ${maxWaitMs / 1000} s.`);
    await sleep(pollIntervalMs, undefined, { signal });
  }
  console.log(`\nGET ${address}/${id}\n${JSON.stringify(job, null, 2)}`);
  if (job.status !== 'completed' || job.prLink === null) {
    const { failure, message } = job.details;
    const reason = failure === null ? message : `${failure.title}. ${failure.remedy}`;
    throw new Error(`The job ended without a pull request: ${reason}`);
  }
  const diff = api.GET('/v2/agent/{projectId}/job/{id}/diff', { params, parseAs: 'text', signal });
  console.log(`\nPull request: ${job.prLink}\n\n${await bodyOf(diff)}`);
}

/** Prints the answer as it streams, and then its sources. */
async function ask({ baseUrl, domain, assistantKey }: LocalJson, signal: AbortSignal): Promise<void> {
  console.log(`POST ${baseUrl}/discovery/v2/assistant/${domain}/message\n  "${question}"\n`);
  const api = createApi({ baseUrl, key: assistantKey });
  const write = (text: string) => process.stdout.write(text);
  const { sources } = await askQuestion(api, { domain, question, write, signal });
  console.log(`\n\nSources:\n${sources.map(({ title, url }) => `  - ${title} (${url})`).join('\n')}`);
}

readTool({
  command: 'npm run demo --',
  about: 'Starts the stack in a home of its own, turns a prompt into a pull request, asks a question and stops.',
});
// a closed terminal must not prevent a clean stop
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
// a second Ctrl-C exits at once; the next start ends the processes that are still running
using interruption = catchInterruption(() => process.exit(1));
try {
  await main(interruption.signal);
} catch (error) {
  console.error(interruption.signal.aborted ? 'Interrupted; everything has stopped.' : messageOf(error));
  process.exitCode = 1;
}
