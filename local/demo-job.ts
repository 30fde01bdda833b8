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

type Job = z.infer<typeof jobSchema>;

const pollIntervalMs = 150;
const longestWaitMs = 120_000;

/** Posts a job, shows each phase as it polls, and prints the job, the pull request's link and its diff. Throws when the job fails. */
export async function followJob(
  { baseUrl, projectId, adminKey }: Service,
  { prompt, signal }: { prompt: string; signal: AbortSignal },
): Promise<void> {
  const address = `${baseUrl}/v2/agent/${projectId}/job`;
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  const request = async (url: string, options: RequestInit = {}) => {
    const response = await fetch(url, { headers, signal, ...options });
    if (!response.ok) throw new Error(`${url} answers ${response.status} ${await response.text()}`);
    return response;
  };

  console.log(`POST ${address}`);
  console.log(`  ${JSON.stringify({ prompt })}`);
  const created = await request(address, { method: 'POST', body: JSON.stringify({ prompt }) });
  const { id } = jobSchema.parse(await created.json());

  const own = `${address}/${id}`;
  const job = await ended(async () => jobSchema.parse(await (await request(own)).json()), signal);
  console.log(`\nGET ${own}`);
  console.log(JSON.stringify(await (await request(own)).json(), null, 2));
  if (job.status !== 'completed' || job.prLink === null) {
    const { failure, message } = job.details;
    const reason = failure === null ? message : `${failure.title}. ${failure.remedy}`;
    throw new Error(`The job ended without a pull request: ${reason}`);
  }
  console.log(`\nPull request: ${job.prLink}\n`);
  console.log(await (await request(`${own}/diff`)).text());
}

/** Shows each phase once, until the job has ended. */
async function ended(read: () => Promise<Job>, signal: AbortSignal): Promise<Job> {
  const deadline = Date.now() + longestWaitMs;
  let shown = '';
  for (;;) {
    const job = await read();
    if (job.status !== 'active') return job;
    const state = `${job.details.phase ?? 'queued'}, ${job.details.steps} steps`;
    if (state !== shown) console.log(`  ${job.id}: ${state}`);
    shown = state;
    if (Date.now() > deadline) throw new Error(`The job did not end within ${longestWaitMs / 1000} s.`);
    await sleep(pollIntervalMs, undefined, { signal });
  }
}
