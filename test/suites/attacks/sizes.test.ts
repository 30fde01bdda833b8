import { playAttacks } from './stage/attack.ts';
import { sizeAttacks } from './lists/sizes.ts';

playAttacks(sizeAttacks);
