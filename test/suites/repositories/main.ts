import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { printTable } from '../../../cli/commands/output.ts';
import { answerOf, createApi, type Api } from '../../../cli/http/api.ts';
import { readTool } from '../../../lib/inputs/tool-arguments.ts';
import { guardServers } from '../../support/servers/guard-servers.ts';
import { createTestHome, removeTestHome, startTestStack, type TestStack } from '../../support/stack/stack.ts';
import { branches, prepareRepository, readList, type ListedRepository, type PreparedRepository } from './prepare.ts';
import { runJob, type JobReport, type Phase } from './run-job.ts';

/**
 * `npm run repositories [-- --source URL] [--only TEXT] [--list FILE]`: runs jobs on real repositories, whose own tests
 * have to pass in their environment: one with the setup, one that skips it, and two whose worker is killed, during the
 * setup and during the tests. Prints their times, and ends with 1 when a job does not end as it must.
 */

interface Ran {
  name: string;
  repository: PreparedRepository;
  report: JobReport;
}

/** Runs the jobs of a repository one after another. */
async function runJobs(
  { stack, api, projectId }: { stack: TestStack; api: Api; projectId: string },
  repository: PreparedRepository,
): Promise<Ran[]> {
  const ran: Ran[] = [];
  const run = async (name: string, branch: string, onBegin?: (what: Phase) => Promise<void>) => {
    const report = await runJob(api, { projectId, repository, branch, onBegin });
    ran.push({ name, repository, report });
    console.log(`${repository.repository}: the ${name} job ended after ${seconds(report.seconds)}`);
    return report;
  };
  /** Kills the worker once, early, because a step that took long before may be faster this time. */
  const killDuring = (phase: Phase, usual: number) => {
    let isKilled = false;
    return async (begun: Phase) => {
      if (begun !== phase || isKilled) return;
      isKilled = true;
      await delay(usual * 100);
      await stack.killAndWait('worker');
    };
  };
  const expected = ({ problems, source, begun }: JobReport, wanted: Pick<JobReport, 'source' | 'begun'>) => {
    if (source !== wanted.source) problems.push(`has its dependencies from ${source}, not ${wanted.source}`);
    for (const phase of ['setup', 'tests'] as const)
      if (begun[phase] !== wanted.begun[phase])
        problems.push(`began the ${phase} ${begun[phase]} times, not ${wanted.begun[phase]}`);
  };
  const first = await run('first', branches.measured);
  expected(first, { source: 'setup', begun: { setup: 1, tests: 1 } });
  expected(await run('second', branches.measured), { source: 'kept', begun: { setup: 0, tests: 1 } });
  const { interrupted } = branches;
  const inSetup = await run('worker killed in setup', interrupted, killDuring('setup', first.setupSeconds));
  expected(inSetup, { source: 'setup', begun: { setup: 2, tests: 1 } });
  const inTests = await run('worker killed in tests', interrupted, killDuring('tests', first.testSeconds ?? 0));
  expected(inTests, { source: 'kept', begun: { setup: 0, tests: 2 } });
  return ran;
}

const seconds = (value: number) => `${value.toFixed(1)} s`;

function print(ran: Ran[]): number {
  printTable(
    ['repository', 'language', 'history', 'job', 'time', 'setup', 'tests', 'installs', 'pull request'],
    ran.map(({ name, repository: { repository, language, commits }, report }) => [
      repository,
      language,
      `${commits} commits`,
      name,
      seconds(report.seconds),
      `${seconds(report.setupSeconds)}${report.source === 'kept' ? ' (skipped)' : ''}`,
      report.testSeconds === null ? 'not seen' : seconds(report.testSeconds),
      String(report.begun.setup),
      report.link,
    ]),
  );
  const problems = ran.flatMap(({ name, repository: { repository }, report }) =>
    report.problems.map((problem) => `${repository}: the ${name} job ${problem}`),
  );
  for (const problem of problems) console.log(`problem: ${problem}`);
  console.log(`problems: ${problems.length} in ${ran.length} jobs (aim: 0)`);
  return problems.length;
}

async function main(): Promise<void> {
  const { options: values } = readTool({
    command: 'npm run repositories --',
    about: 'Runs jobs on real repositories, whose own tests have to pass in their environment.',
    options: {
      source: z.string().default('https://github.com/{owner}/{name}').describe('where the repositories come from'),
      only: z.string().default('').describe('takes the repositories whose name contains this'),
      list: z.string().optional().describe('another list than repositories.yaml'),
    },
  });
  const { source, only } = values;
  const list = readList(resolve(values.list ?? join(import.meta.dirname, 'repositories.yaml')));
  const chosen = list.filter(({ repository }) => repository.includes(only));
  const hostsOf = ({ environment }: ListedRepository) => environment.hosts.setup;
  await using resources = new AsyncDisposableStack();
  const home = await createTestHome();
  guardServers(home, dirname(home)); // a signal ends the suite without its teardown
  resources.defer(() => removeTestHome(home));
  await using stack = await startTestStack({
    home,
    env: { DOCKET_RUN_HOSTS: [...new Set(chosen.flatMap(hostsOf))].join(','), DOCKET_SETUP_SECONDS: '1080' },
  });
  const api = createApi({ baseUrl: stack.localJson.baseUrl, key: stack.localJson.adminKey });
  const ran: Ran[] = [];
  for (const listed of chosen) {
    const folder = join(home, 'repositories');
    const repository = await prepareRepository(listed, { folder, source });
    const body = { repository: pathToFileURL(repository.path).href };
    const { id } = await answerOf(api.POST('/v1/projects', { body }));
    ran.push(...(await runJobs({ stack, api, projectId: id }, repository)));
  }
  process.exitCode = print(ran) === 0 && ran.length > 0 ? 0 : 1;
}

await main();
