import { playAttacks } from './stage/attack.ts';
import { processAttacks } from './lists/processes.ts';

playAttacks(processAttacks);
