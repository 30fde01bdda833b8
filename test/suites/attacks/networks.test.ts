import { afterAll } from 'vitest';
import { playAttacks } from './attack.ts';
import { closeSandbox } from './in-sandbox.ts';
import { networkAttacks } from './lists/networks.ts';

afterAll(closeSandbox);
playAttacks(networkAttacks);
