import { playAttacks } from './attack.ts';
import { fileAttacks } from './lists/files.ts';

playAttacks(fileAttacks);
