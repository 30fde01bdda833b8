import { setTimeout as sleep } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { answerOf, done, type Api } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import { jsonIn, orNull, readInteger } from './options.ts';
import { isJson, printList, printRecord } from './output.ts';

const pollMs = 1_000;

interface ConfigurationOptions {
  model?: string;
  instructions?: string;
  passages?: number;
  queryRewriting?: string;
  withModel?: string;
  withInstructions?: string;
  withPassages?: number;
  withQueryRewriting?: string;
  wait?: true;
}

/** Adds `docket site questions list|create|show|add|delete` and `docket site evaluate|evaluations|evaluation`. */
export function addEvaluationCommands(group: Command, context: CommandContext): void {
  const questions = group.command('questions').description('question sets, which evaluate the answers of a site');

  onSite(questions.command('list').description('list the question sets of a site')).action(
    async (domain: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      const call = api.GET('/v1/sites/{domain}/question-sets', { params: { path: { domain } } });
      printList(command, (await answerOf(call)).sets, {
        id: (set) => set.id,
        name: (set) => set.name,
        questions: (set) => set.questions,
        updated: (set) => set.updatedAt,
      });
    },
  );

  onSite(questions.command('create').description('create a question set'))
    .requiredOption('--name <name>', 'name of the set')
    .option(
      '--file <file>',
      'JSON file with a list of questions: history, text, expectedPages, expectedFacts, expectsAnswer',
    )
    .action(async (domain: string, { name, file }: { name: string; file?: string }, command: Command) => {
      const body = { name, questions: await jsonIn(file) };
      const { api } = await connect(context, command);
      const call = api.POST('/v1/sites/{domain}/question-sets', { params: { path: { domain } }, body });
      const { questions, ...set } = await answerOf(call);
      printRecord(command, { ...set, questions: isJson(command) ? questions : questions.length });
    });

  onSet(questions.command('show').description('show the questions of a set')).action(
    async (domain: string, id: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      const call = api.GET('/v1/sites/{domain}/question-sets/{id}', { params: { path: { domain, id } } });
      printList(command, (await answerOf(call)).questions, {
        text: (question) => question.text,
        pages: (question) => question.expectedPages.join(', '),
        facts: (question) => question.expectedFacts.join(', '),
        origin: (question) => question.origin,
      });
    },
  );

  onSet(questions.command('add').description('add questions that readers asked'))
    .addOption(
      new Option('--from <source>', 'where they come from')
        .choices(['conversations', 'feedback', 'gaps'])
        .makeOptionMandatory(),
    )
    .option('--limit <number>', 'maximum number of questions to add', readInteger, 20)
    .action(
      async (
        domain: string,
        id: string,
        options: { from: 'conversations' | 'feedback' | 'gaps'; limit: number },
        command: Command,
      ) => {
        const { api } = await connect(context, command);
        const path = { domain, id };
        const call = api.POST('/v1/sites/{domain}/question-sets/{id}/questions', { params: { path }, body: options });
        const { questions, ...set } = await answerOf(call);
        printRecord(command, { ...set, questions: questions.length });
      },
    );

  onSet(questions.command('delete').description('delete a question set')).action(
    async (domain: string, id: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      await done(api.DELETE('/v1/sites/{domain}/question-sets/{id}', { params: { path: { domain, id } } }));
      printRecord(command, { id, deleted: true });
    },
  );

  onSet(group.command('evaluate').description('ask the questions of a set, with one configuration or with two'))
    .option('--model <name>', 'model, as provider/model (default: that of the assistant)')
    .option('--instructions <text>', 'tone and emphasis ("" for none; default: those of the site)')
    .option('--passages <number>', 'number of passages that the model reads (default: 5)', readInteger)
    .option('--query-rewriting <model>', 'model that rewrites follow-up questions ("" for none; default: as the site)')
    .option('--with-model <name>', 'model to compare with')
    .option('--with-instructions <text>', 'tone and emphasis to compare with ("" for none)')
    .option('--with-passages <number>', 'number of passages to compare with', readInteger)
    .option('--with-query-rewriting <model>', 'model that rewrites follow-up questions to compare with ("" for none)')
    .option('--wait', 'wait until it has finished')
    .action(async (domain: string, setId: string, options: ConfigurationOptions, command: Command) => {
      const { api } = await connect(context, command);
      const body = { setId, configurations: configurationsOf(options) };
      const created = await answerOf(
        api.POST('/v1/sites/{domain}/evaluations', { params: { path: { domain } }, body }),
      );
      show(command, options.wait === true ? await ended(api, { domain, id: created.id }) : created);
    });

  onSite(group.command('evaluations').description('list the evaluations of a site')).action(
    async (domain: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      const call = api.GET('/v1/sites/{domain}/evaluations', { params: { path: { domain } } });
      printList(command, (await answerOf(call)).evaluations, {
        id: (one) => one.id,
        set: (one) => one.setName,
        state: (one) => one.state,
        asked: (one) => `${one.asked} of ${one.questions * one.configurations.length}`,
        created: (one) => one.createdAt,
      });
    },
  );

  onSite(group.command('evaluation').description('show an evaluation'))
    .argument('<id>', 'its identifier')
    .option('--stop', 'stop it')
    .option('--wait', 'wait until it has finished')
    .action(async (domain: string, id: string, options: { stop?: true; wait?: true }, command: Command) => {
      const { api } = await connect(context, command);
      const path = { domain, id };
      if (options.stop === true)
        await answerOf(api.POST('/v1/sites/{domain}/evaluations/{id}/stop', { params: { path } }));
      show(command, options.wait === true ? await ended(api, path) : await evaluationOf(api, path));
    });
}

function onSite(command: Command): Command {
  return command.argument('<domain>', 'identifier of the site');
}

function onSet(command: Command): Command {
  return onSite(command).argument('<set>', 'identifier of the question set');
}

function configurationsOf(options: ConfigurationOptions) {
  const first = {
    model: options.model,
    instructions: orNull(options.instructions),
    retrievalPageSize: options.passages,
    queryRewriting: orNull(options.queryRewriting),
  };
  const changed = {
    model: options.withModel,
    instructions: orNull(options.withInstructions),
    retrievalPageSize: options.withPassages,
    queryRewriting: orNull(options.withQueryRewriting),
  };
  const given = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
  return Object.keys(given).length === 0 ? [first] : [first, { ...first, ...given }];
}

type Evaluation = Awaited<ReturnType<typeof evaluationOf>>;

function evaluationOf(api: Api, path: { domain: string; id: string }) {
  return answerOf(api.GET('/v1/sites/{domain}/evaluations/{id}', { params: { path } }));
}

async function ended(api: Api, path: { domain: string; id: string }): Promise<Evaluation> {
  for (;;) {
    const evaluation = await evaluationOf(api, path);
    if (evaluation.state !== 'running') return evaluation;
    await sleep(pollMs);
  }
}

/** Prints an evaluation: its configurations side by side, and how they compare. */
function show(command: Command, evaluation: Evaluation): void {
  const { configurations, comparison, results, indexVersions: _, ...fields } = evaluation;
  if (isJson(command)) {
    printRecord(command, evaluation);
    return;
  }
  const percent = (share: number) => `${Math.round(share * 100)}%`;
  printRecord(command, { ...fields, ...(comparison !== null && { comparison }) });
  printList(command, configurations, {
    model: ({ model }) => model,
    passages: ({ retrievalPageSize }) => retrievalPageSize,
    rewriting: ({ queryRewriting }) => queryRewriting ?? 'off',
    passed: ({ passed, asked }) => `${passed} of ${asked}`,
    share: ({ passedShare }) => (passedShare === null ? null : percent(passedShare)),
    interval: ({ interval: { low, high } }) => `${percent(low)} to ${percent(high)}`,
    cites: ({ citesExpected, withExpectedPages }) => `${citesExpected} of ${withExpectedPages}`,
    finds: ({ findsExpected, withExpectedPages }) => `${findsExpected} of ${withExpectedPages}`,
    cost: ({ costUsd }) => `$${costUsd.toFixed(4)}`,
  });
  printList(command, results, {
    question: ({ text }) => text,
    passed: ({ answers }) => answers.map((answer) => (answer === null ? '-' : answer.passed ? 'yes' : 'no')).join(', '),
    missing: ({ answers }) => answers.flatMap((answer) => answer?.missingFacts ?? []).join(', '),
  });
}
