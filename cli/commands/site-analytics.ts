import { Option, type Command } from 'commander';
import { answerOf, bodyOf } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import { readInteger } from './options.ts';
import { isJson, print, printList, printRecord } from './output.ts';

const tables = ['series', 'topics', 'versions', 'languages', 'cited', 'opened', 'gaps'] as const;

interface AnalyticsOptions {
  days: number;
  pageVersion?: string;
  language?: string;
  table?: (typeof tables)[number];
  csv?: true;
}

/** Adds `docket site analytics`. */
export function addAnalyticsCommand(group: Command, context: CommandContext): void {
  group
    .command('analytics')
    .description('show what readers asked a site')
    .argument('<domain>', 'its identifier')
    .option('--days <days>', 'number of days (UTC), today last', readInteger, 30)
    .option('--page-version <name>', 'only questions about this version')
    .option('--language <code>', 'only questions about pages of this language')
    .addOption(new Option('--table <name>', 'show one list instead of the totals').choices(tables))
    .option('--csv', 'print the list as CSV (default: series)')
    .action(async (domain: string, options: AnalyticsOptions, command: Command) => {
      const { api } = await connect(context, command);
      const { days, pageVersion: version, language, table } = options;
      const path = { domain };
      if (options.csv === true) {
        const query = { days, version, language, table };
        const call = api.GET('/v1/sites/{domain}/analytics/csv', { params: { path, query }, parseAs: 'text' });
        print((await bodyOf(call)).replaceAll('\r\n', '\n').trimEnd());
        return;
      }
      const query = { days, version, language };
      const analytics = await answerOf(api.GET('/v1/sites/{domain}/analytics', { params: { path, query } }));
      if (table === undefined) {
        const { from, to, totals } = analytics;
        printRecord(command, isJson(command) ? analytics : { from, to, ...totals });
        return;
      }
      const rows: object[] = analytics[table];
      const [first = {}] = rows;
      const columns = Object.keys(first).map((name) => [name, (row: object) => Reflect.get(row, name)] as const);
      printList(command, rows, Object.fromEntries(columns));
    });
}
