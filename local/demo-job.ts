import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

interface Service {
  baseUrl: string;
  projectId: string;
  adminKey: string;
}

const jobSchema = z.object({
  id: z.string(),
  status: z.string(),
  prLink: z.string().nullable(),
  details: z.object({
    phase: z.string().nullable(),
    message: z.string().nullable(),
    steps: z.number(),
    failure: z.object({ title: z.string(), remedy: z.string() }).nullable(),
  }),
});

const pollIntervalMs = 150;
const longestWaitMs = 120_000;

/** Posts a job, shows each phase as it polls, and prints the job, the pull request's link and its diff. Throws when the job fails. */
export async function followJob({ baseUrl, projectId, adminKey }: Service, prompt: string): Promise<void> {
  const address = `${baseUrl}/v2/agent/${projectId}/job`;
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };

  console.log(`POST ${address}`);
  console.log(`  ${JSON.stringify({ prompt })}`);
  const created = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ prompt }) });
  if (created.status !== 201) throw new Error(`The job was not created: ${created.status} ${await created.text()}`);

  let job = jobSchema.parse(await created.json());
  const deadline = Date.now() + longestWaitMs;
  let shown = '';
  while (job.status === 'active') {
    const state = `${job.details.phase ?? 'queued'}, ${job.details.steps} steps`;
    if (state !== shown) console.log(`  ${job.id}: ${state}`);
    shown = state;
    if (Date.now() > deadline) throw new Error(`The job did not end within ${longestWaitMs / 1000} s.`);
    await sleep(pollIntervalMs);
    job = jobSchema.parse(await (await fetch(`${address}/${job.id}`, { headers })).json());
  }

  const whole: unknown = await (await fetch(`${address}/${job.id}`, { headers })).json();
  console.log(`\nGET ${address}/${job.id}`);
  console.log(JSON.stringify(whole, null, 2));
  if (job.status !== 'completed' || job.prLink === null) {
    const failure = job.details.failure;
    throw new Error(
      `The job ended without a pull request: ${failure === null ? job.details.message : `${failure.title}. ${failure.remedy}`}`,
    );
  }
  console.log(`\nPull request: ${job.prLink}\n`);
  console.log(await (await fetch(`${address}/${job.id}/diff`, { headers })).text());
}
