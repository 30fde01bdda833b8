import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { programPath } from '../../../activities/git/git-environment.ts';

/** Whether OpenSSH's client is where the worker looks for it; without it tests of ssh are left out. */
export const hasSsh = programPath.split(':').some((directory) => existsSync(join(directory, 'ssh')));
