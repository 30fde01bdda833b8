import { playAttacks } from './attack.ts';
import { pictureAttacks } from './lists/pictures.ts';

playAttacks(pictureAttacks);
