import { playAttacks } from './stage/attack.ts';
import { refAttacks } from './lists/refs.ts';

playAttacks(refAttacks);
