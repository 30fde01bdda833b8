import { playAttacks } from '../stage/attack.ts';
import { secretAttacks } from './secrets.ts';

playAttacks(secretAttacks);
