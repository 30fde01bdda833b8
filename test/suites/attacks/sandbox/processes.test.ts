import { playAttacks } from '../stage/attack.ts';
import { processAttacks } from './processes.ts';

playAttacks(processAttacks);
