import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openProcessRecord } from '../../../local/processes/process-record.ts';

/** Ends the servers of a run and removes their folder when the run's end of the pipe closes. */

const [home, folder] = process.argv.slice(2);
if (home === undefined || folder === undefined) throw new Error('Pass the home and the folder to remove.');
for await (const _ of process.stdin);
if (existsSync(home)) await (await openProcessRecord(join(home, 'processes.json'))).endLeftovers();
await rm(folder, { recursive: true, force: true });
