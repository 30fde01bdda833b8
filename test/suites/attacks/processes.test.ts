import { afterAll } from 'vitest';
import { playAttacks } from './attack.ts';
import { closeSandbox } from './in-sandbox.ts';
import { processAttacks } from './lists/processes.ts';

afterAll(closeSandbox);
playAttacks(processAttacks);
