import { playAttacks } from './stage/attack.ts';
import { secretAttacks } from './lists/secrets.ts';

playAttacks(secretAttacks);
