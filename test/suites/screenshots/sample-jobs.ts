import { answerOf } from '../../../cli/http/api.ts';
import { commitOnMain } from '../../support/browser/dashboard.ts';
import {
  edit,
  finish,
  read,
  run,
  sendMessage,
  startSampleJob,
  step,
  untilJob,
  untilStep,
  write,
  type Stage,
} from './jobs.ts';

/** Addresses of the jobs and their pull requests. */
export interface SampleJobs {
  job: string;
  pull: string;
  conflict: string;
  conflictJob: string;
  merged: string;
  refFailed: string;
  modelFailed: string;
  plan: string;
  question: string;
  cancelled: string;
  incomplete: string;
  unchanged: string;
  fork: string;
  archived: string;
}

const groups = `---
title: Groups
description: Several lamps that act as one.
---

# Groups

A group is several lamps that act as one.

## Create a group

\`\`\`bash
lamp group add kitchen --lamps 3,4,7
\`\`\`

| Option | Default | Meaning |
| --- | --- | --- |
| \`--lamps\` | none | Numbers of the lamps, with commas |
| \`--fade\` | \`0s\` | How long a change takes |
`;

const links = `#!/bin/sh
# Reports links to pages that do not exist.
for page in $(find docs -name '*.md' | sort); do
  echo "checking $page"
done
echo "0 broken links"
`;

/** Creates the jobs of a small team's week, and returns their addresses. */
export async function createSampleJobs(stage: Stage): Promise<SampleJobs> {
  const { stack, api } = stage;
  const { projectId } = stack.localJson;
  const addressOf = ({ id }: { id: string }) => `/jobs/${projectId}/${id}`;
  const pullOf = ({ prLink }: { prLink: string | null }) => new URL(prLink ?? '').pathname;
  const params = (id: string) => ({ path: { projectId, id } });

  const spelling = await startSampleJob(stage, {
    prompt: 'Use American spelling in the guide to the first lamp.',
    replies: [
      step('I read the guide first.', read('docs/guides/first-lamp.md')),
      step(
        'Two sentences and a heading use British spelling.',
        edit('docs/guides/first-lamp.md', '## Set the colour', '## Set the color'),
        edit(
          'docs/guides/first-lamp.md',
          'The colour is a hexadecimal value or a name such as `warm-white`.',
          'The color is a hexadecimal value or a name such as `warm-white`.',
        ),
      ),
      finish('Use American spelling in the first guide', 'Replaced *colour* with *color* in prose.'),
    ],
  });
  const merged = pullOf(spelling);
  const mergedId = merged.replace('/pulls/', '');
  await answerOf(api.POST('/v1/pull-requests/{id}/merge', { params: { path: { id: mergedId } }, body: {} }));

  const job = await startSampleJob(stage, {
    prompt:
      'Document groups of lamps. Add a guide with an example, list it in the navigation, and add a script that checks the links of the documentation.',
    replies: [
      step(
        'I look at how the other guides are written before I add one.',
        { name: 'glob', input: { pattern: 'docs/**/*.md' } },
        read('docs/guides/scenes.md'),
        read('docs/docs.json'),
        read('docs/guides/groups.md'),
      ),
      step(
        'The guides share one form: a front matter, a sentence that says what the thing is, then a section per task. I follow it.',
        write('docs/guides/groups.md', groups),
        edit('docs/docs.json', '"guides/scenes", ', '"guides/scenes", "guides/groups", '),
      ),
      step(
        'Now the script, and a first run of it.',
        write('scripts/check-links.sh', links),
        run('sh scripts/check-links.sh'),
      ),
      step(
        'All links resolve. I name the limit of a group in the reference, too.',
        edit(
          'docs/reference/configuration.md',
          '| `defaultColour` |',
          '| `groupLimit` | 50 | How many lamps a group can hold |\n| `defaultColour` |',
        ),
        { name: 'grep', input: { pattern: 'at most 50 lamps' } },
      ),
      finish(
        'Document groups of lamps',
        'Added a guide for **groups**, listed it in the navigation, and named `groupLimit` in the reference.\n\n- `docs/guides/groups.md` is new\n- `scripts/check-links.sh` reports links to pages that do not exist',
        { checked: '`sh scripts/check-links.sh`: 0 broken links' },
      ),
    ],
  });
  await sendMessage(stage, job.id, 'Say in the guide that a lamp can be in several groups.', [
    step(
      'That belongs below the first sentence.',
      edit(
        'docs/guides/groups.md',
        'A group is several lamps that act as one.\n\n##',
        'A group is several lamps that act as one. A lamp can be in several groups; the last change wins.\n\n##',
      ),
    ),
    finish('Document groups of lamps', 'The guide says that a lamp can be in several groups, and which change wins.'),
  ]);

  const clash = await startSampleJob(stage, {
    prompt: 'Write a page with the changes of the last release.',
    replies: [
      step('There is no such page yet.', write('CHANGES.md', '# Changes\n\n- Groups of lamps\n')),
      finish('List the changes of the last release', 'Added `CHANGES.md`.'),
    ],
  });
  await commitOnMain(stack, 'CHANGES.md', '# Changes\n\n- Scenes fade\n');

  const refFailed = await startSampleJob(stage, {
    prompt: 'Explain how often the controller tries a lamp that does not answer.',
    ref: 'release-2.3',
    replies: [],
    until: 'failed',
  });
  const modelFailed = await startSampleJob(stage, {
    prompt: 'Translate the guide to scenes into German.',
    replies: [{ status: 401, errorMessage: 'Incorrect API key provided.' }],
    until: 'failed',
  });
  const plan = await startSampleJob(stage, {
    prompt: 'Rename the command "lamp scene run" to "lamp scene start" everywhere.',
    plan: 'review',
    replies: [
      step('I look for every use of the command.', { name: 'grep', input: { pattern: 'lamp scene run' } }),
      finish(
        'Rename "lamp scene run" to "lamp scene start"',
        'The command occurs in one guide. I would:\n\n1. Replace it in `docs/guides/scenes.md`, in prose and in the example.\n2. Keep the old name in a note, because readers may search for it.\n\n`docs/reference/api.md` does not name it. I assume that the program already accepts both names.',
      ),
    ],
    until: 'waiting',
  });
  const question = await startSampleJob(stage, {
    prompt: 'Add a troubleshooting entry for lamps that lose their Wi-Fi.',
    ask: true,
    replies: [
      step('I read what the page says today.', read('docs/guides/troubleshooting.md'), {
        name: 'ask',
        input: {
          question: 'The page names no way to see the signal of a lamp. Which command should the entry use to show it?',
          choices: ['lamp status --signal', 'lamp diagnose', 'Leave the command out'],
        },
      }),
    ],
    until: 'waiting',
  });
  const cancelled = await startSampleJob(stage, {
    prompt: 'Check every link of the documentation against the live site.',
    replies: [step('I check them one by one.', run('sleep 600'))],
    until: 'running',
  });
  // a job that ends before would leave its reply to the next one
  await untilStep(stage, cancelled.id, 1);
  await answerOf(
    api.POST('/v2/agent/{projectId}/job/{id}/cancel', { params: { path: { projectId, id: cancelled.id } } }),
  );
  const incomplete = await startSampleJob(stage, {
    prompt: 'Describe the HTTP API of schedules and of firmware updates.',
    replies: [
      step(
        'Schedules are described nowhere yet.',
        write('docs/reference/schedules.md', '# Schedules\n\nGET /schedules lists them.\n'),
      ),
      finish(
        'Describe the API of schedules',
        'Described schedules. Nothing in the repository says how a firmware update is requested.',
        {
          complete: false,
        },
      ),
    ],
  });
  const unchanged = await startSampleJob(stage, {
    prompt: 'Does the guide to scenes say how long a fade may last? Add it if not.',
    replies: [
      step('I read the guide.', read('docs/guides/scenes.md')),
      finish('Nothing to change', 'The guide already says that a fade lasts from 0 to 60 seconds.'),
    ],
  });
  stage.model.script(
    step('The example is short enough for a table of its own.', edit('docs/guides/groups.md', '`0s`', '`1s`')),
    finish('Document groups with a fade', 'The default fade of a group is one second.'),
  );
  const fork = await answerOf(
    api.POST('/v2/agent/{projectId}/job/{id}/fork', {
      params: params(job.id),
      body: { turn: 1, step: 4, prompt: 'Use a fade of one second in the table.' },
    }),
  );
  await untilJob(stage, fork.id, 'completed');
  const archived = await startSampleJob(stage, {
    prompt: 'Fix the typo in the title of the guide to schedules.',
    replies: [finish('No typo found', 'The title is spelled correctly.')],
  });
  await answerOf(
    api.POST('/v2/agent/{projectId}/job/{id}/archive', { params: { path: { projectId, id: archived.id } } }),
  );

  return {
    job: addressOf(job),
    pull: pullOf(job),
    conflict: pullOf(clash),
    conflictJob: addressOf(clash),
    merged,
    refFailed: addressOf(refFailed),
    modelFailed: addressOf(modelFailed),
    plan: addressOf(plan),
    question: addressOf(question),
    cancelled: addressOf(cancelled),
    incomplete: addressOf(incomplete),
    unchanged: addressOf(unchanged),
    fork: addressOf(fork),
    archived: addressOf(archived),
  };
}

/** Starts a job that runs a command for minutes, whose first worker is lost. Returns its address. */
export async function startRunningJob(stage: Stage): Promise<string> {
  const job = await startSampleJob(stage, {
    prompt: 'Measure how long the checks of the documentation take.',
    replies: [
      step('The script exists; I run it on every page.', read('docs/docs.json'), {
        name: 'list',
        input: { path: 'docs' },
      }),
      step(
        'Now the measurement.',
        run('for i in $(seq 40); do echo "check $i of 40: passed"; sleep 0.2; done; sleep 900', 480),
      ),
    ],
    until: 'running',
  });
  await untilStep(stage, job.id, 2);
  await stage.stack.killAndWait('worker');
  return `/jobs/${stage.stack.localJson.projectId}/${job.id}`;
}

/** Starts a job that no worker takes. Returns its address. */
export async function startQueuedJob({ stack, api }: Stage): Promise<string> {
  const { projectId } = stack.localJson;
  const body = { prompt: 'List the ports that a firewall must let through.' };
  const { id } = await answerOf(api.POST('/v2/agent/{projectId}/job', { params: { path: { projectId } }, body }));
  return `/jobs/${projectId}/${id}`;
}
