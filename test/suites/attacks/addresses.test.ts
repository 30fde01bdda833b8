import { playAttacks } from './stage/attack.ts';
import { addressAttacks } from './lists/addresses.ts';

playAttacks(addressAttacks);
