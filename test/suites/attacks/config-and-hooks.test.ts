import { playAttacks } from './attack.ts';
import { configAndHookAttacks } from './lists/config-and-hooks.ts';

playAttacks(configAndHookAttacks);
