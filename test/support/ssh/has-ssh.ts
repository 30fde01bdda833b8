import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { programPath } from '../../../activities/git/git-environment.ts';

/** Whether OpenSSH's client is on the worker's search path; if not, the tests of ssh are skipped. */
export const hasSsh = programPath.split(':').some((directory) => existsSync(join(directory, 'ssh')));
