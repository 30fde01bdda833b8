import { playAttacks } from '../stage/attack.ts';
import { imageAttacks } from './images.ts';

playAttacks(imageAttacks);
