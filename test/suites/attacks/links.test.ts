import { playAttacks } from './stage/attack.ts';
import { linkAttacks } from './lists/links.ts';

playAttacks(linkAttacks);
