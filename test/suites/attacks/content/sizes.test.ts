import { playAttacks } from '../stage/attack.ts';
import { sizeAttacks } from './sizes.ts';

playAttacks(sizeAttacks);
