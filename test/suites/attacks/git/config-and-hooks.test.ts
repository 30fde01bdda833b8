import { playAttacks } from '../stage/attack.ts';
import { configAndHookAttacks } from './config-and-hooks.ts';

playAttacks(configAndHookAttacks);
