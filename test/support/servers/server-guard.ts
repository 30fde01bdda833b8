import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openProcessRecord } from '../../../local/processes/process-record.ts';

/** Ends the servers of a run and removes its folders when the run closes its end of the pipe, or dies. */

const [home, ...folders] = process.argv.slice(2);
if (home === undefined) throw new Error('Pass the home and the folders to remove.');
for await (const _ of process.stdin);
if (existsSync(home)) await (await openProcessRecord(join(home, 'processes.json'))).endLeftovers();
for (const folder of folders) await rm(folder, { recursive: true, force: true });
