import { playAttacks } from './stage/attack.ts';
import { imageAttacks } from './lists/images.ts';

playAttacks(imageAttacks);
