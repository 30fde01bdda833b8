import { playAttacks } from './attack.ts';
import { processAttacks } from './lists/processes.ts';

playAttacks(processAttacks);
