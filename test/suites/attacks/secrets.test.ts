import { playAttacks } from './attack.ts';
import { secretAttacks } from './lists/secrets.ts';

playAttacks(secretAttacks);
