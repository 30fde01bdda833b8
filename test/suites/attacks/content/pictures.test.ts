import { playAttacks } from '../stage/attack.ts';
import { pictureAttacks } from './pictures.ts';

playAttacks(pictureAttacks);
