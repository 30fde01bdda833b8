import { playAttacks } from './stage/attack.ts';
import { configAndHookAttacks } from './lists/config-and-hooks.ts';

playAttacks(configAndHookAttacks);
