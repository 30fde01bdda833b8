import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { flag, readTool } from '../../../lib/inputs/tool-arguments.ts';
import { startBeside } from './stage/beside.ts';
import { attackClasses } from './classes.ts';

const recordSchema = z.object({ class: z.int(), name: z.string(), contained: z.string() });
type Record = z.infer<typeof recordSchema>;

function runVitest(records: string): Promise<number> {
  const env = { ...process.env, DOCKET_ATTACK_RECORDS: records };
  return new Promise((resolve, reject) => {
    const child = spawn('vitest', ['run', '--project', 'attacks', '--reporter=dot'], { stdio: 'inherit', env });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void child.kill(signal));
    child.on('error', reject).on('close', (code) => resolve(code ?? 1));
  });
}

async function readRecords(file: string): Promise<Record[]> {
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  return lines.map((line) => recordSchema.parse(JSON.parse(line)));
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/[\r\n]+/g, ' ');

function reportOf(records: Record[]): string {
  const byClass = Map.groupBy(records, (record) => record.class);
  const rows = Object.entries(attackClasses).flatMap(([number, title]) => {
    const members = byClass.get(Number(number)) ?? [];
    if (members.length === 0) return [`| ${number}. ${title} | (none played) | |`];
    return members.map(({ name, contained }) => `| ${number}. ${title} | ${cell(name)} | ${cell(contained)} |`);
  });
  const played = Object.keys(attackClasses).filter((number) => byClass.has(Number(number))).length;
  const heading = `${records.length} attacks of ${played} classes, each reached its canary without a defence and none with it.`;
  return `${heading}\n\n| class | attack | contained by |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

const { options: values } = readTool({
  command: 'npm run attacks --',
  about:
    'Plays every attack against a careless program and then against Docket, and prints what contained it. ' +
    'Exits with 1 when one was not contained, or did not bite.',
  options: {
    load: flag().describe('keeps all processors busy meanwhile'),
    'beside-writer': flag().describe('runs beside a process that writes and deletes on the same disk'),
    report: z.string().optional().describe('file to which the table is written, too'),
  },
});
const folder = await mkdtemp(join(tmpdir(), 'docket-attacks-'));
try {
  using _beside = startBeside({ load: values.load, writer: values['beside-writer'] });
  const records = join(folder, 'records.jsonl');
  const exitCode = await runVitest(records);
  const report = reportOf(await readRecords(records));
  process.stdout.write(`\n${report}`);
  if (values.report !== undefined) await writeFile(values.report, report);
  process.exitCode = exitCode;
} finally {
  await rm(folder, { recursive: true, force: true });
}
