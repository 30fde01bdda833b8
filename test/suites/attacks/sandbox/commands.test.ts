import { playAttacks } from '../stage/attack.ts';
import { commandAttacks } from './commands.ts';

playAttacks(commandAttacks);
