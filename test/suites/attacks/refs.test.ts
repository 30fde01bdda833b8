import { playAttacks } from './attack.ts';
import { refAttacks } from './lists/refs.ts';

playAttacks(refAttacks);
