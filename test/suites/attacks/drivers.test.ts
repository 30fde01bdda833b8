import { playAttacks } from './stage/attack.ts';
import { driverAttacks } from './lists/drivers.ts';

playAttacks(driverAttacks);
