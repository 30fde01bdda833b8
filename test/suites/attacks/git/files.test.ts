import { playAttacks } from '../stage/attack.ts';
import { fileAttacks } from './files.ts';

playAttacks(fileAttacks);
