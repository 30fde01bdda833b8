import { playAttacks } from './attack.ts';
import { addressAttacks } from './lists/addresses.ts';

playAttacks(addressAttacks);
