import { playAttacks } from './attack.ts';
import { sizeAttacks } from './lists/sizes.ts';

playAttacks(sizeAttacks);
