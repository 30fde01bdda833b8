import { setTimeout as sleep } from 'node:timers/promises';

export interface JobClient {
  create(prompt: string): Promise<string>;
  /** Polls until the job has ended; throws if it failed. Returns the link of its pull request. */
  untilEnded(jobId: string): Promise<string | null>;
}

interface Job {
  id: string;
  status: string;
  prLink: string | null;
  details: { failure: { title: string } | null };
}

interface JobClientOptions {
  url: string;
  key: string;
  projectId: string;
  /** Time between two polls of a job. */
  pollMs?: number;
}

/** The operations of an API user. */
export function createJobClient({ url, key, projectId, pollMs = 10 }: JobClientOptions): JobClient {
  async function ask(path: string, body?: unknown): Promise<Job> {
    const response = await fetch(`${url}/v2/agent/${projectId}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`The API answers ${response.status}: ${await response.text()}`);
    return (await response.json()) as Job;
  }

  return {
    create: async (prompt) => (await ask('/job', { prompt })).id,
    async untilEnded(jobId) {
      for (;;) {
        const job = await ask(`/job/${jobId}`);
        if (job.status === 'failed') throw new Error(`A job failed: ${job.details.failure?.title}`);
        if (job.status !== 'active') return job.prLink;
        await sleep(pollMs);
      }
    },
  };
}
