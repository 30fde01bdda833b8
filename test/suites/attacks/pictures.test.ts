import { playAttacks } from './stage/attack.ts';
import { pictureAttacks } from './lists/pictures.ts';

playAttacks(pictureAttacks);
