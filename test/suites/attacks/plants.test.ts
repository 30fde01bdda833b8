import { playAttacks } from './attack.ts';
import { plantAttacks } from './lists/plants.ts';

playAttacks(plantAttacks);
