import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openProcessRecord } from '../../local/processes/process-record.ts';

/** Ends the servers of a run and removes their folder when the run has ended, however it ended: its end of the pipe closes. */

const home = process.argv[2];
if (home === undefined) throw new Error('Pass the folder of the servers.');
for await (const _ of process.stdin);
if (existsSync(home)) await (await openProcessRecord(join(home, 'processes.json'))).endLeftovers();
await rm(home, { recursive: true, force: true });
