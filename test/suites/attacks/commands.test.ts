import { playAttacks } from './attack.ts';
import { commandAttacks } from './lists/commands.ts';

playAttacks(commandAttacks);
