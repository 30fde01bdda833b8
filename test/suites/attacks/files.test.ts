import { playAttacks } from './stage/attack.ts';
import { fileAttacks } from './lists/files.ts';

playAttacks(fileAttacks);
