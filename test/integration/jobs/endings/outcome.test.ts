import { expect, it } from 'vitest';
import { createOutcomeActivities } from '../../../../activities/job/outcome.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { createKnownSecrets } from '../../../../lib/redaction/known-secrets.ts';
import type { JobOutcome } from '../../../../workflows/contract/job.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { recordStatements } from '../../../support/database/record-statements.ts';

it.each<[string, JobOutcome, string[], object]>([
  ['success', { kind: 'no-changes' }, [], { status: 'completed' }],
  [
    'failure',
    { kind: 'failed', category: 'internal', message: 'The key is of-the-project-1.' },
    ['get-job'],
    { status: 'failed', message: expect.not.stringContaining('of-the-project-1') },
  ],
])('a %s is stored after a read of its job only if a text has to be redacted', async (_, outcome, reads, ended) => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const statements = recordStatements(pool);
  const project = await buildProject(pool);
  const { id: jobId } = await buildJob(pool, project);
  const secrets = createKnownSecrets([]);
  secrets.learn(project.id, ['of-the-project-1']);
  const jobs = createWorkerJobStore(pool);
  const { recordOutcome } = createOutcomeActivities({
    jobs,
    steps: createStepStore(pool),
    waitDays: 7,
    attempt: (_, work) => secrets.during(() => work(new AbortController().signal)),
    secrets,
  });
  statements.take();
  await recordOutcome({ jobId, turn: 1, step: 1, outcome });
  expect(statements.take().filter((name) => name === 'get-job')).toEqual(reads);
  expect(await jobs.get(jobId)).toMatchObject(ended);
});
