import { playAttacks } from './attack.ts';
import { imageAttacks } from './lists/images.ts';

playAttacks(imageAttacks);
