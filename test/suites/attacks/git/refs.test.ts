import { playAttacks } from '../stage/attack.ts';
import { refAttacks } from './refs.ts';

playAttacks(refAttacks);
