import { afterAll } from 'vitest';
import { playAttacks } from './attack.ts';
import { closeSandbox } from './in-sandbox.ts';
import { commandAttacks } from './lists/commands.ts';

afterAll(closeSandbox);
playAttacks(commandAttacks);
