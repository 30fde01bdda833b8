import { playAttacks } from './attack.ts';
import { linkAttacks } from './lists/links.ts';

playAttacks(linkAttacks);
