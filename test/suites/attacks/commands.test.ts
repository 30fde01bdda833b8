import { playAttacks } from './stage/attack.ts';
import { commandAttacks } from './lists/commands.ts';

playAttacks(commandAttacks);
