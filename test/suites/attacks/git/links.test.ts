import { playAttacks } from '../stage/attack.ts';
import { linkAttacks } from './links.ts';

playAttacks(linkAttacks);
