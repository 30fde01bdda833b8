import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { CommandError } from '../../../cli/command-error.ts';
import { readInteger } from '../../../cli/commands/options.ts';
import { printTable, shortened } from '../../../cli/commands/output.ts';
import { answerOf, createApi } from '../../../cli/http/api.ts';
import { readApiSettings, type GlobalOptions } from '../../../cli/http/settings.ts';
import { runProgram } from '../../../cli/run-program.ts';
import { homeOf } from '../../../local/local-json.ts';
import { compareRuns, printComparison } from './compare.ts';
import { openJudge } from './judge.ts';
import { formats, groupings, printRows, rowsOf, type Format } from './report.ts';
import { playRecordings, recordRun } from './recordings.ts';
import { createRepositories } from './repositories.ts';
import { openRun, readRun } from './results.ts';
import { runTasks } from './run.ts';
import { readInstances, readTasks, selectTasks, taskKinds, type Selection } from './tasks.ts';
import { verifyTasks } from './verify.ts';

const usage = `The score of the agent: runs tasks as jobs through the HTTP API and checks what they publish.`;
const ownTasks = join(import.meta.dirname, 'tasks');
const environmentFile = resolve(import.meta.dirname, '../../../.env');
if (existsSync(environmentFile)) process.loadEnvFile(environmentFile);

interface TaskOptions extends Selection {
  suite: string;
  source: string;
  repositories: string;
  concurrency: number;
}

interface RunOptions extends TaskOptions, GlobalOptions {
  model?: string;
  instances?: string;
  attempts: number;
}

const say = (line: string) => console.error(line);
const formatOption = () => new Option('--format <format>', 'how to print it').choices(formats).default('text');

function withTasks(command: Command): Command {
  return command
    .option('--suite <folder>', 'folder of tasks', ownTasks)
    .addOption(new Option('--kind <kind>', 'only tasks of this kind').choices(taskKinds))
    .option('--tasks <glob>', 'only tasks whose id matches');
}

function withRepositories(command: Command): Command {
  return withTasks(command)
    .option('--source <url>', 'where repositories come from', 'https://github.com/{owner}/{name}')
    .option(
      '--repositories <folder>',
      'folder for them that API and worker can read, below DOCKET_LOCAL_REPOSITORIES',
      join(homeOf(process.env), 'repositories'),
    )
    .option('--concurrency <number>', 'tasks at once', readInteger, 4);
}

const program = new Command('eval').description(usage).showHelpAfterError('(see --help)').exitOverride();

withTasks(program.command('list').description('list the tasks')).action(({ suite, ...wanted }: TaskOptions) =>
  printTable(
    ['task', 'kind', 'language', 'repository', 'prompt'],
    selectTasks(readTasks(suite), wanted).map(({ id, kind, language, repository, prompt }) => [
      id,
      kind,
      language,
      repository,
      shortened(prompt, 60),
    ]),
  ),
);

withRepositories(
  program.command('verify').description('prove that each task can be solved and is not solved yet'),
).action(async ({ suite, repositories: folder, source, concurrency, ...wanted }: TaskOptions) => {
  const tasks = selectTasks(readTasks(suite), wanted);
  await using judge = await openJudge();
  const repositories = createRepositories({ folder: resolve(folder), source });
  if ((await verifyTasks({ judge, repositories, concurrency }, tasks)) > 0) process.exitCode = 1;
});

function withService(command: Command): Command {
  return command
    .option('--url <url>', 'URL of the service (default: DOCKET_URL, or the local stack)')
    .option(
      '--key-file <file>',
      'file that holds the admin key (default: DOCKET_API_KEY, or the key of the local stack)',
    );
}

withService(
  withRepositories(program.command('run').description('run the tasks, or go on with a run that was interrupted')),
)
  .argument('<run>', 'file of results; every result is appended to it')
  .option('--model <provider/model>', 'model (default: DOCKET_AGENT_MODEL of the service)')
  .option('--attempts <number>', 'jobs per task', readInteger, 1)
  .option('--instances <file>', 'instances in the format of SWE-bench instead of the tasks; they are not judged')
  .action(async (file: string, options: RunOptions) => {
    const { suite, instances = null, model = null, attempts, concurrency, source } = options;
    if (attempts < 1 || concurrency < 1) throw new CommandError('--attempts and --concurrency must be at least 1.');
    const tasks = selectTasks(instances === null ? readTasks(suite) : readInstances(instances), options);
    const api = createApi(await readApiSettings(options, process.env, 'admin'));
    await answerOf(api.GET('/v1/projects', { params: { query: { limit: 1 } } }));
    await using judge = instances === null ? await openJudge() : null;
    const { header, results, append } = await openRun(file, { model, instances });
    const repositories = createRepositories({ folder: resolve(options.repositories), source });
    await runTasks({ api, judge, repositories, header, results, tasks, attempts, concurrency, append, say });
    if (instances === null) printRows(rowsOf(readRun(file).results, 'kind'), 'kind', 'text');
  });

program
  .command('report')
  .description('print the table of a run')
  .argument('<run>')
  .addOption(new Option('--by <what>', 'rows of the table').choices(groupings).default('kind'))
  .addOption(formatOption())
  .action((file: string, { by, format }: { by: (typeof groupings)[number]; format: Format }) =>
    printRows(rowsOf(readRun(file).results, by), by, format),
  );

program
  .command('compare')
  .description('compare two runs task by task, with intervals')
  .argument('<a>')
  .argument('<b>')
  .addOption(formatOption())
  .action((a: string, b: string, { format }: { format: Format }) =>
    printComparison(compareRuns(readRun(a).results, readRun(b).results), format),
  );

program
  .command('predictions')
  .description('print the patches of a run in the format of SWE-bench')
  .argument('<run>')
  .action((file: string) => {
    for (const { task, attempt, job, model, patch } of readRun(file).results)
      if (attempt === 1 && job !== null)
        console.log(JSON.stringify({ instance_id: task, model_name_or_path: `docket/${model}`, model_patch: patch }));
  });

withService(program.command('record').description('print what the model called in the jobs of a run'))
  .argument('<run>')
  .action(async (file: string, options: GlobalOptions) => {
    const api = createApi(await readApiSettings(options, process.env, 'admin'));
    await recordRun(api, readRun(file).results, (recording) => console.log(JSON.stringify(recording)));
  });

program
  .command('play')
  .description('serve models that repeat recordings, until Ctrl-C')
  .argument('<recordings...>', 'files of "record"; each is a model with the name of its file')
  .option('--port <number>', 'port on 127.0.0.1', readInteger, 4180)
  .action(async (files: string[], { port }: { port: number }) => {
    const { baseUrl } = await playRecordings(files, port);
    const models = files.map((file) => `compatible/${basename(file, '.jsonl')}`);
    console.log(`OPENAI_COMPATIBLE_BASE_URL=${baseUrl} serves ${models.join(' and ')}. Ctrl-C stops it.`);
    await once(process, 'SIGINT');
  });

await runProgram(program);
// the other tasks of a run that failed would wait for their jobs
process.exit();
